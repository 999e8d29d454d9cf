import { closeSync, existsSync, openSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

/**
 * SQLite as the two stores of this product open it. The library has the interface of Node's own `node:sqlite`, which
 * will replace it as soon as every supported version of Node has that without a flag.
 *
 * The library binds and reads a text only up to its first NUL: see {@link withoutNul}.
 */

export type Connection = DatabaseSyncInstance;

export interface DatabaseSettings {
  /** Whether a row is read as an array of its columns instead of an object by their names. Default false. */
  readonly returnArrays?: boolean;
  /** Whether the file is neither created nor changed. Default false. */
  readonly readOnly?: boolean;
  /** Whether a file that is missing is an error, instead of being created. Default false. */
  readonly mustExist?: boolean;
}

/**
 * Opens a database file. A new one can be read by its owner alone, and so can the files that SQLite makes beside it,
 * which get its mode.
 * @throws Error when the file cannot be opened; {@link databaseErrorKind} returns its kind
 */
export function openDatabase(path: string, { mustExist = false, ...settings }: DatabaseSettings = {}): Connection {
  if (!mustExist && settings.readOnly !== true) createForOwner(path);
  return new DatabaseSync(mustExist ? existingFile(path) : path, settings);
}

/** Creates an empty file, which SQLite takes as a new database. If that fails, opening the database says why. */
function createForOwner(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // Another process has made it, or it cannot be made.
  }
}

/** The address of a file for reading and writing, which SQLite does not create: https://www.sqlite.org/uri.html */
function existingFile(path: string): URL {
  const address = pathToFileURL(path);
  address.searchParams.set('mode', 'rw');
  return address;
}

/**
 * The reason why a statement failed: `full`, the disk or the size that the file is limited to; `damaged`, or no
 * database at all; `busy`, locked by another connection; `failed`, the disk does not read or write; `constraint`, a
 * row breaks a rule of its table, such as that no two rows have the same key; `other`, all the rest.
 */
export type DatabaseErrorKind = 'full' | 'damaged' | 'busy' | 'failed' | 'constraint' | 'other';

/** SQLite's primary result codes and their texts: the error of a statement that reads all rows has only the text. */
const kinds: readonly { readonly kind: DatabaseErrorKind; readonly code: number; readonly text: RegExp }[] = [
  { kind: 'busy', code: 5, text: /database is locked/ },
  { kind: 'failed', code: 10, text: /disk I\/O error/ },
  { kind: 'damaged', code: 11, text: /database disk image is malformed|malformed database schema/ },
  { kind: 'full', code: 13, text: /database or disk is full/ },
  { kind: 'failed', code: 14, text: /unable to open database file/ },
  { kind: 'constraint', code: 19, text: /constraint failed/ },
  { kind: 'damaged', code: 26, text: /file is not a database/ },
];

/** The kind of a database error; `other` also for an error that does not come from the database. */
export function databaseErrorKind(error: unknown): DatabaseErrorKind {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return 'other';
  // An extended code has the primary one in its lowest byte.
  const primary = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
  const found = kinds.find(({ code, text }) => (primary === undefined ? text.test(error.message) : primary === code));
  return found?.kind ?? 'other';
}

/** Replaces the NUL characters, at which the library would end the text. Two different texts stay different. */
export function withoutNul(text: string): string {
  return /[\0\\]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0') : text;
}
