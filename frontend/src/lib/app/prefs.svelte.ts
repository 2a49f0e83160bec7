import { preferredLocale, setLocale, type Locale } from '$lib/i18n/index.svelte';

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'compact' | 'cosy' | 'roomy';

interface Stored {
  theme: Theme;
  density: Density;
  locale: Locale | null;
  view: 'list' | 'grid';
  details: boolean;
  singleKeys: boolean;
  tile: number;
}

const KEY = 'welkin.prefs';
const DEFAULTS: Stored = { theme: 'system', density: 'cosy', locale: null, view: 'list', details: false, singleKeys: true, tile: 172 };

/** What this browser remembers of how its user likes things. Takes effect at once and is kept. */
class Prefs {
  #stored = $state<Stored>({ ...DEFAULTS });

  async load() {
    try {
      this.#stored = { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
    } catch {
      this.#stored = { ...DEFAULTS };
    }
    this.#apply();
    await setLocale(this.#stored.locale ?? preferredLocale()).catch(() => setLocale('en'));
  }
  get theme() { return this.#stored.theme; }
  get density() { return this.#stored.density; }
  get locale() { return this.#stored.locale; }
  get view() { return this.#stored.view; }
  get details() { return this.#stored.details; }
  get singleKeys() { return this.#stored.singleKeys; }
  get tile() { return this.#stored.tile; }

  set<K extends keyof Stored>(key: K, value: Stored[K]) {
    this.#stored[key] = value;
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#stored));
    } catch {
      // A browser that keeps nothing still works until it is closed.
    }
    this.#apply();
    if (key === 'locale') void setLocale(this.#stored.locale ?? preferredLocale()).catch(() => {});
  }
  #apply() {
    const root = document.documentElement;
    if (this.#stored.theme === 'system') delete root.dataset.theme;
    else root.dataset.theme = this.#stored.theme;
    root.dataset.density = this.#stored.density;
  }
}
export const prefs = new Prefs();
