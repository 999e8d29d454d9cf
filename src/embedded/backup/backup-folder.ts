import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../errors.ts';

/** A backup: a folder with a copy of `log.db`, and a manifest that says what the copy must be like. */

export const logFile = 'log.db';
export const manifestFile = 'manifest.json';

/** The form of the manifest that this program writes, and the only one that it reads. */
const manifestFormat = 1;

/** What the file of a backup must be like. Its JSON is the file `manifest.json`. */
export interface Manifest {
  /** RFC 3339. Everything that was acknowledged before is in the backup. */
  readonly begun_at: string;
  /** The version of the program that made the backup. */
  readonly version: string;
  /** Size of `log.db`. */
  readonly bytes: number;
  /** SHA-256 of `log.db`, in hexadecimal digits. */
  readonly sha256: string;
}

/** The text of the manifest file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ format: manifestFormat, file: logFile, ...manifest }, null, 2)}\n`;
}

/** Reads the manifest of a backup. @throws Error when the folder is no backup that this program knows */
export function readManifest(backup: string): Manifest {
  let read: Partial<Manifest> & { readonly format?: unknown };
  try {
    read = JSON.parse(readFileSync(join(backup, manifestFile), 'utf8')) as typeof read;
  } catch (error) {
    throw new Error(`${backup} is not a backup: its ${manifestFile} cannot be read (${describeError(error)})`, {
      cause: error,
    });
  }
  const { format, begun_at, version, bytes, sha256 } = read;
  if (
    format !== manifestFormat ||
    typeof begun_at !== 'string' ||
    typeof version !== 'string' ||
    typeof bytes !== 'number' ||
    typeof sha256 !== 'string'
  ) {
    throw new Error(`${backup} is not a backup that this version reads: its ${manifestFile} has another form`);
  }
  return { begun_at, version, bytes, sha256 };
}

/** The checksum of a file, while it is read in pieces. */
export function newChecksum() {
  return createHash('sha256');
}

/** Waits until a file, or the names in a folder, are on the disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
