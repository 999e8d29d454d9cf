import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describeError } from '../../src/errors.ts';

/** Runs apt-get once. Rejects with what it printed. */
export type AptGet = (words: readonly string[]) => Promise<void>;

/** How long another program may keep the package manager for itself. Seconds. */
const lockSecondsMaximum = 600;

/** Between two looks at whether the other program is done. Milliseconds. */
const lockMilliseconds = 2_000;

/** It waits by itself for the lock of what is installed, but not for that of the lists. */
const waitsForLock = `DPkg::Lock::Timeout=${lockSecondsMaximum}`;

const runAptGet: AptGet = async (words) => {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await promisify(execFile)('apt-get', ['-o', waitsForLock, ...words], { env });
};

/**
 * Installs packages. While another program installs, as another process of the same test run may, it waits; then it
 * installs what is still missing.
 * @param missing The packages that are missing at the moment. It is asked again after each wait.
 */
export async function installPackages(
  missing: () => readonly string[],
  printLine: (line: string) => void,
  aptGet: AptGet = runAptGet,
  pauseMilliseconds = lockMilliseconds,
): Promise<void> {
  const deadline = lockDeadline();
  const run = (wordsFor: (packages: readonly string[]) => readonly string[]): Promise<void> =>
    whenFree(
      async () => {
        const packages = missing();
        if (packages.length > 0) await aptGet(wordsFor(packages));
      },
      deadline,
      pauseMilliseconds,
    );
  const install = (packages: readonly string[]): readonly string[] => [
    'install',
    '--yes',
    '--no-install-recommends',
    ...packages,
  ];
  await run(() => ['update']);
  try {
    await run(install);
  } catch (error) {
    const packages = missing();
    // A release of the system without one of the packages must not keep the others from the machine.
    if (packages.length < 2) throw error;
    for (const name of packages) {
      await run(() => install([name])).catch((reason: unknown) => printLine(describeError(reason)));
    }
  }
}

/** Brings the lists of packages up to date, when no other program has them for itself. */
export function updatePackageLists(): Promise<void> {
  return whenFree(() => runAptGet(['update']), lockDeadline(), lockMilliseconds);
}

function lockDeadline(): number {
  return performance.now() + lockSecondsMaximum * 1_000;
}

/** Tries again while another program has the package manager, until the deadline. */
async function whenFree(attempt: () => Promise<void>, deadline: number, pauseMilliseconds: number): Promise<void> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadline) throw error;
      await sleep(pauseMilliseconds);
    }
  }
}

/** Whether another program has the lock of the lists, or had that of what is installed for all that time. */
function isLocked(error: unknown): boolean {
  return /Could not get lock|Unable to lock/.test(describeError(error));
}
