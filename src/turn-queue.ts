import { giveWay } from './clock.ts';

/** A queue for turns of the event loop: each one that waits gets a turn of its own, in the order in which it came. */
export class TurnQueue {
  /** Resolves when the last one in the queue has its turn. */
  #last: Promise<void> = Promise.resolve();
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Resolves in the turn of the caller. */
  async wait(): Promise<void> {
    this.#length += 1;
    this.#last = this.#last.then(giveWay);
    await this.#last;
    this.#length -= 1;
  }
}
