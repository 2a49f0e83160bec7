import { t } from '$lib/i18n/index.svelte';
import { ApiError } from '$lib/api/client';

export interface Undoable {
  undo: () => Promise<void>;
  redo?: () => Promise<void>;
}
interface Toast {
  id: number;
  text: string;
  undo?: Undoable;
  bad?: boolean;
  requestId?: string;
}

const UNDO_MS = 10_000;
const PLAIN_MS = 5_000;
const HISTORY_MAX = 50;

/** One toast at a time, and what can be undone behind it (Ctrl+Z reaches further back than the toast). */
class Toasts {
  current = $state.raw<Toast | null>(null);
  #next = 1;
  #undo: { text: string; step: Undoable }[] = [];
  #redo: { text: string; step: Undoable }[] = [];
  /** What is said aloud, politely. */
  said = $state('');

  show(text: string, undo?: Undoable) {
    if (undo) {
      this.#undo.push({ text, step: undo });
      if (this.#undo.length > HISTORY_MAX) this.#undo.shift();
      this.#redo = [];
    }
    this.current = { id: this.#next++, text, undo };
    this.said = text;
  }
  /** What went wrong, in words, with the id that finds it in the server's log. */
  fail(error: unknown, text?: string) {
    const said = text ?? describe(error);
    this.current = { id: this.#next++, text: said, bad: true, requestId: error instanceof ApiError ? error.requestId : undefined };
  }
  say(text: string) {
    this.said = text;
  }
  close() {
    this.current = null;
  }
  get lasts() {
    return this.current?.undo ? UNDO_MS : PLAIN_MS;
  }
  async undo() {
    const last = this.#undo.pop();
    if (!last) return;
    this.close();
    try {
      await last.step.undo();
      if (last.step.redo) this.#redo.push(last);
      this.show(t('toast.undone'));
    } catch (e) {
      this.fail(e);
    }
  }
  async redo() {
    const last = this.#redo.pop();
    if (!last?.step.redo) return;
    try {
      await last.step.redo();
      this.#undo.push(last);
      this.show(t('toast.redone'));
    } catch (e) {
      this.fail(e);
    }
  }
}
export const toasts = new Toasts();

/** An error as it is told to people. */
export function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.unknown');
  switch (error.slug) {
    case 'offline': return t('error.offline');
    case 'exists': return t('error.exists');
    case 'not_found': return t('error.notFound');
    case 'quota_not_exceeded':
    case 'quota_exceeded': return t('error.quota');
    case 'locked': return t('error.locked');
    case 'forbidden': return t('error.forbidden');
    case 'signed_out': return t('error.signedOut');
  }
  if (error.status === 412) return t('error.changed');
  if (error.status === 429) return t('error.tooMany');
  if (error.status === 507) return t('error.quota');
  if (error.status >= 500) return t('error.server');
  return error.message;
}
