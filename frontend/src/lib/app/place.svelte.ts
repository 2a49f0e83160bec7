import type { Crumb, Item } from '$lib/api/types';
import { session } from './session.svelte';

export type DialogState =
  | { kind: 'newFolder' | 'newFile'; parent: string }
  | { kind: 'move' | 'copy'; count: number; what: string; from: string | null; exclude: ReadonlySet<string>; run: (to: Crumb) => void }
  | { kind: 'confirm'; title: string; text: string; action: string; bad?: boolean; run: () => Promise<void> | void }
  | { kind: 'keys' };

/** Where one is, and the dialog that is open. */
class Place {
  /** The folder shown; null where none is (trash, settings). */
  folder = $state.raw<Crumb | null>(null);
  dialog = $state.raw<DialogState | null>(null);
  /** The item whose row is to get the focus once it is listed (just made, just renamed, the folder one came from). */
  wanted = $state<string | null>(null);
  /** Cut or copied, to be pasted. */
  clipboard = $state.raw<{ items: Item[]; allIn?: string; count: number; from: string | null; cut: boolean } | null>(null);
  sidebar = $state(false);
  pick: (folder: boolean) => void = () => {};

  get target(): string | null {
    return this.folder?.id ?? session.home?.id ?? null;
  }
}
export const place = new Place();
