import { ApiError } from '$lib/api/client';
import type { Item } from '$lib/api/types';
import { describe } from '$lib/app/toasts.svelte';
import { splitName } from './kinds';
import { putWhole, type Transport } from './transport';

export type UploadState = 'waiting' | 'sending' | 'paused' | 'done' | 'taken' | 'failed' | 'skipped';
export type Answer = 'both' | 'replace' | 'skip';

const PARALLEL = 3;
const SPEED_WINDOW_MS = 5000;
const NAMES_TRIED_MAX = 100;

export class Upload {
  state = $state<UploadState>('waiting');
  sentBytes = $state(0);
  error = $state<string | null>(null);
  requestId = '';
  replace = false;
  abort: AbortController | null = null;
  constructor(
    readonly id: number,
    readonly file: File,
    readonly parent: string,
    public name: string,
  ) {}
  get open() {
    return this.state === 'waiting' || this.state === 'sending' || this.state === 'paused' || this.state === 'taken';
  }
}

/** "name (2).ext" and on. */
export function numbered(name: string, n: number): string {
  const [stem, extension] = splitName(name);
  return extension ? `${stem} (${n}).${extension}` : `${stem} (${n})`;
}

/** The uploads of one tab. A failed one stays, with its reason, so that the user can try again. */
export class Uploads {
  items = $state<Upload[]>([]);
  paused = $state(false);
  speed = $state(0);
  /** Folders into which something has gone, for whoever shows them. */
  onstored: (upload: Upload, item: Item) => void = () => {};
  #next = 1;
  #marks: { at: number; bytes: number }[] = [];
  #sentEver = 0;
  #preset: Answer | null = null;

  readonly active = $derived(this.items.some((u) => u.state === 'waiting' || u.state === 'sending'));
  readonly taken = $derived(this.items.filter((u) => u.state === 'taken'));
  readonly failed = $derived(this.items.filter((u) => u.state === 'failed'));
  readonly doneCount = $derived(this.items.filter((u) => u.state === 'done' || u.state === 'skipped').length);
  readonly totalBytes = $derived(this.items.reduce((sum, u) => sum + (u.state === 'skipped' ? 0 : u.file.size), 0));
  readonly sentBytes = $derived(this.items.reduce((sum, u) => sum + Math.min(u.sentBytes, u.file.size), 0));
  readonly secondsLeft = $derived(this.speed > 0 ? (this.totalBytes - this.sentBytes) / this.speed : null);

  constructor(
    private readonly transport: Transport = putWhole,
    private readonly now: () => number = () => performance.now(),
  ) {}

  add(files: { file: File; parent: string; name?: string }[]) {
    if (!this.items.some((u) => u.open)) {
      this.items = this.items.filter((u) => u.state === 'failed');
      this.#preset = null;
      this.#marks = [];
    }
    for (const { file, parent, name } of files) this.items.push(new Upload(this.#next++, file, parent, name ?? file.name));
    this.#pump();
  }
  #pump() {
    if (this.paused) return;
    let running = this.items.filter((u) => u.state === 'sending').length;
    for (const upload of this.items) {
      if (running >= PARALLEL) return;
      if (upload.state !== 'waiting') continue;
      running++;
      void this.#send(upload);
    }
  }
  async #send(upload: Upload) {
    upload.state = 'sending';
    upload.error = null;
    upload.abort = new AbortController();
    try {
      const item = await this.transport({
        file: upload.file,
        parent: upload.parent,
        name: upload.name,
        replace: upload.replace,
        signal: upload.abort.signal,
        onsent: (bytes) => this.#mark(upload, bytes),
      });
      this.#mark(upload, upload.file.size);
      upload.state = 'done';
      this.onstored(upload, item);
    } catch (e) {
      this.#settle(upload, e);
    }
    this.#pump();
  }
  #settle(upload: Upload, error: unknown) {
    if (error instanceof DOMException) return; // paused or cancelled: whoever did it has said so
    upload.sentBytes = 0;
    if (error instanceof ApiError && !upload.replace && (error.status === 412 || error.slug === 'exists')) {
      upload.state = 'taken';
      if (this.#preset) this.answer(upload, this.#preset);
      return;
    }
    upload.state = 'failed';
    upload.error = describe(error);
    upload.requestId = error instanceof ApiError ? error.requestId : '';
  }
  #mark(upload: Upload, bytes: number) {
    this.#sentEver += Math.max(0, bytes - upload.sentBytes);
    upload.sentBytes = bytes;
    const at = this.now();
    this.#marks.push({ at, bytes: this.#sentEver });
    while (this.#marks.length > 2 && this.#marks[0]!.at < at - SPEED_WINDOW_MS) this.#marks.shift();
    const first = this.#marks[0]!;
    if (at - first.at > 200) this.speed = ((this.#sentEver - first.bytes) / (at - first.at)) * 1000;
  }

  /** What to do with one whose name is taken; with `rest`, with all others too. */
  answer(upload: Upload, answer: Answer, rest = false) {
    if (rest) this.#preset = answer;
    const all = rest ? this.taken : [upload];
    for (const one of all) {
      if (answer === 'skip') {
        one.state = 'skipped';
        continue;
      }
      one.replace = answer === 'replace';
      if (answer === 'both') one.name = this.#freeName(one);
      one.state = 'waiting';
    }
    this.#pump();
  }
  #freeName(upload: Upload): string {
    const [, tried] = /\((\d+)\)(?:\.[^.]*)?$/.exec(upload.name) ?? [];
    const again = upload.name !== upload.file.name && tried ? Number(tried) + 1 : 2;
    return numbered(upload.file.name, Math.min(again, NAMES_TRIED_MAX));
  }
  pause() {
    this.paused = true;
    for (const u of this.items) {
      if (u.state !== 'sending') continue;
      u.state = 'paused';
      u.abort?.abort();
    }
    this.speed = 0;
  }
  resume() {
    this.paused = false;
    for (const u of this.items) {
      if (u.state !== 'paused') continue;
      u.sentBytes = 0;
      u.state = 'waiting';
    }
    this.#marks = [];
    this.#pump();
  }
  retry(upload?: Upload) {
    for (const u of upload ? [upload] : this.failed) u.state = 'waiting';
    this.#pump();
  }
  cancel(upload: Upload) {
    upload.state = 'skipped';
    upload.abort?.abort();
    this.items = this.items.filter((u) => u !== upload);
    this.#pump();
  }
  cancelAll() {
    const open = this.items.filter((u) => u.open);
    this.items = [];
    this.paused = false;
    for (const u of open) {
      u.state = 'skipped';
      u.abort?.abort();
    }
  }
  clear() {
    this.items = this.items.filter((u) => u.open);
  }
}
export const uploads = new Uploads();
