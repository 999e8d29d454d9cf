import { createReadStream, createWriteStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lockDataFolder } from '../data-folder.ts';
import {
  type Manifest,
  fileOf,
  logFile,
  newChecksum,
  protectedText,
  readManifest,
  syncToDisk,
} from './backup-folder.ts';
import { decrypting } from './encryption.ts';

export interface RestoreRequest {
  /** The folder of a backup. */
  readonly backup: string;
  /** The data folder: it must not exist, or be empty. */
  readonly dataFolder: string;
  /** The key with which it was encrypted; absent for a backup that is not encrypted. */
  readonly key?: string | undefined;
}

/**
 * Puts the log of a backup into a data folder. The folder is locked meanwhile, so that no service starts on a part of
 * it. The copy gets its name when all of it is on the disk and has the checksum of the manifest.
 * @throws Error with a reason for the person who asked. The folder then has no log
 */
export async function restoreBackup({ backup, dataFolder, key }: RestoreRequest): Promise<Manifest> {
  const manifest = readManifest(backup);
  const isEncrypted = manifest.encryption !== undefined;
  if (isEncrypted && key === undefined) {
    throw new Error(`${backup} is encrypted: set BACKUP_KEY or BACKUP_KEY_FILE to its key`);
  }
  if (!isEncrypted && key !== undefined) {
    throw new Error(
      `${backup} is not encrypted, so it is not one that was made with the key; to restore it, leave the key out`,
    );
  }
  const folder = resolve(dataFolder);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  if (present.length > 0) {
    throw new Error(`${folder} is not empty (${present.slice(0, 3).join(', ')}); a restore never overwrites anything`);
  }
  const lock = lockDataFolder(folder);
  const arriving = join(folder, `${logFile}.partial`);
  try {
    const file = fileOf(manifest);
    const { size } = statSync(join(backup, file));
    if (size !== manifest.bytes) {
      throw new Error(`${backup} is damaged: ${file} has ${size} bytes instead of ${manifest.bytes}`);
    }
    const sha256 = await copyWithChecksum(join(backup, file), arriving, key, protectedText(manifest));
    if (sha256 !== manifest.sha256) throw new Error(`${backup} is damaged: ${file} has another checksum`);
    syncToDisk(arriving);
    renameSync(arriving, join(folder, logFile));
    syncToDisk(folder);
    return manifest;
  } catch (error) {
    rmSync(arriving, { force: true });
    throw error;
  } finally {
    // The service makes it again. Without it, a restore that failed can be repeated.
    rmSync(join(folder, 'lock.db'), { force: true });
    lock.release();
  }
}

/** Copies a file, and decrypts it with the key if there is one. @returns the checksum of what was read */
async function copyWithChecksum(from: string, to: string, key: string | undefined, context: string): Promise<string> {
  const checksum = newChecksum();
  const encrypted = key === undefined ? undefined : await decrypting(from, key, context);
  const measured = new Transform({
    transform(piece: Buffer, _encoding, done) {
      checksum.update(piece);
      done(null, piece);
    },
  });
  const read = createReadStream(from, { highWaterMark: 1024 * 1024 });
  const write = createWriteStream(to, { mode: 0o600, flags: 'wx' });
  if (encrypted === undefined) await pipeline(read, measured, write);
  else await pipeline(read, measured, skipping(encrypted.skippedBytes), encrypted.decrypted, write);
  return checksum.digest('hex');
}

/** Leaves out the first bytes of what flows through it. */
function skipping(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const skipped = Math.min(left, piece.length);
      left -= skipped;
      done(null, piece.subarray(skipped));
    },
  });
}
