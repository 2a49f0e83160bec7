import FilePlus from '@lucide/svelte/icons/file-plus';
import FolderPlus from '@lucide/svelte/icons/folder-plus';
import FolderUp from '@lucide/svelte/icons/folder-up';
import Upload from '@lucide/svelte/icons/upload';
import { place } from '$lib/app/place.svelte';
import { t } from '$lib/i18n/index.svelte';
import type { MenuEntry } from '$lib/ui/menus.svelte';

export function newEntries(): MenuEntry[] {
  return [
    { label: t('new.folder'), icon: FolderPlus, run: () => openNew('newFolder') },
    { label: t('new.text'), icon: FilePlus, run: () => openNew('newFile') },
    'line',
    { label: t('upload.files'), icon: Upload, key: 'U', run: () => place.pick(false) },
    { label: t('upload.folder'), icon: FolderUp, run: () => place.pick(true) },
  ];
}
export function openNew(kind: 'newFolder' | 'newFile'): void {
  if (place.target) place.dialog = { kind, parent: place.target };
}
