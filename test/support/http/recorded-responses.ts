import { appendFileSync, closeSync, fstatSync, openSync, readSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WatchedResponse } from './response-watch.ts';

/**
 * The responses of the processes that tests start. They only record them: the test process has the description
 * prepared for all its tests, and each of the others would need half a second for that.
 */

/** The folder in which each process has a file, with a response in each line. */
export const responsesFolderVariable = 'RESPONSES_FOLDER';

/** Records a response of this process. It must not affect the service, not even when it fails. */
export function recordResponse(response: WatchedResponse): void {
  const folder = process.env[responsesFolderVariable];
  if (folder === undefined) return;
  try {
    appendFileSync(join(folder, String(process.pid)), `${JSON.stringify(response)}\n`);
  } catch {
    // The tests are over, and the folder is gone.
  }
}

/** Reads what the processes have recorded. */
export class RecordedResponses {
  readonly #folder: string;
  /** How much of each file was read. Bytes. */
  readonly #read = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The responses since the last call. */
  take(): WatchedResponse[] {
    return readdirSync(this.#folder).flatMap((file) =>
      this.#newLines(file).map((line) => JSON.parse(line) as WatchedResponse),
    );
  }

  #newLines(file: string): string[] {
    const from = this.#read.get(file) ?? 0;
    const added = readFrom(join(this.#folder, file), from);
    // A process may have been killed while it wrote a line, or may still write it.
    const end = added.lastIndexOf('\n') + 1;
    if (end === 0) return [];
    this.#read.set(file, from + end);
    return added.toString('utf8', 0, end - 1).split('\n');
  }
}

function readFrom(path: string, position: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - position));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, position));
  } finally {
    closeSync(file);
  }
}
