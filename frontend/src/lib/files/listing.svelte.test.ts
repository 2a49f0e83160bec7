import { expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import type { Item, Page } from '$lib/api/types';
import { Feed } from './feed';
import { Listing } from './listing.svelte';

const item = (n: number): Item =>
  ({ kind: 'file', id: `i${n}`, name: `n${n}`, path: '', parent: null, size: 1, mime: '', modified: 0, created: 0, etag: '' });

/** A server with `pages` pages of 200 rows that says which cursors it was asked for. */
function server(pages: number) {
  const asked: string[] = [];
  const fetchPage = async (cursor: string): Promise<Page<Item>> => {
    asked.push(cursor);
    const page = cursor === '' ? 0 : Number(cursor);
    const items = Array.from({ length: 200 }, (_, i) => item(page * 200 + i));
    return { items, next: page + 1 < pages ? String(page + 1) : undefined };
  };
  return { asked, fetchPage };
}

test('a small folder comes whole, with its total', async () => {
  const { fetchPage, asked } = server(3);
  const listing = new Listing(fetchPage);
  expect(listing.total, 'nobody knows yet').toBe(-1);
  await listing.load();
  expect([listing.items.length, listing.total, listing.complete, listing.loading]).toEqual([600, 600, true, false]);
  expect(asked).toEqual(['', '1', '2']);
});

test('a large one waits until somebody scrolls, and comes whole for the End key', async () => {
  const { fetchPage, asked } = server(30);
  const listing = new Listing(fetchPage);
  await listing.load();
  expect(asked.length).toBe(5);
  expect(listing.complete).toBe(false);
  listing.want(1000);
  await vi.waitFor(() => expect(asked.length).toBe(10));
  await listing.all();
  expect([listing.items.length, listing.complete]).toEqual([6000, true]);
  expect(listing.items.map((i) => i.id)).toEqual(Array.from({ length: 6000 }, (_, i) => `i${i}`));
});

test('25 pages of 200 rows are shown twice, and done once', () => {
  vi.useFakeTimers();
  const shown: [number, boolean][] = [];
  const feed = new Feed<number>((items, done) => shown.push([items.length, done]));
  for (let page = 0; page < 25; page++) feed.push(Array.from({ length: 200 }, (_, i) => page * 200 + i), page === 24);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(shown).toEqual([[200, false], [5000, true]]);
});

test('pages that come slowly are shown as they come', () => {
  vi.useFakeTimers();
  const shown: number[] = [];
  const feed = new Feed<number>((items) => shown.push(items.length));
  feed.push([1], false);
  feed.push([2], false);
  expect(shown).toEqual([1]);
  vi.advanceTimersByTime(250);
  expect(shown).toEqual([1, 2]);
  feed.push([3], true);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(shown).toEqual([1, 2, 3]);
});

test('what a listing that was started anew still hears of its past is left out', async () => {
  const first = deferred<Page<Item>>();
  let calls = 0;
  const listing = new Listing(() => (calls++ === 0 ? first.promise : Promise.resolve({ items: [item(2)] })));
  const old = listing.load();
  await listing.load();
  first.resolve({ items: [item(1)] });
  await old;
  expect(listing.items.map((i) => i.id)).toEqual(['i2']);
});

test('a quiet reload keeps the rows until the new ones are there', async () => {
  let round = 0;
  const second = deferred<Page<Item>>();
  const listing = new Listing(() => (round++ === 0 ? Promise.resolve({ items: [item(1), item(2)] }) : second.promise));
  await listing.load();
  const again = listing.load(true);
  expect(listing.items.length).toBe(2);
  second.resolve({ items: [item(1)] });
  await again;
  expect(listing.items.map((i) => i.id)).toEqual(['i1']);
});

test('a failure is told, and what was loaded stays', async () => {
  const why = new ApiError(500, 'internal', '', 'r1');
  const listing = new Listing((cursor) => (cursor ? Promise.reject(why) : Promise.resolve({ items: [item(1)], next: 'x' })));
  await listing.load();
  expect([listing.error, listing.items.length, listing.complete, listing.loading]).toEqual([why, 1, false, false]);
});

function deferred<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((r) => (resolve = r));
  return { promise, resolve };
}
