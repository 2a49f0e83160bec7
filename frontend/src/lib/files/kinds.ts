/** What a file is, for its glyph, its colour and how it is shown. */
export type Kind = 'folder' | 'doc' | 'sheet' | 'slide' | 'pdf' | 'image' | 'video' | 'audio' | 'code' | 'zip' | 'other';

const BY_EXTENSION: Record<string, Kind> = {};
const add = (kind: Kind, extensions: string) => extensions.split(' ').forEach((e) => (BY_EXTENSION[e] = kind));
add('doc', 'txt md markdown doc docx odt rtf pages tex log epub');
add('sheet', 'xls xlsx ods csv tsv numbers');
add('slide', 'ppt pptx odp key');
add('pdf', 'pdf');
add('image', 'jpg jpeg png gif webp avif heic heif svg tif tiff bmp ico raw dng cr2 nef arw');
add('video', 'mp4 m4v mov webm mkv avi');
add('audio', 'mp3 flac ogg oga opus m4a wav aac aif aiff');
add('code', 'js mjs ts jsx tsx svelte vue css scss html htm xml json yaml yml toml ini sh bash py rb rs go c h cc cpp hpp java kt swift cs php sql lua pl r conf dockerfile makefile cmake patch diff ics vcf');
add('zip', 'zip tar gz tgz xz bz2 zst 7z rar iso jar');

export function splitName(name: string): [string, string] {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 && name.length - dot <= 11 ? [name.slice(0, dot), name.slice(dot + 1)] : [name, ''];
}
export function kindOf(item: { kind: string; name: string; mime: string }): Kind {
  if (item.kind === 'folder') return 'folder';
  const extension = splitName(item.name)[1].toLowerCase();
  const known = BY_EXTENSION[extension || item.name.toLowerCase()];
  if (known) return known;
  const [type, sub = ''] = item.mime.split('/');
  if (type === 'image' || type === 'video' || type === 'audio') return type;
  if (sub === 'pdf') return 'pdf';
  if (type === 'text') return 'doc';
  if (/zip|tar|compressed/.test(sub)) return 'zip';
  return 'other';
}

/** What can be shown here, and how. */
export type Shown = 'image' | 'video' | 'audio' | 'pdf' | 'markdown' | 'text' | 'none';
export const TEXT_BYTES_MAX = 2 << 20;

export function shownAs(item: { kind: string; name: string; mime: string; size: number }): Shown {
  const kind = kindOf(item);
  const extension = splitName(item.name)[1].toLowerCase();
  if (kind === 'image') return /^(jpe?g|png|gif|webp|avif|bmp|ico)$/.test(extension) ? 'image' : 'none';
  if (kind === 'video') return /^(mp4|m4v|webm|mov)$/.test(extension) ? 'video' : 'none';
  if (kind === 'audio' || kind === 'pdf') return kind;
  if (item.size > TEXT_BYTES_MAX) return 'none';
  if (/^(md|markdown)$/.test(extension)) return 'markdown';
  if (kind === 'code' || /^(txt|log|csv|tsv|tex)$/.test(extension) || item.mime.startsWith('text/')) return 'text';
  return 'none';
}
