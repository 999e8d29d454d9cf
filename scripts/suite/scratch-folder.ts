import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { describeError } from '../../src/errors.ts';

/** Where Linux offers a file system in memory to all programs. */
const memoryPlace = '/dev/shm';

/** How statfs names a file system in memory. */
const memoryFileSystem = 0x01021994;

/** Room there, and memory for the processes beside it. A run of all tests takes about a tenth of it. Bytes. */
const freeBytesMinimum = 8 * 1024 ** 3;

const namePattern = /^lendstream-tests-(\d+)-/;

/**
 * Lets this process and those that it starts keep their temporary files in memory, where there is plenty: tests create
 * many thousands of small files, and a broker or a Redis writes each of its own through to the disk. What a process has
 * written outlives it there as well. Does nothing where TMPDIR names a place already, or memory is scarce.
 */
export function useScratchFolder(): void {
  if (process.env['TMPDIR'] !== undefined) return;
  const folder = makeScratchFolder(memoryPlace, freeBytesMinimum);
  if (folder === undefined) return;
  process.env['TMPDIR'] = folder;
  process.on('exit', () => removeScratchFolder(folder));
}

/**
 * Makes an empty folder that belongs to this process. Removes those whose processes were killed.
 * @returns undefined when the place is no file system in memory, or has less room than that
 */
export function makeScratchFolder(place: string, bytesMinimum: number): string | undefined {
  if (!isInMemory(place, bytesMinimum)) return undefined;
  for (const name of readdirSync(place)) {
    const owner = namePattern.exec(name)?.[1];
    if (owner !== undefined && isGone(Number(owner))) removeScratchFolder(join(place, name));
  }
  return mkdtempSync(join(place, `lendstream-tests-${process.pid}-`));
}

/**
 * Removes a scratch folder, and the disks that a killed test has left mounted in it. A run does not depend on that:
 * what cannot be removed is named in a line, and stays.
 */
export function removeScratchFolder(folder: string): void {
  try {
    for (const disk of disksIn(folder)) execFileSync('umount', ['--lazy', disk], { stdio: 'pipe' });
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`${folder} stays: ${describeError(error)}\n`);
  }
}

/** The places below a folder where something is mounted, the innermost first. */
function disksIn(folder: string): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`))
    .toReversed();
}

function isInMemory(place: string, bytesMinimum: number): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(place);
    const limit = process.constrainedMemory();
    const isUnlimited = limit === undefined || limit === 0;
    const free = Math.min(bavail * bsize, freemem(), isUnlimited ? Infinity : limit);
    return type === memoryFileSystem && free >= bytesMinimum;
  } catch {
    return false;
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
