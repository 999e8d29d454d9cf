import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A process that is told apart from a later one with the same pid by the moment it started, so that nothing is ever
 * signalled but what was meant.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque: equal texts mean the same process of the same run of the machine. */
  readonly startedAt: string;
}

const pollMilliseconds = 10;

interface Observation {
  readonly startedAt: string;
  /** One letter as `ps` has it: T is stopped by a signal, Z is dead but not yet collected by its parent. */
  readonly state: string;
  /** How many threads are left. The first one of a process may be dead while others still hold its ports and files. */
  readonly threads: number;
}

function observeLinux(pid: number): Observation | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may hold blanks and parentheses; what follows the last one is state and 49 numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const boot = readOrUndefined('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return { state: fields[0] ?? '', threads: Number(fields[17]), startedAt: `${boot} ${fields[19] ?? ''}` };
}

function observeWithPs(pid: number): Observation | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [, state = '', startedAt = ''] = /^(\S)\S*\s+(.*)$/.exec(line) ?? [];
    return { state, threads: 1, startedAt };
  } catch (error) {
    if ((error as { status?: number }).status === 1) return undefined;
    throw error;
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // ESRCH: the process ended between the opening of the file and its reading.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function observe(pid: number): Observation | undefined {
  const seen = process.platform === 'linux' ? observeLinux(pid) : observeWithPs(pid);
  return seen === undefined || (seen.state === 'Z' && seen.threads <= 1) ? undefined : seen;
}

/** The identity of the process that has this pid now, or undefined when there is none. */
export function identify(pid: number): ProcessIdentity | undefined {
  const seen = observe(pid);
  return seen === undefined ? undefined : { pid, startedAt: seen.startedAt };
}

export type ProcessCondition = 'running' | 'suspended' | 'gone';

export function conditionOf(identity: ProcessIdentity | undefined): ProcessCondition {
  if (identity === undefined) return 'gone';
  const seen = observe(identity.pid);
  if (seen === undefined || seen.startedAt !== identity.startedAt) return 'gone';
  return seen.state === 'T' ? 'suspended' : 'running';
}

/** Sends the signal, unless the process is gone. */
export function signalProcess(identity: ProcessIdentity | undefined, signal: NodeJS.Signals): void {
  if (identity === undefined || conditionOf(identity) === 'gone') return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Answers whether the process has ended within the time. */
export async function waitForEnd(identity: ProcessIdentity | undefined, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (conditionOf(identity) !== 'gone') {
    if (performance.now() > deadline) return false;
    await sleep(pollMilliseconds);
  }
  return true;
}
