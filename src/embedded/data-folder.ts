import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LendstreamError, describeError } from '../errors.ts';
import { type Connection, databaseErrorKind, openDatabase } from '../sqlite.ts';

/** Held for as long as this process uses a data folder. */
export interface DataFolderLock {
  /** The folder's absolute path. */
  readonly path: string;
  release(): void;
}

/** Network file systems by their statfs number: they cannot share memory between connections, which WAL needs. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
]);

/**
 * Creates the data folder where it is missing and takes it for this process alone. The lock is one that the operating
 * system drops with the process, however that ends: a small SQLite file, locked exclusively and kept open.
 * @throws DATA_FOLDER_UNUSABLE: cannot be created, is no folder, is not writable, or lies on a network file system
 * @throws DATA_FOLDER_IN_USE: another process, or another log of this one, holds it
 */
export function lockDataFolder(dataFolder: string): DataFolderLock {
  const path = resolve(dataFolder);
  try {
    createFolder(path);
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LendstreamError('DATA_FOLDER_UNUSABLE', `Cannot use the data folder ${path}: ${describeError(error)}.`, {
      cause: error,
    });
  }
  const network = networkFileSystems.get(statfsSync(path).type);
  if (network !== undefined) {
    throw new LendstreamError(
      'DATA_FOLDER_UNUSABLE',
      `The data folder ${path} lies on a network file system (${network}). Data must lie on a local disk.`,
    );
  }
  const lock = takeLock(path);
  hideFiles(path);
  return lock;
}

/** Whether users of this machine other than the one that this process runs as may look into a folder. */
export function mayOthersRead(dataFolder: string): boolean {
  // Where there are no such users, the mode says nothing.
  return process.getuid !== undefined && (statSync(dataFolder).mode & 0o055) !== 0;
}

/**
 * Takes the files of a store from everybody but their owner: an older version may have made them so that others could
 * read them. New ones are made so by the mask of the process.
 */
function hideFiles(path: string): void {
  for (const name of readdirSync(path)) {
    if (!/\.db(-wal|-shm|-journal)?$/.test(name)) continue;
    try {
      chmodSync(join(path, name), 0o600);
    } catch {
      // Gone meanwhile, or somebody else's, who alone may change it.
    }
  }
}

/** Creates a folder and those above it. `mkdir`'s own recursion never returns below a folder such as /proc. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(path)) throw error;
  }
}

function takeLock(path: string): DataFolderLock {
  let lock: Connection | undefined;
  try {
    lock = openDatabase(join(path, 'lock.db'));
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;');
  } catch (error) {
    lock?.close();
    throw databaseErrorKind(error) === 'busy'
      ? new LendstreamError('DATA_FOLDER_IN_USE', `The data folder ${path} is in use by another process.`)
      : new LendstreamError('DATA_FOLDER_UNUSABLE', `Cannot lock the data folder ${path}: ${describeError(error)}.`, {
          cause: error,
        });
  }
  const held = lock;
  return { path, release: () => held.close() };
}
