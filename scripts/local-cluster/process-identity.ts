import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Identifies a process by its pid and the moment it started. A later process with the same pid is different, so a
 * signal never reaches the wrong process.
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
  /** How many threads are left. The first thread may be dead while others still hold the process's ports and files. */
  readonly threads: number;
}

function observeLinux(pid: number): Observation | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain blanks and parentheses; after the last one come the state and 49 numbers.
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
    // ESRCH: the process ended between opening the file and reading it.
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

/** Whether the process still runs. A process with the same pid but another start counts as gone. */
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

/** Returns whether the process has ended within the time. */
export async function waitForEnd(identity: ProcessIdentity | undefined, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (conditionOf(identity) !== 'gone') {
    if (performance.now() > deadline) return false;
    await sleep(pollMilliseconds);
  }
  return true;
}
