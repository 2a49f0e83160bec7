/** What was dropped or chosen, as a tree of files: folders too, empty ones as well. */
export interface Dropped {
  files: { file: File; folder: string[] }[];
  /** Every folder, parents before children. */
  folders: string[][];
}

/** What systems strew about and nobody means to upload. */
const STREWN = new Set(['.ds_store', 'thumbs.db', 'desktop.ini', '.localized']);
const strewn = (name: string) => STREWN.has(name.toLowerCase()) || name.startsWith('._');

function readAll(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  // A reader gives some hundred at a time and nothing when it is through.
  const all: FileSystemEntry[] = [];
  return new Promise((resolve, reject) => {
    const more = () =>
      reader.readEntries((some) => {
        if (some.length === 0) return resolve(all);
        all.push(...some);
        more();
      }, reject);
    more();
  });
}
const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function walk(entry: FileSystemEntry, above: string[], into: Dropped): Promise<void> {
  if (strewn(entry.name)) return;
  if (entry.isFile) {
    into.files.push({ file: await fileOf(entry as FileSystemFileEntry), folder: above });
    return;
  }
  const path = [...above, entry.name];
  into.folders.push(path);
  for (const child of await readAll((entry as FileSystemDirectoryEntry).createReader())) await walk(child, path, into);
}

/** Must be called while the event is handled: the browser forgets what was dropped right after. */
export function readDrop(transfer: DataTransfer): Promise<Dropped> {
  const into: Dropped = { files: [], folders: [] };
  const entries = [...transfer.items].filter((i) => i.kind === 'file').map((i) => ({ entry: i.webkitGetAsEntry?.(), file: i.getAsFile() }));
  return (async () => {
    for (const { entry, file } of entries) {
      if (entry) await walk(entry, [], into);
      else if (file && !strewn(file.name)) into.files.push({ file, folder: [] });
    }
    return into;
  })();
}

/** The files of an <input type="file">, with their folders where one was chosen. */
export function readInput(list: FileList): Dropped {
  const into: Dropped = { files: [], folders: [] };
  const seen = new Set<string>();
  for (const file of list) {
    if (strewn(file.name)) continue;
    const folder = file.webkitRelativePath ? file.webkitRelativePath.split('/').slice(0, -1) : [];
    folder.forEach((_, i) => {
      const path = folder.slice(0, i + 1);
      const key = path.join('/');
      if (!seen.has(key)) {
        seen.add(key);
        into.folders.push(path);
      }
    });
    into.files.push({ file, folder });
  }
  return into;
}
