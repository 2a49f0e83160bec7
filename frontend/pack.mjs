// Packs build/ into one file for the server's binary: usage: node pack.mjs OUT. Its form is described in src/web/pack.hpp.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error('usage: node pack.mjs OUT');

const TYPES = {
  css: 'text/css; charset=utf-8', html: 'text/html; charset=utf-8', ico: 'image/x-icon', js: 'text/javascript; charset=utf-8',
  json: 'application/json', mjs: 'text/javascript; charset=utf-8', png: 'image/png', svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8', wasm: 'application/wasm', webmanifest: 'application/manifest+json', woff2: 'font/woff2',
};

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

/** What the server must answer with the start page: a pattern of its router for each page, optional parameters both ways. */
function pages() {
  const found = new Set();
  const root = join(here, 'src/routes');
  for (const file of filesBelow(root)) {
    if (!file.endsWith('+page.svelte')) continue;
    let patterns = [''];
    for (const part of relative(root, dirname(file)).split('/')) {
      if (part === '' || /^\(.*\)$/.test(part)) continue;
      const optional = /^\[\[(\w+)\]\]$/.exec(part);
      const rest = /^\[\.\.\.(\w+)\]$/.exec(part);
      const name = /^\[(\w+)\]$/.exec(part);
      const word = optional ? `{${optional[1]}}` : rest ? `{*${rest[1]}}` : name ? `{${name[1]}}` : part;
      patterns = patterns.flatMap((p) => (optional ? [p, `${p}/${word}`] : [`${p}/${word}`]));
    }
    for (const pattern of patterns) found.add(pattern || '/');
  }
  return [...found].sort();
}

const lines = ['welkin-web 1', ...pages().map((p) => `page\t${p}`)];
const bodies = [];
const built = join(here, 'build');
for (const file of filesBelow(built)) {
  const path = relative(built, file);
  const type = TYPES[path.slice(path.lastIndexOf('.') + 1)];
  if (!type) throw new Error(`of which type is ${path}?`);
  const plain = readFileSync(file);
  const smaller = (bytes) => (bytes.length < plain.length * 0.95 ? bytes : Buffer.alloc(0));
  // The start page changes with the server's address, so it has no compressed form.
  const fixed = path !== 'index.html' && !/woff2|png/.test(path);
  const gzip = fixed ? smaller(gzipSync(plain, { level: 9 })) : Buffer.alloc(0);
  const br = fixed ? smaller(brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })) : Buffer.alloc(0);
  const tag = createHash('sha256').update(plain).digest('hex').slice(0, 32);
  lines.push(['file', path, type, tag, plain.length, gzip.length, br.length].join('\t'));
  bodies.push(plain, gzip, br);
}
writeFileSync(out, Buffer.concat([Buffer.from(lines.join('\n') + '\n\n'), ...bodies]));
