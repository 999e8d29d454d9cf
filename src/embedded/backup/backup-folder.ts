import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../errors.ts';
import { encryptionNames } from './encryption.ts';

/**
 * A backup: a folder with a copy of `log.db`, as it is or encrypted, and a manifest that says what the copy must be
 * like.
 */

export const logFile = 'log.db';
export const encryptedLogFile = 'log.db.encrypted';
export const manifestFile = 'manifest.json';

/** The form of the manifest that this program writes, and the only one that it reads. */
const manifestFormat = 1;

/** What the file of a backup must be like. Its JSON is the file `manifest.json`. */
export interface Manifest {
  /** RFC 3339. Everything that was acknowledged before is in the backup. */
  readonly begun_at: string;
  /** The version of the program that made the backup. */
  readonly version: string;
  /** Size of the file. */
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string;
  /** How the file is encrypted, in the words of people; absent when it is not. */
  readonly encryption?: typeof encryptionNames;
}

/** The file of a backup. */
export function fileOf({ encryption }: Pick<Manifest, 'encryption'>): string {
  return encryption === undefined ? logFile : encryptedLogFile;
}

/** What the encryption of the file also protects. */
export function protectedText({ begun_at, version }: Pick<Manifest, 'begun_at' | 'version'>): string {
  return JSON.stringify({ begun_at, version });
}

/** The text of the manifest file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ format: manifestFormat, file: fileOf(manifest), ...manifest }, null, 2)}\n`;
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
  const { format, begun_at, version, bytes, sha256, encryption } = read;
  if (
    format !== manifestFormat ||
    typeof begun_at !== 'string' ||
    typeof version !== 'string' ||
    typeof bytes !== 'number' ||
    typeof sha256 !== 'string' ||
    (encryption !== undefined && JSON.stringify(encryption) !== JSON.stringify(encryptionNames))
  ) {
    throw new Error(`${backup} is not a backup that this version reads: its ${manifestFile} has another form`);
  }
  return { begun_at, version, bytes, sha256, ...(encryption === undefined ? {} : { encryption }) };
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
