import { expect, test, vi } from 'vitest';
import { ApiError } from '$lib/api/client';
import type { Item } from '$lib/api/types';
import type { Sending } from './transport';
import { numbered, Uploads } from './uploads.svelte';

const stored = (s: Sending): Item =>
  ({ kind: 'file', id: s.name, name: s.name, path: '', parent: s.parent, size: s.file.size, mime: '', modified: 0, created: 0, etag: '' });
const file = (name: string, text = 'text') => new File([text], name);
const files = (...names: string[]) => names.map((name) => ({ file: file(name), parent: 'home' }));
const states = (uploads: Uploads) => uploads.items.map((u) => u.state);
const taken = () => new ApiError(412, 'precondition_failed', '', '');

/** Sends that end when the test says so, or when they are aborted. */
function held() {
  const open: { s: Sending; done: () => void; fail: (e: unknown) => void }[] = [];
  const transport = (s: Sending) =>
    new Promise<Item>((resolve, reject) => {
      open.push({ s, done: () => resolve(stored(s)), fail: reject });
      s.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
  return { open, transport };
}

test('three at a time, all in the end', async () => {
  const { open, transport } = held();
  const uploads = new Uploads(transport);
  const seen: string[] = [];
  uploads.onstored = (u) => seen.push(u.name);
  uploads.add(files('a', 'b', 'c', 'd', 'e'));
  expect(states(uploads)).toEqual(['sending', 'sending', 'sending', 'waiting', 'waiting']);
  open[1]!.done();
  await vi.waitFor(() => expect(open.length).toBe(4));
  for (const one of open) one.done();
  await vi.waitFor(() => expect(open.length).toBe(5));
  open[4]!.done();
  await vi.waitFor(() => expect(uploads.doneCount).toBe(5));
  expect(seen.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect([uploads.active, uploads.sentBytes, uploads.totalBytes]).toEqual([false, 20, 20]);
});

test('a failed one stays with its reason, the others go on, and it can be tried again', async () => {
  let broken = true;
  const uploads = new Uploads(async (s) => {
    if (s.name === 'b' && broken) throw new ApiError(507, 'quota_exceeded', '', 'r7');
    return stored(s);
  });
  uploads.add(files('a', 'b', 'c'));
  await vi.waitFor(() => expect(states(uploads)).toEqual(['done', 'failed', 'done']));
  expect(uploads.failed[0]!.error).toBe('There is not enough room left.');
  expect(uploads.failed[0]!.requestId).toBe('r7');
  broken = false;
  uploads.retry();
  await vi.waitFor(() => expect(states(uploads)).toEqual(['done', 'done', 'done']));
});

test('a name that is taken asks; both, replace and skip do what they say', async () => {
  const sent: { name: string; replace: boolean }[] = [];
  const uploads = new Uploads(async (s) => {
    sent.push({ name: s.name, replace: s.replace });
    if (/^[abc]\.txt$/.test(s.name) && !s.replace) throw taken();
    return stored(s);
  });
  uploads.add(files('a.txt', 'b.txt', 'c.txt'));
  await vi.waitFor(() => expect(states(uploads)).toEqual(['taken', 'taken', 'taken']));
  sent.length = 0;
  const [a, b, c] = uploads.items;
  uploads.answer(a!, 'both');
  uploads.answer(b!, 'replace');
  uploads.answer(c!, 'skip');
  await vi.waitFor(() => expect(states(uploads)).toEqual(['done', 'done', 'skipped']));
  expect(sent).toEqual([{ name: 'a (2).txt', replace: false }, { name: 'b.txt', replace: true }]);
});

test('keep both counts on until a name is free', async () => {
  const there = new Set(['a.txt', 'a (2).txt', 'a (3).txt']);
  const uploads = new Uploads(async (s) => {
    if (there.has(s.name)) throw taken();
    return stored(s);
  });
  uploads.add(files('a.txt'));
  await vi.waitFor(() => expect(states(uploads)).toEqual(['taken']));
  uploads.answer(uploads.items[0]!, 'both', true);
  await vi.waitFor(() => expect(states(uploads)).toEqual(['done']));
  expect(uploads.items[0]!.name).toBe('a (4).txt');
});

test('pause stops what is under way, resume sends it again', async () => {
  const { open, transport } = held();
  const uploads = new Uploads(transport);
  uploads.add(files('a', 'b'));
  uploads.pause();
  await Promise.resolve();
  expect(states(uploads)).toEqual(['paused', 'paused']);
  expect(uploads.active).toBe(false);
  uploads.resume();
  expect(open.length).toBe(4);
  open[2]!.done();
  open[3]!.done();
  await vi.waitFor(() => expect(states(uploads)).toEqual(['done', 'done']));
});

test('a cancelled one is aborted and gone', async () => {
  const { open, transport } = held();
  const uploads = new Uploads(transport);
  uploads.add(files('a', 'b'));
  uploads.cancel(uploads.items[0]!);
  expect(open[0]!.s.signal.aborted).toBe(true);
  await Promise.resolve();
  expect(uploads.items.map((u) => u.name)).toEqual(['b']);
});

test('names are numbered before their extension', () => {
  expect(numbered('a.tar', 2)).toBe('a (2).tar');
  expect(numbered('no extension', 3)).toBe('no extension (3)');
  expect(numbered('.hidden', 2)).toBe('.hidden (2)');
});
