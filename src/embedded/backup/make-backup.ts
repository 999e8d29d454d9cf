/**
 * Backups of the embedded store, and the way back.
 * In: the data folder of a service, which may run meanwhile. Out: a folder with a copy of the log, which was read
 * again, and a manifest; `restore-backup.ts` makes a data folder of it.
 * Start with `makeBackup` below. `backup-folder.ts` says what is in a backup, `encryption.ts` and `backup-key.ts` how
 * it is encrypted.
 */

import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Clock, toTimestamp } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import { startCheckThread } from '../../integrity/check-thread.ts';
import { openDatabase } from '../../sqlite.ts';
import {
  type Manifest,
  encryptedLogFile,
  logFile,
  manifestFile,
  manifestText,
  newChecksum,
  protectedText,
  syncToDisk,
} from './backup-folder.ts';
import { encrypting, encryptionNames } from './encryption.ts';

export interface BackupRequest {
  /** The data folder of a service, which may run meanwhile. */
  readonly dataFolder: string;
  /** The folder of the backup, which must not exist. */
  readonly target: string;
  /** Of the program. */
  readonly version: string;
  /** Encrypts the backup; absent for one that is not encrypted. */
  readonly key?: string | undefined;
  readonly clock: Clock;
}

/**
 * Writes a snapshot of the log into a new folder, reads all of it again and writes the manifest. The folder gets its
 * name when everything is on the disk; until then, and after a process that was killed, it is called `*.partial`. Of an
 * encrypted backup, the snapshot is in the data folder, so that nothing readable gets to the disk of the backup.
 * @throws Error with a reason for the person who asked, also when the copy is damaged. Nothing is left then
 */
export async function makeBackup({ dataFolder, target, version, key, clock }: BackupRequest): Promise<Manifest> {
  const source = join(dataFolder, logFile);
  const folder = resolve(target);
  const partial = `${folder}.partial`;
  if (!existsSync(source)) {
    throw new Error(`there is no ${logFile} in ${dataFolder}; DATA_DIR names the folder. On a cluster, back up Kafka`);
  }
  if (existsSync(folder)) throw new Error(`${folder} exists already; a backup never overwrites anything`);
  if (existsSync(partial)) {
    throw new Error(`${partial} exists: another backup runs, or one was interrupted. If none runs, remove the folder`);
  }
  if (!existsSync(dirname(folder))) throw new Error(`there is no folder ${dirname(folder)}`);
  const snapshot = key === undefined ? join(partial, logFile) : join(dataFolder, snapshotFile);
  if (key !== undefined && existsSync(snapshot)) {
    throw new Error(`${snapshot} exists: another backup runs, or one was interrupted. If none runs, remove the file`);
  }
  mkdirSync(partial, { mode: 0o700 });
  try {
    const begun_at = toTimestamp(clock.now());
    copyLog(source, snapshot);
    await requireSoundCopy(snapshot);
    const copy = key === undefined ? snapshot : join(partial, encryptedLogFile);
    if (key !== undefined) await encrypt(snapshot, copy, key, protectedText({ begun_at, version }));
    const manifest: Manifest = {
      begun_at,
      version,
      bytes: statSync(copy).size,
      sha256: await checksumOf(copy),
      ...(key === undefined ? {} : { encryption: encryptionNames }),
    };
    const manifestPath = join(partial, manifestFile);
    writeFileSync(manifestPath, manifestText(manifest), { mode: 0o600 });
    for (const path of [copy, manifestPath, partial]) syncToDisk(path);
    renameSync(partial, folder);
    syncToDisk(dirname(folder));
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  } finally {
    if (key !== undefined) rmSync(snapshot, { force: true });
  }
}

/** The snapshot of a backup that is to be encrypted, in the data folder. */
const snapshotFile = 'backup.partial.db';

async function encrypt(from: string, to: string, key: string, context: string): Promise<void> {
  const read = createReadStream(from, { highWaterMark: readBytes });
  await pipeline(read, encrypting(key, context), createWriteStream(to, { mode: 0o600, flags: 'wx' }));
}

/** How much is read at once. Bytes. */
const readBytes = 1024 * 1024;

/**
 * One transaction reads the whole log: a copy in parts would start over whenever the service has written. It lacks the
 * free pages, and with them what was removed from the log.
 */
function copyLog(source: string, copy: string): void {
  const connection = openDatabase(source, { mustExist: true });
  try {
    connection.exec('PRAGMA busy_timeout = 5000; PRAGMA wal_autocheckpoint = 0');
    // Not a prepared statement, which keeps the log open until it is collected.
    connection.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  } catch (error) {
    throw new Error(`${source} cannot be copied: ${describeError(error)}`, { cause: error });
  } finally {
    connection.close();
  }
}

/** Compares the structure of the file and the checksum of every batch. @throws Error with the first damages */
async function requireSoundCopy(copy: string): Promise<void> {
  const connection = openDatabase(copy, { mustExist: true, returnArrays: true });
  const damages: string[] = [];
  try {
    const rows = connection.prepare('PRAGMA integrity_check(3)').all() as unknown as [string][];
    damages.push(...rows.map(([text]) => text).filter((text) => text !== 'ok'));
  } finally {
    connection.close();
  }
  const check = startCheckThread(new URL('../thread/log-check.js', import.meta.url), copy);
  try {
    for (let isDone = false; !isDone && damages.length === 0;) {
      const step = await check.step();
      damages.push(...step.damages);
      ({ isDone } = step);
    }
  } finally {
    await check.close();
  }
  if (damages.length > 0) throw new Error(`the copy is damaged, and so is the log: ${damages.slice(0, 3).join(' ')}`);
}

async function checksumOf(path: string): Promise<string> {
  const checksum = newChecksum();
  for await (const piece of createReadStream(path, { highWaterMark: readBytes })) checksum.update(piece as Buffer);
  return checksum.digest('hex');
}
