import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compile, type Message, type Part } from './compile';
import en from './en';
import { Catalog, LOCALES, preferredLocale, setLocale, t, type Locale } from './index.svelte';

const others = (Object.keys(LOCALES) as Locale[]).filter((l) => l !== 'en');

/** The arguments a message uses, and of its plurals the forms. */
function parts(message: Message) {
  const args = new Set<string>();
  const forms: string[][] = [];
  const walk = (list: Part[]) => {
    for (const part of list) {
      if (typeof part === 'string') continue;
      args.add(part.arg);
      if (!part.forms) continue;
      forms.push(Object.keys(part.forms));
      Object.values(part.forms).forEach(walk);
    }
  };
  if (typeof message !== 'string') walk(message);
  return { args: [...args].sort(), forms };
}

const files = import.meta.glob<{ default: Record<string, string> }>(['./??.ts', './??-??.ts']);

describe.each(others)('%s', (locale) => {
  test('has every text, with the same arguments, and no other', async () => {
    const { default: messages } = await files[`./${locale}.ts`]!();
    expect(Object.keys(messages).sort()).toEqual(Object.keys(en).sort());
    for (const [key, text] of Object.entries(messages)) {
      expect(text.trim(), key).not.toBe('');
      expect(parts(compile(text)).args, key).toEqual(parts(compile(en[key as keyof typeof en])).args);
    }
  });
  test('has all the forms of its plurals', async () => {
    const { default: messages } = await files[`./${locale}.ts`]!();
    const wanted = new Intl.PluralRules(locale).resolvedOptions().pluralCategories.filter((c) => c !== 'many' || locale === 'ar');
    for (const [key, text] of Object.entries(messages))
      for (const forms of parts(compile(text)).forms) expect(forms, key).toEqual(expect.arrayContaining(wanted));
  });
});

test('every text that is asked for is written, and every one written is asked for', () => {
  const asked = new Set<string>();
  const sources: string[] = [];
  const read = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) read(path);
      else if (/\.(svelte|ts)$/.test(path) && !/\.test\.ts$|[/\\]i18n[/\\]/.test(path)) sources.push(readFileSync(path, 'utf8'));
    }
  };
  read(join(process.cwd(), 'src'));
  const all = sources.join('\n');
  for (const [, key] of all.matchAll(/\bt\(\s*['`]([\w.]+)['`]/g)) asked.add(key!);
  expect([...asked].filter((key) => !(key in en))).toEqual([]);
  expect(Object.keys(en).filter((key) => !all.includes(`'${key}'`) && !all.includes('`' + key.replace(/\.[^.]*$/, '.') + '${'))).toEqual([]);
});

test('arguments, plurals and numbers', () => {
  const words = new Catalog('en', { a: '{name} has {count, plural, =0 {nothing} one {# file} other {# files}}.', b: 'plain', c: '{n}' });
  expect(words.text('a', { name: 'Ada', count: 0 })).toBe('Ada has nothing.');
  expect(words.text('a', { name: 'Ada', count: 1 })).toBe('Ada has 1 file.');
  expect(words.text('a', { name: '{count}', count: 12345 })).toBe('{count} has 12,345 files.');
  expect(words.text('b')).toBe('plain');
  expect(words.text('c'), 'an argument that is missing is seen').toBe('{n}');
  expect(words.text('nobody wrote this')).toBe('nobody wrote this');
});

test('the language that is preferred, of those there are', async () => {
  expect(preferredLocale(['xx', 'en-GB'])).toBe('en');
  expect(preferredLocale(['xx'])).toBe('en');
  for (const locale of others) expect(preferredLocale([`${locale}-XX`, 'en'])).toBe(locale);
  await setLocale('en');
  expect(t('cancel')).toBe('Cancel');
  expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['en', 'ltr']);
});
