import { apiUrl } from '$lib/api/client';

type Listener = (folders: ReadonlySet<string> | null) => void;
const listeners = new Set<Listener>();
let source: EventSource | null = null;

function tell(folders: ReadonlySet<string> | null) {
  for (const listener of listeners) listener(folders);
}
function open() {
  if (source || typeof EventSource === 'undefined') return;
  source = new EventSource(apiUrl('/events'), { withCredentials: true });
  source.addEventListener('change', (e) => tell(new Set<string>(JSON.parse(e.data).folders ?? [])));
  source.addEventListener('resync', () => tell(null));
  source.onerror = () => {
    // The browser connects again by itself, but not after an answer that is no stream (signed out, too many streams).
    if (source?.readyState !== EventSource.CLOSED) return;
    source = null;
    setTimeout(() => listeners.size && open(), 15_000);
  };
}

/** Tells which folders' children have changed; null: any may have. @return ends it */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      source?.close();
      source = null;
    }
  };
}
/** What this tab has changed itself is shown without waiting for the stream. */
export function changedHere(...folders: (string | null | undefined)[]): void {
  tell(new Set(folders.filter((f): f is string => !!f)));
}
