import { get } from '$lib/api/client';
import { itemOf, type Item, type Json, type Page } from '$lib/api/types';
import { Feed } from './feed';

export type OrderBy = 'name' | 'modified_at' | 'size' | 'type';
export interface Order {
  by: OrderBy;
  reverse: boolean;
}

const PAGE = 200;
/** Pages fetched without being asked for; more come as somebody scrolls. */
const EAGER_PAGES = 5;

/** A list that comes in pages. `fetchPage` is told the cursor, "" for the first. */
export class Listing {
  items = $state.raw<Item[]>([]);
  complete = $state(false);
  loading = $state(false);
  error = $state.raw<unknown>(null);
  #generation = 0;
  #cursor = '';
  #feed: Feed<Item> | null = null;
  #wanted = 0;
  #running: Promise<void> | null = null;

  constructor(private readonly fetchPage: (cursor: string, signal: AbortSignal) => Promise<Page<Item>>) {}
  #abort = new AbortController();

  /** What there is in all; -1 while it is not known. */
  get total() {
    return this.complete ? this.items.length : -1;
  }
  /** From the beginning. With `quiet` the old rows stay until the new ones are there. */
  async load(quiet = false) {
    const generation = ++this.#generation;
    const keep = quiet ? Math.max(PAGE, this.items.length) : 0;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#feed?.stop();
    this.#cursor = '';
    this.error = null;
    if (!quiet) {
      this.items = [];
      this.complete = false;
    }
    this.loading = true;
    this.#feed = new Feed<Item>((items, done) => {
      if (generation !== this.#generation || (items.length < keep && !done)) return;
      this.items = items;
      this.complete = done;
    });
    this.#wanted = Math.max(keep, EAGER_PAGES * PAGE);
    this.#running = null;
    await this.#run();
  }
  /** Rows up to `index` are about to be seen. */
  want(index: number) {
    if (this.complete || this.error) return;
    const target = index + EAGER_PAGES * PAGE;
    if (target > this.#wanted) {
      this.#wanted = target;
      void this.#run();
    }
  }
  /** All of it, for the End key. */
  async all() {
    this.#wanted = Infinity;
    await this.#run();
  }
  #run(): Promise<void> {
    this.#running ??= this.#fetch().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }
  async #fetch() {
    const generation = this.#generation;
    const feed = this.#feed!;
    const signal = this.#abort.signal;
    try {
      while (feed.length < this.#wanted) {
        const page = await this.fetchPage(this.#cursor, signal);
        if (generation !== this.#generation) return;
        this.#cursor = page.next ?? '';
        feed.push(page.items, !page.next);
        if (!page.next) break;
      }
    } catch (e) {
      if (generation === this.#generation && !(e instanceof DOMException)) this.error = e;
    }
    if (generation === this.#generation) this.loading = false;
  }
  stop() {
    this.#generation++;
    this.#abort.abort();
    this.#feed?.stop();
  }
}

export function pageOf(answer: Json): Page<Item> {
  return {
    items: answer.items.map((row: Json) => itemOf(row.resource_type, row.resource)),
    next: answer.next_cursor,
  };
}

export function folderListing(id: string, order: Order): Listing {
  const query = `order_by=${order.by}&reverse=${order.reverse}&limit=${PAGE}`;
  return new Listing(async (cursor, signal) => {
    const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    return pageOf(await get(`/folders/${id}/resources?${query}${at}`, signal));
  });
}

/** What was found somewhere, with what each is found by. @param path  up to its last & or ?; null: nothing is asked for */
export function foundListing(path: string | null): Listing {
  return new Listing(async (cursor, signal) => {
    if (path === null) return { items: [] };
    const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    return pageOf(await get(`${path}limit=${PAGE}${at}`, signal));
  });
}
