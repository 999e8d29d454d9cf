import { createReadStream, createWriteStream, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lockDataFolder } from '../data-folder.ts';
import { type Manifest, logFile, newChecksum, readManifest, syncToDisk } from './backup-folder.ts';

export interface RestoreRequest {
  /** The folder of a backup. */
  readonly backup: string;
  /** The data folder: it must not exist, or be empty. */
  readonly dataFolder: string;
}

/**
 * Puts the log of a backup into a data folder. The folder is locked meanwhile, so that no service starts on a part of
 * it. The copy gets its name when all of it is on the disk and has the checksum of the manifest.
 * @throws Error with a reason for the person who asked. The folder then has no log
 */
export async function restoreBackup({ backup, dataFolder }: RestoreRequest): Promise<Manifest> {
  const manifest = readManifest(backup);
  const folder = resolve(dataFolder);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  if (present.length > 0) {
    throw new Error(`${folder} is not empty (${present.slice(0, 3).join(', ')}); a restore never overwrites anything`);
  }
  const lock = lockDataFolder(folder);
  const arriving = join(folder, `${logFile}.partial`);
  try {
    const { bytes, sha256 } = await copyWithChecksum(join(backup, logFile), arriving);
    if (bytes !== manifest.bytes) {
      throw new Error(`${backup} is damaged: ${logFile} has ${bytes} bytes instead of ${manifest.bytes}`);
    }
    if (sha256 !== manifest.sha256) throw new Error(`${backup} is damaged: ${logFile} has another checksum`);
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

async function copyWithChecksum(from: string, to: string): Promise<{ bytes: number; sha256: string }> {
  const checksum = newChecksum();
  let bytes = 0;
  const measured = new Transform({
    transform(piece: Buffer, _encoding, done) {
      checksum.update(piece);
      bytes += piece.length;
      done(null, piece);
    },
  });
  await pipeline(
    createReadStream(from, { highWaterMark: 1024 * 1024 }),
    measured,
    createWriteStream(to, { mode: 0o600, flags: 'wx' }),
  );
  return { bytes, sha256: checksum.digest('hex') };
}
