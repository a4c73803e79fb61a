// Files of the page's own host.
import { PageError } from '../words/reason';

/** The file at an address. Throws PageError if there is none, or no connection. */
export async function fileAt(url: string): Promise<Blob> {
  const response = await fetch(url).catch(() => {
    throw new PageError('fetch-failed', `${url} could not be fetched`, { url });
  });
  if (response.ok) return response.blob();
  const { status } = response;
  const answer = `${status} ${response.statusText}`.trim();
  throw new PageError(status === 404 ? 'not-found' : 'http-status', `${url} answered ${answer}`, { url, status, answer });
}
