import { ApiError, apiUrl, csrfToken, del, get, post, put, request } from '$lib/api/client';
import { itemOf, type BatchAnswer, type Crumb, type Item, type Json, type Version } from '$lib/api/types';
import { toasts } from '$lib/app/toasts.svelte';
import { t } from '$lib/i18n/index.svelte';
import type { Dropped } from './dropped';
import { pageOf } from './listing.svelte';
import type { Selection } from './selection.svelte';
import { uploads } from './uploads.svelte';

/** What a change is about: some items, or everything in a folder but some. */
export interface Target {
  items: Item[];
  allIn?: string;
  count: number;
}
export function targetOf(selection: Selection, folder: string | null, total: number): Target {
  if (selection.all && folder) return { items: selection.items, allIn: folder, count: selection.count(total) };
  return { items: selection.items, count: selection.flippedCount };
}
export const some = (items: Item[]): Target => ({ items, count: items.length });

const CHUNK = 1000;
const ids = (items: readonly { id: string; kind: string }[]) => ({
  file_ids: items.filter((i) => i.kind === 'file').map((i) => i.id),
  folder_ids: items.filter((i) => i.kind === 'folder').map((i) => i.id),
});

/** One request for up to a thousand items; more go in several. */
async function batch(path: string, target: Target, more: Json = {}): Promise<BatchAnswer> {
  const ask = async (body: Json): Promise<BatchAnswer> => {
    const answer = await fetchBatch(path, body);
    return answer;
  };
  if (target.allIn) return ask({ ...ids(target.items), all_in: target.allIn, ...more });
  const sum: BatchAnswer = { successful: [], failed: [] };
  for (let i = 0; i < target.items.length; i += CHUNK) {
    const answer = await ask({ ...ids(target.items.slice(i, i + CHUNK)), ...more });
    sum.successful.push(...answer.successful);
    sum.failed.push(...answer.failed);
  }
  return sum;
}
/** 400 means that no item could be done: the verdicts are in the body all the same. */
async function fetchBatch(path: string, json: Json): Promise<BatchAnswer> {
  const once = () =>
    fetch(apiUrl(`/batch/${path}`), {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken() },
      body: JSON.stringify(json),
    });
  let answer = await once().catch(() => null);
  if (answer?.status === 400) {
    const body: Json = await answer.json().catch(() => ({}));
    if (Array.isArray(body.failed)) return body;
    throw new ApiError(400, body.slug ?? 'unknown', body.message ?? '', body.request_id ?? '');
  }
  if (answer?.ok) return answer.json();
  return request(`/batch/${path}`, { method: 'POST', json });
}

export function tellFailed(answer: BatchAnswer, total: number): void {
  const first = answer.failed[0];
  if (!first) return;
  const why = first.slug === 'exists' ? t('error.exists') : first.error;
  toasts.fail(null, t('error.some', { failed: answer.failed.length, total, why }));
}

const called = (target: Target) =>
  target.items.length === 1 && !target.allIn ? t('quoted', { name: target.items[0]!.name }) : t('count.items', { count: target.count });

export async function moveToTrash(target: Target): Promise<void> {
  const answer = await batch('trash', target);
  const gone = answer.successful as string[];
  if (gone.length) {
    const kinds = new Map(target.items.map((i) => [i.id, i.kind]));
    const items = gone.map((id) => ({ id, kind: kinds.get(id) ?? 'file' }) as Item);
    toasts.show(t('toast.trashed', { what: gone.length === 1 && target.items.length === 1 ? called(target) : t('count.items', { count: gone.length }) }), {
      undo: async () => void (await restoreIds(items)),
      redo: async () => void (await batch('trash', some(items))),
    });
  }
  tellFailed(answer, target.count);
}
/** The API takes an id of either kind where items are restored, so the kind need not be known. */
async function restoreIds(items: Item[]): Promise<void> {
  const answer = await batch('restore', some(items));
  tellFailed(answer, items.length);
}
export async function destroy(target: Target): Promise<void> {
  const answer = await batch('trash', target, { permanent: true });
  if (answer.successful.length) toasts.show(t('toast.destroyed', { count: answer.successful.length }));
  tellFailed(answer, target.count);
}
export async function restore(items: Item[]): Promise<void> {
  const answer = await batch('restore', some(items));
  if (answer.successful.length)
    toasts.show(t('toast.restored', { what: answer.successful.length === 1 ? called(some(items)) : t('count.items', { count: answer.successful.length }) }), {
      undo: async () => void (await batch('trash', some(items))),
      redo: async () => void (await restoreIds(items)),
    });
  tellFailed(answer, items.length);
}
export async function purge(items: Item[]): Promise<void> {
  const answer = await batch('purge', some(items));
  if (answer.successful.length) toasts.show(t('toast.destroyed', { count: answer.successful.length }));
  tellFailed(answer, items.length);
}
export const emptyTrash = () => del('/trash/empty');

export type OnConflict = 'refuse' | 'rename' | 'replace';
const nodesOf = (answer: BatchAnswer): Item[] =>
  (answer.successful as Json[]).filter((r) => r.resource).map((r) => itemOf(r.resource_type, r.resource));

/** @return how many could not go because their name is taken there */
export async function move(target: Target, folder: Crumb, from: string | null, onConflict: OnConflict = 'refuse'): Promise<number> {
  const answer = await batch('move', target, { target_folder_id: folder.id, on_conflict: onConflict });
  const moved = nodesOf(answer);
  if (moved.length) {
    toasts.show(
      t('toast.moved', { what: moved.length === 1 ? t('quoted', { name: moved[0]!.name }) : t('count.items', { count: moved.length }), folder: folder.name }),
      from
        ? {
            undo: async () => tellFailed(await batch('move', some(moved), { target_folder_id: from }), moved.length),
            redo: async () => tellFailed(await batch('move', some(moved), { target_folder_id: folder.id }), moved.length),
          }
        : undefined,
    );
  }
  return taken(answer, target);
}
export async function copy(target: Target, folder: Crumb, onConflict: OnConflict = 'rename'): Promise<number> {
  const answer = await batch('copy', target, { target_folder_id: folder.id, on_conflict: onConflict });
  const made = nodesOf(answer);
  if (made.length)
    toasts.show(
      t('toast.copied', { what: made.length === 1 ? t('quoted', { name: made[0]!.name }) : t('count.items', { count: made.length }), folder: folder.name }),
      { undo: async () => void (await batch('trash', some(made))), redo: async () => void (await restoreIds(made)) },
    );
  return taken(answer, target);
}
function taken(answer: BatchAnswer, target: Target): number {
  const names = answer.failed.filter((f) => f.slug === 'exists').length;
  if (names < answer.failed.length) tellFailed({ ...answer, failed: answer.failed.filter((f) => f.slug !== 'exists') }, target.count);
  return names;
}

export async function rename(item: Item, name: string): Promise<Item> {
  const path = item.kind === 'folder' ? `/folders/${item.id}/rename` : `/files/${item.id}/rename`;
  const renamed = itemOf(item.kind, await put(path, { name }));
  toasts.show(t('toast.renamed', { name: renamed.name }), {
    undo: async () => void (await put(path, { name: item.name })),
    redo: async () => void (await put(path, { name })),
  });
  return renamed;
}
export async function createFolder(parent: string, name: string): Promise<Item> {
  return itemOf('folder', await post('/folders', { name, parent_id: parent }));
}
export async function createFile(parent: string, name: string): Promise<Item> {
  return itemOf('file', await request(`/folders/${parent}/children/${encodeURIComponent(name)}`, {
    method: 'PUT', body: '', headers: { 'If-None-Match': '*', 'Content-Type': 'text/plain' },
  }));
}

export const fileUrl = (item: { id: string }) => apiUrl(`/files/${item.id}`);
export const inlineUrl = (item: Item) => `${fileUrl(item)}?inline=1&v=${encodeURIComponent(item.etag)}`;
export const versionUrl = (file: Item, version: Version) => apiUrl(`/files/${file.id}/versions/${version.id}/content`);

/** One file as it is; more, and folders, as ZIP. The browser does the rest. */
export function download(items: Item[]): void {
  const only = items.length === 1 ? items[0]! : null;
  const { file_ids, folder_ids } = ids(items);
  const url =
    only?.kind === 'file' ? fileUrl(only)
    : only ? apiUrl(`/folders/${only.id}/download`)
    : apiUrl(`/batch/download?file_ids=${file_ids.join(',')}&folder_ids=${folder_ids.join(',')}`);
  saveAs(url);
}
export function saveAs(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
/** GET takes ids in the address, and addresses end somewhere. */
export const DOWNLOAD_ITEMS_MAX = 150;

export async function folderPath(id: string): Promise<Crumb[]> {
  return get<Crumb[]>(`/folders/${id}/ancestors`);
}

async function findFolder(parent: string, name: string): Promise<string> {
  let cursor = '';
  do {
    const page = pageOf(await get(`/folders/${parent}/resources?resource_types=folder&limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`));
    const found = page.items.find((i) => i.name.normalize() === name.normalize());
    if (found) return found.id;
    cursor = page.next ?? '';
  } while (cursor);
  throw new ApiError(409, 'exists', '', '');
}
/** A folder of this name, made or found. */
async function ensureFolder(parent: string, name: string): Promise<string> {
  try {
    return (await createFolder(parent, name)).id;
  } catch (e) {
    if (e instanceof ApiError && e.slug === 'exists') return findFolder(parent, name);
    throw e;
  }
}
/** Makes the folders, level by level, then queues the files. What is there already is gone into. */
export async function uploadInto(parent: string, dropped: Dropped): Promise<void> {
  const made = new Map<string, string>([['', parent]]);
  for (const path of dropped.folders) {
    const above = made.get(path.slice(0, -1).join('/'));
    if (above) made.set(path.join('/'), await ensureFolder(above, path.at(-1)!));
  }
  uploads.add(dropped.files.map(({ file, folder }) => ({ file, parent: made.get(folder.join('/')) ?? parent })));
}

export async function setFavourite(item: Item, favourite: boolean): Promise<void> {
  await (favourite ? post : del)(`/favorites/${item.kind}/${item.id}`);
}

/** For the list of what was opened last; nothing depends on it. */
export function noteOpened(item: Pick<Item, 'kind' | 'id'>): void {
  post(`/recent/${item.kind}/${item.id}`).catch(() => {});
}
