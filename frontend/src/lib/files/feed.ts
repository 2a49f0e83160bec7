/**
 * Gathers the pages of a listing and shows them seldom: the first at once, the rest together when time has passed or the last
 * one is there. The server has sorted them, so a page is put behind the ones before it and nothing is sorted again.
 */
export class Feed<T> {
  #items: T[] = [];
  #shown = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #done = false;

  constructor(
    private readonly show: (items: T[], done: boolean) => void,
    private readonly pauseMs = 250,
  ) {}
  get length() { return this.#items.length; }

  push(page: readonly T[], last: boolean) {
    for (const item of page) this.#items.push(item);
    this.#done = last;
    if (last || this.#shown === 0) this.#emit();
    else this.#timer ??= setTimeout(() => this.#emit(), this.pauseMs);
  }
  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
  #emit() {
    this.stop();
    this.#shown = this.#items.length;
    this.show(this.#items.slice(), this.#done);
  }
}
