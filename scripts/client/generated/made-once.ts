import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../local-cluster/cache-folder.ts';

/**
 * A folder of this user's cache that is filled the first time, and again when what it is made from changes. It appears
 * under its name all at once, so an interruption leaves nothing half done, and two processes may make it at the same
 * time. Folders made from other texts are removed.
 * @param madeFrom All texts that decide what will be in it.
 * @param fill Fills an empty folder, which is moved afterwards.
 */
export async function madeOnce(
  name: string,
  madeFrom: readonly string[],
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const parent = join(cacheFolder(), 'generated-clients');
  const hash = createHash('sha256').update(JSON.stringify(madeFrom)).digest('hex').slice(0, 16);
  const folder = join(parent, `${name}-${hash}`);
  if (existsSync(folder)) return folder;
  const arriving = join(parent, `${name}.arriving-${hash}-${process.pid}`);
  await mkdir(arriving, { recursive: true, mode: 0o700 });
  try {
    await fill(arriving);
    await rename(arriving, folder);
  } catch (error) {
    await rm(arriving, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  for (const other of await readdir(parent)) {
    if (!other.startsWith(`${name}-`) || join(parent, other) === folder) continue;
    await rm(join(parent, other), { recursive: true, force: true });
  }
  return folder;
}
