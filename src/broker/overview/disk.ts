import { statfs } from 'node:fs/promises';

/** The space of a disk. */
export interface Disk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The disk of a folder; null when the folder is gone, which its own part of the health says. */
export async function diskOf(folder: string): Promise<Disk | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}
