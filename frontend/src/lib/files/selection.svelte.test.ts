import { flushSync } from 'svelte';
import { expect, test } from 'vitest';
import type { Item } from '$lib/api/types';
import { Selection } from './selection.svelte';

const item = (n: number, size = 10): Item =>
  ({ kind: 'file', id: `i${n}`, name: `n${n}`, path: '', parent: null, size, mime: '', modified: 0, created: 0, etag: '' });
const some = (n: number) => Array.from({ length: n }, (_, i) => item(i));

test('a row that has been drawn follows what is selected', () => {
  const selection = new Selection();
  const seen: boolean[] = [];
  const stop = $effect.root(() => {
    $effect(() => void seen.push(selection.has('i1')));
  });
  flushSync();
  selection.toggle(item(1));
  flushSync();
  selection.clear();
  flushSync();
  expect(seen).toEqual([false, true, false]);
  stop();
});

test('a toggle wakes its own row, not the others', () => {
  const selection = new Selection();
  let woken = 0;
  const stop = $effect.root(() => {
    for (const one of some(40)) $effect(() => void (selection.has(one.id), woken++));
  });
  flushSync();
  expect(woken).toBe(40);
  selection.toggle(item(7));
  flushSync();
  expect(woken).toBe(41);
  stop();
});

test('counts and bytes follow', () => {
  const selection = new Selection();
  selection.many(some(5));
  expect([selection.count(9), selection.bytes]).toEqual([5, 50]);
  selection.toggle(item(2));
  expect([selection.count(9), selection.bytes, selection.has('i2')]).toEqual([4, 40, false]);
  selection.many(some(5));
  expect([selection.count(9), selection.bytes], 'one that is selected is not counted again').toEqual([5, 50]);
});

test('all is a predicate: also what is not loaded, but not what was taken out', () => {
  const selection = new Selection();
  selection.many(some(3));
  selection.selectAll();
  expect(selection.has('nobody has seen it yet')).toBe(true);
  expect(selection.count(12_345)).toBe(12_345);
  expect(selection.count(-1), 'nobody knows yet').toBe(-1);
  selection.toggle(item(1));
  expect(selection.has('i1')).toBe(false);
  expect(selection.count(12_345)).toBe(12_344);
  expect(selection.items.map((i) => i.id)).toEqual(['i1']);
  selection.set(item(1), true);
  expect(selection.count(12_345)).toBe(12_345);
});

test('only leaves one, and the anchor there', () => {
  const selection = new Selection();
  selection.selectAll();
  selection.only(item(4));
  expect([selection.all, selection.items.length, selection.anchor]).toEqual([false, 1, 'i4']);
});

test('what is gone from the list is selected no longer, what has grown counts as it is', () => {
  const selection = new Selection();
  selection.many(some(3));
  selection.keepOnly(new Map([['i0', item(0, 100)], ['i2', item(2)]]));
  expect([selection.count(2), selection.bytes, selection.has('i1')]).toEqual([2, 110, false]);
});
