import { giveWay } from '../../../clock.ts';
import { TurnQueue } from '../../../turn-queue.ts';

/** How much all filters of the process search in one turn of the event loop. Bytes. */
export const turnBytesMaximum = 256 * 1024;

/**
 * Shares the process between filters and everything else. A filter that lets nothing through reads on at once: without
 * turns, one stream with a big backlog would hold up all sockets and timers, and hundreds of them each other.
 */
export class FilterTurns {
  /** Searched in this turn of the event loop. Bytes. */
  #searched = 0;
  readonly #queue = new TurnQueue();

  /** Undefined while the turn lasts and no other waits; else a promise of a turn of the event loop of its own. */
  begin(): Promise<void> | undefined {
    if (this.#searched < turnBytesMaximum && this.#queue.isEmpty) return undefined;
    return this.#queue.wait();
  }

  /** Notes how much was searched. @param bytes Since {@link begin}. */
  spend(bytes: number): void {
    if (this.#searched === 0 && bytes > 0) {
      void giveWay().then(() => {
        this.#searched = 0;
      });
    }
    this.#searched += bytes;
  }
}

/** Those of the process. */
export const filterTurns = new FilterTurns();
