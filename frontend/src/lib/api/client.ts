import { base } from '$app/paths';
import type { Json } from './types';

/** What the server refused, in its own words; `slug` is what code goes by. `offline`: nothing was heard at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly slug: string,
    message: string,
    readonly requestId: string,
  ) {
    super(message);
  }
  get offline(): boolean {
    return this.status === 0;
  }
}

export const apiUrl = (path: string): string => `${base}/api${path}`;

function cookie(name: string): string {
  for (const pair of document.cookie.split('; ')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at) === name) return pair.slice(at + 1);
  }
  return '';
}
export const csrfToken = (): string => cookie('__Secure-welkin_csrf') || cookie('welkin_csrf');

/** Called when the session is over and cannot be renewed. */
let signedOut: () => void = () => {};
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

let refreshing: Promise<boolean> | null = null;

/**
 * Renews the session; the tokens travel in cookies. A refresh token is good for one time, so only one tab may use it:
 * whoever waited finds new cookies and is done.
 */
export function refreshSession(): Promise<boolean> {
  refreshing ??= (async () => {
    const before = csrfToken();
    const renew = async () => {
      if (csrfToken() && csrfToken() !== before) return true;
      const answer = await fetch(apiUrl('/auth/refresh'), { method: 'POST', credentials: 'same-origin' });
      return answer.ok;
    };
    try {
      return navigator.locks ? await navigator.locks.request('welkin.refresh', renew) : await renew();
    } catch {
      return false;
    }
  })().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

export async function errorOf(answer: Response): Promise<ApiError> {
  const body: Json = await answer.json().catch(() => ({}));
  return new ApiError(
    answer.status,
    body.slug ?? 'unknown',
    body.message ?? answer.statusText,
    body.request_id ?? answer.headers.get('X-Request-Id') ?? '',
  );
}

export interface Options {
  method?: string;
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** An answer 401 is told, and no other session sought. */
  final?: boolean;
}

/** One request with the session's cookies, renewed once when they have run out. @throws ApiError */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const method = options.method ?? 'GET';
  const once = () => {
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
    if (method !== 'GET') headers['X-CSRF-Token'] = csrfToken();
    if (options.json !== undefined) headers['Content-Type'] = 'application/json';
    return fetch(apiUrl(path), {
      method,
      headers,
      credentials: 'same-origin',
      signal: options.signal,
      body: options.json === undefined ? options.body : JSON.stringify(options.json),
    });
  };
  let answer: Response;
  try {
    answer = await once();
    // Without cookies at all a change looks like one from elsewhere: the proof ran out together with the session.
    const expired = answer.status === 401 || (answer.status === 403 && !csrfToken() && method !== 'GET');
    if (expired && !options.final) {
      if (await refreshSession()) answer = await once();
      if (answer.status === 401) signedOut();
    }
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e;
    throw new ApiError(0, 'offline', 'The server could not be reached', '');
  }
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

export async function request<T = Json>(path: string, options: Options = {}): Promise<T> {
  const answer = await send(path, options);
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const get = <T = Json>(path: string, signal?: AbortSignal) => request<T>(path, { signal });
export const post = <T = Json>(path: string, json?: unknown) => request<T>(path, { method: 'POST', json: json ?? {} });
export const put = <T = Json>(path: string, json: unknown) => request<T>(path, { method: 'PUT', json });
export const del = <T = Json>(path: string) => request<T>(path, { method: 'DELETE' });
