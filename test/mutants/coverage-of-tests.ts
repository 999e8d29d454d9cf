import { writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Mocha from 'mocha';

/** What V8 counted in this thread during one test, or between tests: in hooks, and while files were loaded. */
export interface CoverageReport {
  readonly result: readonly Profiler.ScriptCoverage[];
  /** Undefined between tests, and in the reports that NODE_V8_COVERAGE writes. */
  readonly test?: { readonly title: string; readonly milliseconds: number };
}

/**
 * Writes which code each test executes, in this thread. Threads and processes that a test starts write theirs with
 * NODE_V8_COVERAGE, which tells nothing about single tests.
 */
export class CoverageOfTests {
  readonly #session = new Session();
  readonly #files: string;
  readonly #folder: string;
  #reports = 0;
  #running: { readonly title: string; readonly beganAt: number } | undefined;

  /** @param folder the reports go there */
  constructor(build: string, folder: string) {
    this.#files = `${pathToFileURL(build).href}/`;
    this.#folder = folder;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** A test lasts until the next one or the next suite begins: what its afterEach hooks execute belongs to it. */
  follow(runner: Mocha.Runner): void {
    runner.on('suite', () => this.#write());
    runner.on('test', (test) => {
      this.#write();
      this.#running = { title: test.fullTitle(), beganAt: performance.now() };
    });
  }

  endFile(): void {
    this.#write();
  }

  #write(): void {
    const running = this.#running;
    const milliseconds = running === undefined ? 0 : Math.round(performance.now() - running.beganAt);
    this.#running = undefined;
    // What was counted before is not counted again.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      const report: CoverageReport = {
        result: result.filter(({ url }) => url.startsWith(this.#files)),
        ...(running === undefined ? {} : { test: { title: running.title, milliseconds } }),
      };
      this.#reports += 1;
      writeFileSync(join(this.#folder, `test-${process.pid}-${this.#reports}.json`), JSON.stringify(report));
    });
  }
}
