import type { Backend, Need, TestFile } from './test-files.ts';

/**
 * How many runners have a browser. To start one, load the page for the first time and compile its scripts takes some
 * seconds of the processor, and the tests of a runner share it. They are over long before the others.
 */
const browsersMaximum = 3;

/** The test files that no runner has taken yet. Those that need something wait until it is there or cannot be had. */
export class WorkQueue {
  #waiting: readonly TestFile[];
  readonly #settled = new Set<Need>();
  /** The files that were taken and are not done. */
  readonly #running = new Set<TestFile>();
  #onChange: (() => void)[] = [];
  /** The runners that have a browser. */
  readonly #withBrowser = new Set<number>();

  /** @param files in the order in which they are handed out: the slowest first, so that no runner ends with it alone */
  constructor(files: readonly TestFile[]) {
    this.#waiting = files;
  }

  /** Hands out the files that need this from now on; without the cluster, the second runs on it are dropped. */
  settle(need: Need, isThere: boolean): void {
    this.#settled.add(need);
    if (!isThere && need === 'current') {
      this.#waiting = this.#waiting.filter(({ backend }) => backend !== 'cluster');
    }
    this.#wakeAll();
  }

  /** Tells that a file that was taken uses nothing any more. */
  done(file: TestFile): void {
    this.#running.delete(file);
    this.#wakeAll();
  }

  /**
   * The next file for that backend, else for the other one; undefined when there are no more files for the runner.
   * @param runner A number of its own for each runner. One that has a browser gets the files that need it first.
   */
  async take(preferred: Backend, runner: number): Promise<TestFile | undefined> {
    for (;;) {
      const possible = this.#waiting.filter((file) => !needsBrowser(file) || this.#mayHaveBrowser(preferred, runner));
      if (possible.length === 0) return undefined;
      const ready = possible.filter((file) => this.#isReady(file));
      const next =
        ready.find(({ usesClusterAlone }) => usesClusterAlone) ??
        (this.#withBrowser.has(runner) ? ready.find(needsBrowser) : undefined) ??
        ready.find(({ backend }) => backend === preferred) ??
        ready[0];
      if (next !== undefined) {
        if (needsBrowser(next)) this.#withBrowser.add(runner);
        this.#waiting = this.#waiting.filter((file) => file !== next);
        this.#running.add(next);
        return next;
      }
      await new Promise<void>((resolve) => this.#onChange.push(resolve));
    }
  }

  #wakeAll(): void {
    for (const wake of this.#onChange.splice(0)) wake();
  }

  /**
   * Whether all that a file needs is there. The cluster is there for the files that use it alone, one after another,
   * and then for all the others: so no runner waits until the others have ended.
   */
  #isReady(file: TestFile): boolean {
    if (!file.needs.every((need) => this.#settled.has(need))) return false;
    if (!needsCluster(file)) return true;
    const running = [...this.#running].filter(needsCluster);
    if (file.usesClusterAlone) return running.length === 0;
    return ![...running, ...this.#waiting].some(({ usesClusterAlone }) => usesClusterAlone);
  }

  /** Whether a runner has a browser, or may be one more that does: one that does not prefer the cluster. */
  #mayHaveBrowser(preferred: Backend, runner: number): boolean {
    if (this.#withBrowser.has(runner)) return true;
    return preferred === 'embedded' && this.#withBrowser.size < browsersMaximum;
  }
}

function needsBrowser({ needs }: TestFile): boolean {
  return needs.includes('browser');
}

function needsCluster({ needs }: TestFile): boolean {
  return needs.includes('current');
}
