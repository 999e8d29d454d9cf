import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from './processes/service.ts';

/** A disk of a few megabytes that can be filled, for as long as a test needs it. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves only this many bytes free. */
  fill(freeBytes?: number): void;
  /** Frees the space again. */
  empty(): void;
  remove(): Promise<void>;
}

/**
 * Mounts one, which only root may do on Linux; returns the reason as text where that is not possible.
 * @param place An empty folder; a new one when it is left out.
 */
export async function mountSmallDisk(mebibytes: number, place?: string): Promise<SmallDisk | string> {
  const folder = place ?? (await temporaryFolder());
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    await removeFolder(folder);
    return `a small disk cannot be mounted here (${error instanceof Error ? error.message.trim() : String(error)})`;
  }
  const filler = join(folder, 'filler');
  const freeBytesNow = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const empty = (): void => rmSync(filler, { force: true });
  return {
    folder,
    fill: (freeBytes = 0) => {
      empty();
      writeFileSync(filler, Buffer.alloc(Math.max(freeBytesNow() - freeBytes, 0)));
    },
    empty,
    remove: async () => {
      execFileSync('umount', ['--lazy', folder]);
      await removeFolder(folder);
    },
  };
}
