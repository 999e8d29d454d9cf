import { statfsSync, statSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * The free disk space below which appends are refused. It is as much as the write-ahead log may contain, so that the
 * log can still be copied into the database file and retention can make room. Bytes.
 */
export const diskReserveBytes = 64 * 1024 * 1024;

/**
 * Checks whether the files of the database are still where they were opened, and whether their disk has room. It takes
 * two or three system calls, so that every commit can afford it. A file that was removed, moved or replaced while open
 * can still be written, but those writes would be gone after the next start.
 */
export class FilesAndDiskSpace {
  readonly #path: string;
  readonly #reserveBytes: number;
  /**
   * The identity of each file when it was first seen, by path. The write-ahead log is created with the first change.
   */
  readonly #opened = new Map<string, Stats | undefined>();

  constructor(path: string, reserveBytes: number) {
    this.#path = path;
    this.#reserveBytes = reserveBytes;
    for (const file of [path, `${path}-wal`]) this.#opened.set(file, statSync(file, { throwIfNoEntry: false }));
  }

  /** A sentence about a file that is no longer where it was; null when all are. */
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

  /** A sentence about a disk that has less free space than the reserve; null when it has more. */
  full(): string | null {
    let free: number;
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      free = bavail * bsize;
    } catch {
      // A missing folder is reported by the check of its files.
      return null;
    }
    if (free >= this.#reserveBytes) return null;
    const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
    return `The disk of the data folder is full: ${mebibytes(free)} MiB are free, ${mebibytes(this.#reserveBytes)} are kept in reserve.`;
  }
}
