import type { Backend, Need, TestFile } from './test-files.ts';

/** The test files that no runner has taken yet. Those that need something wait until it is there or cannot be had. */
export class WorkQueue {
  #waiting: readonly TestFile[];
  readonly #settled = new Set<Need>();
  #onSettled: (() => void)[] = [];

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
    for (const wake of this.#onSettled.splice(0)) wake();
  }

  /** The next file for that backend, else for the other one; undefined when there are no more files. */
  async take(preferred: Backend): Promise<TestFile | undefined> {
    while (this.#waiting.length > 0) {
      const ready = this.#waiting.filter(({ needs }) => needs.every((need) => this.#settled.has(need)));
      const next = ready.find(({ backend }) => backend === preferred) ?? ready[0];
      if (next !== undefined) {
        this.#waiting = this.#waiting.filter((file) => file !== next);
        return next;
      }
      await new Promise<void>((resolve) => this.#onSettled.push(resolve));
    }
    return undefined;
  }
}
