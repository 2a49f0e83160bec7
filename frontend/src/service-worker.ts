/// <reference types="@sveltejs/kit" />
/// <reference no-default-lib="true"/>
/// <reference lib="esnext" />
/// <reference lib="webworker" />
import { build, files } from '$service-worker';

const worker = self as unknown as ServiceWorkerGlobalScope;
// The files are named by their content, so their list says which version this is.
const CACHE = 'welkin-shell-' + [...build].reduce((sum, name) => (Math.imul(sum, 31) + [...name].reduce((s, c) => (Math.imul(s, 33) + c.charCodeAt(0)) | 0, 5381)) | 0, 7);
const BASE = worker.location.pathname.replace(/\/service-worker\.js$/, '');
const below = (path: string) => BASE + path.slice(path.indexOf('/_app/') >= 0 ? path.indexOf('/_app/') : path.lastIndexOf('/'));
const ASSETS = new Set([...build, ...files].map(below));
const SHELL = `${BASE}/`;

worker.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll([SHELL, `${BASE}/favicon.svg`, ...[...build].map(below).filter((p) => /\.(js|css)$/.test(p) && !/pdf/.test(p))]);
    await worker.skipWaiting();
  })());
});
worker.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const key of await caches.keys()) if (key.startsWith('welkin-shell-') && key !== CACHE) await caches.delete(key);
    await worker.clients.claim();
  })());
});

/** Only the app: what the API says and users' bytes are never kept here. */
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  if (url.origin !== worker.location.origin) return;
  if (ASSETS.has(url.pathname)) {
    event.respondWith((async () => {
      const kept = await caches.match(request, { ignoreVary: true });
      return kept ?? fetch(request);
    })());
  } else if (request.mode === 'navigate' && url.pathname.startsWith(`${BASE}/`) && !/^\/(api|webdav|dav|caldav|carddav|remote\.php|ocs|metrics|health|ready|\.well-known)(\/|$)/.test(url.pathname.slice(BASE.length))) {
    event.respondWith((async () => {
      try {
        return await fetch(request);
      } catch {
        return (await caches.match(SHELL, { ignoreVary: true })) ?? Response.error();
      }
    })());
  }
});
