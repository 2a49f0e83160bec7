import { compile, format, type Message, type Params, type Rules } from './compile';
import en from './en';

export type Key = keyof typeof en;
export type Messages = Record<Key, string>;

export type Locale = 'en' | 'de' | 'es' | 'fr' | 'ar' | 'zh';
/** The languages that are complete, each in its own words. */
export const LOCALES: Partial<Record<Locale, string>> = { en: 'English' };

const loaders: Partial<Record<Locale, () => Promise<{ default: Messages }>>> = {};

/** A language in use: its messages taken apart, its rules made, both once. */
export class Catalog {
  readonly #compiled = new Map<string, Message>();
  readonly #rules: Rules;
  constructor(
    readonly locale: Locale,
    messages: Record<string, string>,
  ) {
    for (const key in messages) this.#compiled.set(key, compile(messages[key]!));
    this.#rules = { plural: new Intl.PluralRules(locale), number: new Intl.NumberFormat(locale) };
  }
  /** A key nobody has written is shown as itself, so that it is seen and found. */
  text(key: string, params?: Params): string {
    const message = this.#compiled.get(key);
    if (message === undefined) return key;
    return typeof message === 'string' ? message : format(message, params ?? {}, this.#rules);
  }
}

let current = $state.raw(new Catalog('en', en));

/** The message of `key` in the language of the moment; whatever shows it follows when the language changes. */
export function t(key: Key, params?: Params): string {
  return current.text(key, params);
}
export const locale = (): Locale => current.locale;
export const isRtl = (): boolean => current.locale === 'ar';

/** What the browser asks for, of what we have. */
export function preferredLocale(languages: readonly string[] = navigator.languages): Locale {
  for (const language of languages) {
    const code = language.slice(0, 2).toLowerCase();
    if (code in LOCALES) return code as Locale;
  }
  return 'en';
}

export async function setLocale(wanted: Locale): Promise<void> {
  const load = loaders[wanted];
  const [chosen, messages] = load ? [wanted, (await load()).default] : ['en' as const, en];
  current = new Catalog(chosen, messages);
  document.documentElement.lang = chosen;
  document.documentElement.dir = chosen === 'ar' ? 'rtl' : 'ltr';
}
