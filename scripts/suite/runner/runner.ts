import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Cluster, KafkaGeneration } from '../../../test/support/clusters/provided-cluster.ts';
import { noTests, type Counts } from '../counts.ts';
import { endOfFile, type Done, type Request } from './runner-messages.ts';
import { lingerMillisecondsMaximum } from './open-resources.ts';
import type { TestFile } from '../test-files.ts';

/** How long a file may take until its runner is ended. Its tests have their own, shorter limits. Milliseconds. */
const fileMillisecondsMaximum = 15 * 60_000;

/** How long a runner may take to end after it should have said what keeps it from ending. Milliseconds. */
const endMillisecondsMaximum = 30_000;

/** The result of a file. */
export interface FileOutcome {
  readonly file: TestFile;
  readonly counts: Counts;
  readonly milliseconds: number;
  /** With that of the processes that it started; 0 for a file whose runner died. */
  readonly processorSeconds: number;
  /** Its whole output. */
  readonly output: string;
  /** The failures with their reasons; empty when there are none. */
  readonly failures: string;
  /** The resources that were still open after its last test. */
  readonly opened: readonly string[];
}

/** A process that runs test files, one after another. */
export class Runner {
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #output = '';
  #onDone: (done: Done) => void = () => undefined;
  #onOutput: () => void = () => undefined;
  #isAlive = true;

  /** @param clusters The clusters that its suites may use. It may get more of them later, by {@link provide}. */
  constructor(clusters: ReadonlyMap<KafkaGeneration, Cluster>) {
    this.#child = fork(fileURLToPath(new URL('./runner-process.js', import.meta.url)), [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A process group, so that everything that its tests have started ends with it, whatever happens.
      detached: true,
    });
    this.#child.on('message', (message) => this.#onDone(message as Done));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#onOutput();
      });
    }
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    void this.#exited.then(() => (this.#isAlive = false));
    for (const [generation, provided] of clusters) this.provide(generation, provided);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  provide(generation: KafkaGeneration, cluster: Cluster): void {
    this.#send({ kind: 'cluster', generation, cluster });
  }

  /** Runs a file. A process that dies in the meantime is a failure of the file. */
  async run(file: TestFile): Promise<FileOutcome> {
    const beginning = performance.now();
    this.#output = '';
    let isTooLong = false;
    const limit = setTimeout(() => {
      isTooLong = true;
      this.kill();
    }, fileMillisecondsMaximum);
    const done = this.#done();
    this.#send({ kind: 'run', compiled: file.compiled, backend: file.backend });
    const outcome = await Promise.race([done, this.#exited]);
    clearTimeout(limit);
    const milliseconds = performance.now() - beginning;
    const output = this.#output.replace(endOfFile, '');
    if (typeof outcome !== 'string') return { file, milliseconds, output, ...outcome };
    this.kill();
    const end = isTooLong ? `it took more than ${fileMillisecondsMaximum / 60_000} minutes` : outcome;
    const failures = `The process that ran ${file.source} ended before its tests did: ${end}.`;
    return { file, milliseconds, output, failures, counts: { ...noTests, failed: 1 }, processorSeconds: 0, opened: [] };
  }

  /** Waits for the end. Returns what kept the process from ending by itself; an empty text when nothing did. */
  async end(lingerMilliseconds = lingerMillisecondsMaximum): Promise<string> {
    if (!this.#isAlive) return '';
    this.#output = '';
    this.#send({ kind: 'end', lingerMilliseconds });
    const limit = setTimeout(() => this.kill(), lingerMilliseconds + endMillisecondsMaximum);
    const end = await this.#exited;
    clearTimeout(limit);
    if (end === 'exit code 0') return '';
    this.kill();
    return `A process that ran tests ended with ${end}. ${this.#output.trim()}`;
  }

  /** Ends the process and all that its tests have started, at once. */
  kill(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // All of them are gone.
    }
  }

  #send(request: Request): void {
    // The end of a process shows that it is gone.
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }

  async #done(): Promise<Done> {
    const done = await new Promise<Done>((resolve) => {
      this.#onDone = resolve;
    });
    await new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (this.#output.includes(endOfFile)) resolve();
      };
      this.#onOutput();
    });
    return done;
  }
}
