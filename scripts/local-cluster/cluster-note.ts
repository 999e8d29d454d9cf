import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import type { KafkaNode, KafkaVersion } from './kafka-broker.ts';
import { conditionOf, signalProcess, waitForEnd, type ProcessIdentity } from './process-identity.ts';

/** A server as recorded in the note. Without a process it has not been started yet. */
export interface ServerNote {
  readonly port: number;
  readonly process?: ProcessIdentity;
}

/**
 * The record of a cluster, kept while it exists. It is enough to find the cluster again and to take down exactly what
 * was started, whatever happened to the program that started it.
 */
export interface ClusterNote {
  readonly name: string;
  readonly kafkaVersion: KafkaVersion;
  readonly clusterId: string;
  /** Data and output of all its servers; temporary, removed with the cluster. */
  readonly folder: string;
  /** The program that is starting it. An `owned` cluster ends with this program. */
  readonly starter: ProcessIdentity;
  readonly owned: boolean;
  /** How long its only broker may be silent until it serves nothing. Milliseconds. */
  readonly sessionMilliseconds: number;
  /** Whether the start was completed. */
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

/** @throws Error when the name cannot be a file name */
export function checkName(name: string): void {
  if (!namePattern.test(name)) throw new Error(`A cluster's name has letters, digits and hyphens, but is "${name}"`);
}

/** The note of the cluster with this name; undefined when there is none. */
export function readNote(name: string): ClusterNote | undefined {
  try {
    return JSON.parse(readFileSync(noteFile(name), 'utf8')) as ClusterNote;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes the first note of a cluster in one step: readers see none or all of it. Returns false when one with that name
 * exists already.
 */
export function claimNote(note: ClusterNote): boolean {
  mkdirSync(notesFolder(), { recursive: true, mode: 0o700 });
  const draft = draftFile(note.name);
  try {
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    linkSync(draft, noteFile(note.name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces a cluster's note in one step: readers see the old or the new one. */
export function rewriteNote(note: ClusterNote): void {
  const draft = draftFile(note.name);
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
  renameSync(draft, noteFile(note.name));
}

/** Where this process writes a note before the others may read it. */
function draftFile(name: string): string {
  return `${noteFile(name)}.${process.pid}`;
}

function processesOf(note: ClusterNote): readonly ProcessIdentity[] {
  return [...note.brokers, note.redis, ...(note.replica === undefined ? [] : [note.replica])].flatMap((server) =>
    server.process === undefined ? [] : [server.process],
  );
}

/** Kills the processes in the note at once (SIGKILL): their data is removed as well. */
export function killNoted(note: ClusterNote): void {
  for (const identity of processesOf(note)) signalProcess(identity, 'SIGKILL');
}

/** Removes data and note. The processes must have ended. */
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

/** Whether no program is left to take it down: the one that was starting or owning it is gone. */
function isAbandoned(note: ClusterNote): boolean {
  return (note.owned || !note.complete) && conditionOf(note.starter) === 'gone';
}

/** Takes down what crashed programs left behind, and reports it. */
export async function takeDownAbandoned(printLine: (line: string) => void): Promise<void> {
  mkdirSync(notesFolder(), { recursive: true, mode: 0o700 });
  const names = readdirSync(notesFolder()).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
  for (const name of names) {
    const note = readNote(name);
    if (note === undefined || !isAbandoned(note)) continue;
    printLine(`Taking down cluster ${name}, which a program that crashed has left behind`);
    await takeDownNoted(note);
  }
}
