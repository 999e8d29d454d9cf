import { statfsSync, statSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * Room that is left on the disk when appends are refused: as much as the write-ahead log may hold, so that it can still
 * be carried over into the database file and retention can make room.
 */
export const diskReserveBytes = 64 * 1024 * 1024;

/**
 * Looks whether the database's files still lie where they were opened, and whether their disk has room: two or three
 * system calls, so that no commit need go without. A file that was removed, moved or replaced while it was open can be
 * written as before, and nothing of that would be there after the next start.
 */
export class StorageCheck {
  readonly #path: string;
  readonly #reserveBytes: number;
  /** By path, which file it was when it was first seen. The write-ahead log comes about with the first change. */
  readonly #opened = new Map<string, Stats | undefined>();

  constructor(path: string, reserveBytes: number) {
    this.#path = path;
    this.#reserveBytes = reserveBytes;
    for (const file of [path, `${path}-wal`]) this.#opened.set(file, statSync(file, { throwIfNoEntry: false }));
  }

  /** A sentence about the file that is not where it was; null when all are. */
  missing(): string | null {
    for (const [path, opened] of this.#opened) {
      const now = statSync(path, { throwIfNoEntry: false });
      if (opened === undefined && now !== undefined) this.#opened.set(path, now);
      if (opened === undefined || (now?.ino === opened.ino && now.dev === opened.dev)) continue;
      const happened = now === undefined ? 'was removed or moved' : 'was replaced by another file';
      return `${basename(path)} in the data folder ${happened} while the service ran.`;
    }
    return null;
  }

  /** A sentence about a disk that has less room than the reserve; null when it has more. */
  full(): string | null {
    let free: number;
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      free = bavail * bsize;
    } catch {
      // That the folder is gone is told by its files.
      return null;
    }
    if (free >= this.#reserveBytes) return null;
    const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
    return `The disk of the data folder is full: ${mebibytes(free)} MiB are free, ${mebibytes(this.#reserveBytes)} are kept in reserve.`;
  }
}
