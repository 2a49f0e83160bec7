import type { Component } from 'svelte';

export interface MenuItem {
  label: string;
  icon?: Component<{ size?: number }>;
  key?: string;
  bad?: boolean;
  checked?: boolean;
  disabled?: boolean;
  run: () => void;
}
export type MenuEntry = MenuItem | 'line';

export interface OpenMenu {
  label: string;
  entries: MenuEntry[];
  x: number;
  y: number;
  /** Where focus goes back to. */
  opener: HTMLElement | null;
  /** Align the menu's end with x, for buttons at the end of a row. */
  end: boolean;
}

/** The one menu that may be open. */
class Menus {
  open = $state.raw<OpenMenu | null>(null);

  at(x: number, y: number, label: string, entries: MenuEntry[]) {
    this.open = { label, entries, x, y, opener: document.activeElement as HTMLElement | null, end: false };
  }
  below(anchor: HTMLElement, label: string, entries: MenuEntry[]) {
    const box = anchor.getBoundingClientRect();
    const rtl = document.documentElement.dir === 'rtl';
    const end = rtl ? box.left < innerWidth / 2 : box.left > innerWidth / 2;
    const x = end !== rtl ? box.right : box.left;
    this.open = { label, entries, x, y: box.bottom + 4, opener: anchor, end };
  }
  close(focus = true) {
    const opener = this.open?.opener;
    this.open = null;
    if (focus && opener?.isConnected) opener.focus();
  }
}
export const menus = new Menus();
