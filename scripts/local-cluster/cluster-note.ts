import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import type { KafkaNode, KafkaVersion } from './kafka-broker.ts';
import { conditionOf, signalProcess, waitForEnd, type ProcessIdentity } from './process-identity.ts';

/** A server as the note has it; without a process it was not started yet. */
export interface ServerNote {
  readonly port: number;
  readonly process?: ProcessIdentity;
}

/**
 * What is written down about a cluster while it exists: enough to find it again, and to take down exactly what was
 * started, whatever became of the program that started it.
 */
export interface ClusterNote {
  readonly name: string;
  readonly kafkaVersion: KafkaVersion;
  readonly clusterId: string;
  /** Data and output of all its servers; temporary, removed with the cluster. */
  readonly folder: string;
  /** The program that is starting it, and for `owned` clusters the one that it ends with. */
  readonly starter: ProcessIdentity;
  readonly owned: boolean;
  /** Whether the start came to its end. */
  readonly complete: boolean;
  readonly brokers: readonly (KafkaNode & ServerNote)[];
  readonly redis: ServerNote;
  readonly replica?: ServerNote;
}

const endMillisecondsMaximum = 10_000;
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/i;

function notesFolder(): string {
  return join(cacheFolder(), 'clusters');
}

function noteFile(name: string): string {
  return join(notesFolder(), `${name}.json`);
}

/** @throws Error when the name cannot be that of a file */
export function checkName(name: string): void {
  if (!namePattern.test(name)) throw new Error(`A cluster's name has letters, digits and hyphens, but is "${name}"`);
}

export function readNote(name: string): ClusterNote | undefined {
  try {
    return JSON.parse(readFileSync(noteFile(name), 'utf8')) as ClusterNote;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the first note of a cluster. Answers false when one of that name exists already. */
export function claimNote(note: ClusterNote): boolean {
  mkdirSync(notesFolder(), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(noteFile(note.name), JSON.stringify(note), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export function rewriteNote(note: ClusterNote): void {
  const next = `${noteFile(note.name)}.${process.pid}`;
  writeFileSync(next, JSON.stringify(note), { mode: 0o600 });
  renameSync(next, noteFile(note.name));
}

function processesOf(note: ClusterNote): readonly ProcessIdentity[] {
  return [...note.brokers, note.redis, ...(note.replica === undefined ? [] : [note.replica])].flatMap((server) =>
    server.process === undefined ? [] : [server.process],
  );
}

/** Ends what the note names, at once and without a word to it: its data goes with it. */
export function killNoted(note: ClusterNote): void {
  for (const identity of processesOf(note)) signalProcess(identity, 'SIGKILL');
}

/** Removes data and note; the processes must have ended. */
export function forgetNoted(note: ClusterNote): void {
  rmSync(note.folder, { recursive: true, force: true });
  rmSync(noteFile(note.name), { force: true });
}

/** Takes the cluster down: processes, data, note. */
export async function takeDownNoted(note: ClusterNote): Promise<void> {
  killNoted(note);
  for (const identity of processesOf(note)) {
    if (await waitForEnd(identity, endMillisecondsMaximum)) continue;
    throw new Error(`Process ${identity.pid} of cluster ${note.name} did not end`);
  }
  forgetNoted(note);
}

/** Whether nobody is left who would take it down: its program crashed while it started, or it was to end with it. */
function isAbandoned(note: ClusterNote): boolean {
  return (note.owned || !note.complete) && conditionOf(note.starter) === 'gone';
}

/** Takes down what programs that crashed have left behind, and says so. */
export async function takeDownAbandoned(say: (line: string) => void): Promise<void> {
  mkdirSync(notesFolder(), { recursive: true, mode: 0o700 });
  const names = readdirSync(notesFolder()).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
  for (const name of names) {
    const note = readNote(name);
    if (note === undefined || !isAbandoned(note)) continue;
    say(`Taking down cluster ${name}, which a program that crashed has left behind`);
    await takeDownNoted(note);
  }
}
