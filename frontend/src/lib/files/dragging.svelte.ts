import { t } from '$lib/i18n/index.svelte';
import type { Item } from '$lib/api/types';
import type { Selection } from './selection.svelte';

/** What is being dragged inside of this window, and what it hovers over. Files from the desktop are not known before the drop. */
class Dragging {
  active = $state(false);
  over = $state.raw<{ id: string; name: string; copy: boolean } | null>(null);
  #ghost: HTMLElement | null = null;

  begin(transfer: DataTransfer, first: Item, selection: Selection, total: number) {
    const count = selection.count(total);
    transfer.effectAllowed = 'copyMove';
    transfer.setData('application/x-welkin', '1');
    const ghost = document.createElement('div');
    ghost.className = 'ghost';
    const name = document.createElement('span');
    name.textContent = first.name;
    ghost.append(name);
    if (count !== 1) {
      const badge = document.createElement('b');
      badge.textContent = count < 0 ? t('all') : String(count);
      ghost.append(badge);
    }
    document.body.append(ghost);
    transfer.setDragImage(ghost, 16, 20);
    this.#ghost = ghost;
    // Not at once: what changes the page in this event makes Chromium end the drag.
    setTimeout(() => (this.active = true));
  }
  end() {
    this.active = false;
    this.over = null;
    this.#ghost?.remove();
    this.#ghost = null;
  }
}
export const dragging = new Dragging();
