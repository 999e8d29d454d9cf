import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LendstreamError, describeError } from '../errors.ts';
import { type Connection, databaseErrorKind, openDatabase } from '../sqlite.ts';

/** The lock on a data folder. A process holds it as long as it uses the folder. */
export interface DataFolderLock {
  /** The folder's absolute path. */
  readonly path: string;
  release(): void;
}

/** Network file systems by their statfs number. They cannot share memory between connections, which WAL needs. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
]);

/**
 * Creates the data folder if it is missing and locks it for this process alone. The lock is a small SQLite file, locked
 * exclusively and kept open. The operating system drops the lock when the process ends, however it ends.
 * @throws DATA_FOLDER_UNUSABLE: cannot be created, is no folder, is not writable, or is on a network file system
 * @throws DATA_FOLDER_IN_USE: another process, or another log of this process, holds it
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
  const lock = acquireLock(path);
  restrictFileModes(path);
  return lock;
}

/** Whether other users of this machine, apart from the one that runs this process, may read a folder. */
export function isReadableByOthers(dataFolder: string): boolean {
  // Without such users (no getuid), the mode means nothing.
  return process.getuid !== undefined && (statSync(dataFolder).mode & 0o055) !== 0;
}

/**
 * Removes the access of everyone but the owner to the files of a store. An older version may have created them readable
 * for others. New files get the right mode when they are made. The mode of the folder is not changed: its owner may
 * have other files in it, see {@link isReadableByOthers}.
 */
export function restrictFileModes(path: string): void {
  for (const name of readdirSync(path)) {
    if (!/\.db(-wal|-shm|-journal)?$/.test(name)) continue;
    try {
      chmodSync(join(path, name), 0o600);
    } catch {
      // The file is gone by now, or it belongs to another user, and only that user may change it.
    }
  }
}

/** Creates a folder and its parents. The recursion of `mkdir` itself never returns below a folder such as /proc. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it first.
    if (!existsSync(path)) throw error;
  }
}

function acquireLock(path: string): DataFolderLock {
  let lock: Connection | undefined;
  try {
    lock = openDatabase(join(path, 'lock.db'));
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;');
  } catch (error) {
    lock?.close();
    throw databaseErrorKind(error) === 'busy'
      ? new LendstreamError(
          'DATA_FOLDER_IN_USE',
          `The data folder ${path} is in use by another process: stop it, or choose another folder with DATA_DIR=<folder>.`,
        )
      : new LendstreamError('DATA_FOLDER_UNUSABLE', `Cannot lock the data folder ${path}: ${describeError(error)}.`, {
          cause: error,
        });
  }
  const acquired = lock;
  return { path, release: () => acquired.close() };
}
