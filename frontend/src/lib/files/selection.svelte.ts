import type { Item } from '$lib/api/types';

class Cell {
  flipped = $state(false);
}

/**
 * What is selected in one list, changed in place: a toggle wakes the row it is about and the count, never the other rows.
 * "All" is a predicate, not a list: everything there is but what was taken out again, loaded or not.
 */
export class Selection {
  #cells = new Map<string, Cell>();
  #flipped = new Map<string, Item>();
  #all = $state(false);
  #count = $state(0);
  #bytes = $state(0);
  /** Where Shift extends from. */
  anchor: string | null = null;

  has(id: string): boolean {
    let cell = this.#cells.get(id);
    if (!cell) this.#cells.set(id, (cell = new Cell()));
    return this.#all !== cell.flipped;
  }
  get all() { return this.#all; }
  /** Of those not selected when `all`, else of those selected. */
  get flippedCount() { return this.#count; }
  get bytes() { return this.#bytes; }
  get empty() { return !this.#all && this.#count === 0; }
  /** @param total  what the list has; -1 when nobody knows yet: then so is the answer */
  count(total: number): number {
    return this.#all ? (total < 0 ? -1 : total - this.#count) : this.#count;
  }
  /** The selected items, or with `all` those that are not. */
  get items(): Item[] {
    void this.#count;
    void this.#bytes;
    return [...this.#flipped.values()];
  }

  #flip(item: Item, flipped: boolean) {
    if (this.#flipped.has(item.id) === flipped) return;
    let cell = this.#cells.get(item.id);
    if (!cell) this.#cells.set(item.id, (cell = new Cell()));
    cell.flipped = flipped;
    if (flipped) this.#flipped.set(item.id, item);
    else this.#flipped.delete(item.id);
    this.#count = this.#flipped.size;
    this.#bytes += flipped ? item.size : -item.size;
  }
  toggle(item: Item) {
    this.#flip(item, !this.#flipped.has(item.id));
    this.anchor = item.id;
  }
  set(item: Item, selected: boolean) {
    this.#flip(item, selected !== this.#all);
  }
  only(item: Item) {
    this.clear();
    this.#flip(item, true);
    this.anchor = item.id;
  }
  many(items: readonly Item[]) {
    for (const item of items) this.set(item, true);
  }
  selectAll() {
    this.clear();
    this.#all = true;
  }
  clear() {
    for (const id of this.#flipped.keys()) this.#cells.get(id)!.flipped = false;
    this.#flipped.clear();
    this.#all = false;
    this.#count = 0;
    this.#bytes = 0;
  }
  /** After the list has changed: what is gone is selected no longer, what is left is known as it is now. */
  keepOnly(items: ReadonlyMap<string, Item>) {
    for (const [id, old] of [...this.#flipped]) {
      const now = items.get(id);
      if (now) {
        this.#flipped.set(id, now);
        this.#bytes += now.size - old.size;
      } else {
        this.#flip(old, false);
      }
    }
  }
  /** For a new list. */
  reset() {
    this.clear();
    this.#cells.clear();
    this.anchor = null;
  }
}
