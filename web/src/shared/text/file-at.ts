// Files of the page's own host.
import { offline, PageError } from '../words/page-error';

/** The file at an address. Throws PageError if there is none, or no connection. */
export async function fileAt(url: string): Promise<Blob> {
  const response = await fetch(url).catch(() => {
    throw new PageError('fetch-failed', offline(url), { url });
  });
  if (response.ok) return response.blob();
  const { status } = response;
  const answer = `${status} ${response.statusText}`.trim();
  throw new PageError(status === 404 ? 'not-found' : 'http-status', `${url} answered ${answer}`, { url, status, answer });
}
