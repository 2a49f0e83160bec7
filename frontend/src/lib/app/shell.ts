import { base } from '$app/paths';

/** Keeps the app itself at hand for when the server is not. Only where the browser allows it: https, or this machine. */
export function registerShell(): void {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker.register(`${base}/service-worker.js`, { type: 'module', updateViaCache: 'none' }).catch(() => {});
}
