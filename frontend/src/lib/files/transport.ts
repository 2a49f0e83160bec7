import { ApiError, apiUrl, csrfToken, refreshSession } from '$lib/api/client';
import { itemOf, type Item } from '$lib/api/types';

export interface Sending {
  file: File;
  parent: string;
  name: string;
  /** Put in the place of what has this name; the old one becomes a version. */
  replace: boolean;
  signal: AbortSignal;
  onsent: (bytes: number) => void;
}
/** @throws ApiError 412 when the name is taken; DOMException AbortError */
export type Transport = (sending: Sending) => Promise<Item>;

/** Up to here the browser tells what it has read, and the server compares (RFC 9530). It must fit in memory. */
const DIGEST_BYTES_MAX = 64 << 20;

async function digest(file: File): Promise<string | null> {
  if (file.size > DIGEST_BYTES_MAX || !globalThis.crypto?.subtle) return null;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
  return btoa(String.fromCharCode(...hash));
}

/** The file as the body of one request. XMLHttpRequest, for fetch does not tell how far it is. */
function putOnce(s: Sending, sha256: string | null): Promise<Item> {
  return new Promise((resolve, reject) => {
    const rq = new XMLHttpRequest();
    rq.open('PUT', apiUrl(`/folders/${s.parent}/children/${encodeURIComponent(s.name)}`));
    rq.setRequestHeader('X-CSRF-Token', csrfToken());
    rq.setRequestHeader('X-OC-MTime', String(Math.floor(s.file.lastModified / 1000)));
    rq.setRequestHeader('Content-Type', s.file.type && !s.file.type.startsWith('multipart/') ? s.file.type : 'application/octet-stream');
    if (!s.replace) rq.setRequestHeader('If-None-Match', '*');
    if (sha256) rq.setRequestHeader('Repr-Digest', `sha-256=:${sha256}:`);
    rq.upload.onprogress = (e) => s.onsent(e.loaded);
    const abort = () => rq.abort();
    s.signal.addEventListener('abort', abort, { once: true });
    rq.onloadend = () => {
      s.signal.removeEventListener('abort', abort);
      if (s.signal.aborted) return reject(new DOMException('aborted', 'AbortError'));
      if (rq.status === 0) return reject(new ApiError(0, 'offline', '', ''));
      let body: Record<string, string> = {};
      try {
        body = JSON.parse(rq.responseText);
      } catch {
        // A proxy's page; the status says enough.
      }
      if (rq.status >= 200 && rq.status < 300) return resolve(itemOf('file', body));
      reject(new ApiError(rq.status, body.slug ?? 'unknown', body.message ?? rq.statusText, body.request_id ?? ''));
    };
    rq.send(s.file);
  });
}

export const putWhole: Transport = async (s) => {
  const sha256 = await digest(s.file);
  try {
    return await putOnce(s, sha256);
  } catch (e) {
    const expired = e instanceof ApiError && (e.status === 401 || e.slug === 'csrf');
    if (!expired || !(await refreshSession())) throw e;
    return putOnce(s, sha256);
  }
};
