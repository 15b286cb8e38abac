const nzb = /\.(nzb(\.gz|\.bz2)?|zip)$/i;

/** Whether a name may be that of an NZB, alone or packed. */
export function isNzbName(name: string): boolean {
  return nzb.test(name);
}

/** All files of a drop, those in folders too, in the order of their names. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  // Entries must be taken before the first await: the drop is over after it.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.() ?? null).filter((entry) => entry !== null);
  if (entries.length === 0) return [...transfer.files];
  const files: File[] = [];
  for (const entry of entries) await gather(entry, files);
  return files;
}

async function gather(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (entry.isFile) {
    files.push(await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader hands out a hundred at a time, and an empty list behind the last.
    const children = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (children.length === 0) return;
    for (const child of children.sort((one, other) => one.name.localeCompare(other.name))) await gather(child, files);
  }
}

const headBytes = 16_384;
const packed = [[0x1f, 0x8b], [0x42, 0x5a, 0x68], [0x50, 0x4b, 0x03, 0x04]];

/** Whether a file begins like an NZB, or like one that is packed as gzip, bzip2 or ZIP. */
export async function beginsLikeNzb(file: File): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  if (packed.some((magic) => magic.every((byte, at) => head[at] === byte))) return true;
  const encoding = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
  return /<(\w+:)?nzb\b/i.test(new TextDecoder(encoding).decode(head));
}
