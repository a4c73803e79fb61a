// Adds to this site's answers the two headers that isolate a page, for hosts that do not send them: threads need an
// isolated page. web/src/isolation.ts registers it, and only where the page is not isolated without it.
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

addEventListener('install', () => skipWaiting());

addEventListener('fetch', (event) => {
  if (new URL(event.request.url).origin === location.origin) event.respondWith(answer(event.request));
});

async function answer(request) {
  return isolated(await fetch(request));
}

function isolated(response) {
  // A redirect cannot be copied; it is followed to an answer that can.
  if (response.type !== 'basic' || response.headers.has('Cross-Origin-Embedder-Policy')) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(isolation)) headers.set(name, value);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
