import { apiUrl } from '$lib/api/client';
import type { Item } from '$lib/api/types';
import { kindOf } from './kinds';

const PICTURED = new Set(['image', 'pdf', 'video']);

/** Where the server's small picture of a file is, if it may have one; the address holds for this content only. */
export function thumbnail(item: Item, large: boolean): string | null {
  if (item.kind !== 'file' || item.size === 0 || !PICTURED.has(kindOf(item))) return null;
  return apiUrl(`/files/${item.id}/thumbnail/${large ? 'preview' : 'icon'}?v=${encodeURIComponent(item.etag)}`);
}
