import { constants } from 'node:os';
import { forgetNoted, killNoted, readNote, type ClusterNote } from './cluster-note.ts';
import { conditionOf } from './process-identity.ts';

/**
 * Clusters that end with this process, in whatever way it ends. Against a kill -9 nothing helps but the note: the next
 * start of any cluster takes down what was left behind.
 */
const names = new Set<string>();
let isListening = false;
const endMillisecondsMaximum = 5_000;
const pollMilliseconds = 5;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function endWithProcess(name: string): void {
  if (!isListening) {
    isListening = true;
    process.on('exit', takeAllDown);
    for (const signal of signals) process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  names.add(name);
}

/** Takes it back: it is down already, or somebody else takes it down. */
export function goesOnAfterProcess(name: string): void {
  names.delete(name);
}

/** In one go, since a process that exits waits for nothing. */
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
