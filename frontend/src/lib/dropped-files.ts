const nzb = /\.(nzb(\.gz|\.bz2)?|zip)$/i;

/** Whether a name can be that of an NZB, plain or packed. */
export function isNzbName(name: string): boolean {
  return nzb.test(name);
}

/** Returns all files of a drop, including those in folders. The files of a folder are sorted by name. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  // Read before the first await, because the entries are gone once the drop event has ended.
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
    // A reader returns up to a hundred entries per call, and an empty list at the end.
    const children = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (children.length === 0) return;
    for (const child of children.sort((one, other) => one.name.localeCompare(other.name))) await gather(child, files);
  }
}

const headBytes = 16_384;
const packed = [[0x1f, 0x8b], [0x42, 0x5a, 0x68], [0x50, 0x4b, 0x03, 0x04]];

/** Whether a file begins like an NZB, or like gzip, bzip2 or ZIP. */
export async function beginsLikeNzb(file: File): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  if (packed.some((magic) => magic.every((byte, at) => head[at] === byte))) return true;
  const encoding = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
  return /<(\w+:)?nzb\b/i.test(new TextDecoder(encoding).decode(head));
}
