import type { Item } from '$lib/api/types';
import { shownAs } from './kinds';
import { inlineUrl } from './operations';

/** Pictures this small are their own thumbnails; others show their glyph. */
const OWN_BYTES_MAX = 1 << 20;
const ROW_BYTES_MAX = 256 << 10;

export function thumbnail(item: Item, large: boolean): string | null {
  if (shownAs(item) !== 'image' || item.size === 0) return null;
  return item.size <= (large ? OWN_BYTES_MAX : ROW_BYTES_MAX) ? inlineUrl(item) : null;
}
