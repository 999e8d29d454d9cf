import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { updatePackageLists } from '../local-cluster/apt-get.ts';
import { cacheFolder } from '../local-cluster/cache-folder.ts';
import { isOnPath } from '../local-cluster/prerequisites.ts';
import { findProgram } from './cached-program.ts';

/**
 * The path of Prometheus's promtool: the machine's own, or that of Debian's package, fetched once for this user. The
 * package is unpacked and not installed, since installing it starts a Prometheus on all addresses.
 * @throws Error with the reason when it can be had in neither way
 */
export async function promtool(): Promise<string> {
  const found = findProgram('promtool');
  if (found !== undefined) return found;
  const program = join(cacheFolder(), 'promtool');
  if (!isOnPath('apt-get')) throw new Error('there is no promtool, and no apt-get to fetch it with');
  mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
  const arriving = mkdtempSync(`${program}.arriving-`);
  const run = async (command: string, ...words: string[]): Promise<void> => {
    await promisify(execFile)(command, words, { cwd: arriving });
  };
  const download = (): Promise<void> => run('apt-get', 'download', 'prometheus');
  try {
    // The lists of packages may be missing, or older than what the servers have.
    await download().catch(async () => {
      await updatePackageLists();
      await download();
    });
    await run('sh', '-c', 'dpkg-deb --extract prometheus_*.deb .');
    renameSync(join(arriving, 'usr/bin/promtool'), program);
    return program;
  } catch (error) {
    throw new Error(`there is no promtool, and Debian's cannot be fetched: ${String(error).split('\n')[0]}`, {
      cause: error,
    });
  } finally {
    rmSync(arriving, { recursive: true, force: true });
  }
}
