import { locale, t } from '$lib/i18n/index.svelte';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

/** Intl's objects cost far more to make than to use. */
function kept<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(key: string, make: () => T): T {
  const full = locale() + key;
  let found = formats.get(full) as T | undefined;
  if (!found) formats.set(full, (found = make()));
  return found;
}

export function bytes(n: number): string {
  let unit = 0;
  let value = n;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 0 : 1;
  return kept(`b${unit}${digits}`, () =>
    new Intl.NumberFormat(locale(), { style: 'unit', unit: UNITS[unit], unitDisplay: unit ? 'short' : 'long', maximumFractionDigits: digits }),
  ).format(value);
}
export const number = (n: number): string => kept('n', () => new Intl.NumberFormat(locale())).format(n);
export const percent = (share: number): string =>
  kept('%', () => new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 0 })).format(share);

const DAY = 86_400_000;
const startOfDay = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();

/** Today and yesterday with the time, weekdays within six days, then the date; the year when it is not this one. */
export function when(seconds: number, now = new Date()): string {
  const at = new Date(seconds * 1000);
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY);
  const time = kept('t', () => new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit' })).format(at);
  if (days === 0) return t('date.today', { time });
  if (days === 1) return t('date.yesterday', { time });
  if (days > 1 && days < 7) return kept('w', () => new Intl.DateTimeFormat(locale(), { weekday: 'long' })).format(at);
  if (at.getFullYear() === now.getFullYear())
    return kept('d', () => new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short' })).format(at);
  return kept('y', () => new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', year: 'numeric' })).format(at);
}
export const exactly = (seconds: number): string =>
  kept('x', () => new Intl.DateTimeFormat(locale(), { dateStyle: 'long', timeStyle: 'short' })).format(new Date(seconds * 1000));
export const secondsOf = (iso: string): number => Date.parse(iso) / 1000;

/** How long something will take, roughly. */
export function duration(seconds: number): string {
  if (seconds < 60) return t('time.seconds', { count: Math.max(1, Math.ceil(seconds)) });
  if (seconds < 3600) return t('time.minutes', { count: Math.ceil(seconds / 60) });
  return t('time.hours', { count: Math.ceil(seconds / 3600) });
}
