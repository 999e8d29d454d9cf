import { constants } from 'node:os';
import { forgetNoted, killNoted, readNote, type ClusterNote } from './cluster-note.ts';
import { conditionOf } from './process-identity.ts';

/**
 * Clusters that end with this process, however it ends. After a kill -9 only the note helps: the next start of any
 * cluster takes down what was left behind.
 */
const names = new Set<string>();
let isListening = false;
const endMillisecondsMaximum = 5_000;
const pollMilliseconds = 5;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes the cluster with this name down when this process exits, also after SIGINT, SIGTERM or SIGHUP. */
export function endWithProcess(name: string): void {
  if (!isListening) {
    isListening = true;
    process.on('exit', takeAllDown);
    for (const signal of signals) process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  names.add(name);
}

/** Undoes {@link endWithProcess}: the cluster is down already, or another program takes it down. */
export function keepAfterProcess(name: string): void {
  names.delete(name);
}

/** Synchronous, because an exiting process waits for nothing. */
function takeAllDown(): void {
  const notes = [...names].flatMap((name) => readNote(name) ?? []);
  notes.forEach(killNoted);
  for (const note of notes) {
    waitForEnd(note);
    forgetNoted(note);
  }
}

function waitForEnd(note: ClusterNote): void {
  const deadline = performance.now() + endMillisecondsMaximum;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const servers = [...note.brokers, note.redis, ...(note.replica === undefined ? [] : [note.replica])];
  while (servers.some((server) => conditionOf(server.process) !== 'gone') && performance.now() < deadline) {
    Atomics.wait(sleeper, 0, 0, pollMilliseconds);
  }
}
