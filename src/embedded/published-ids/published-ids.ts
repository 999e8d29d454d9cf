/**
 * The ids of events that were published lately, in the memory of the one process.
 * In: ids to claim before their events are appended. Out: which of them are stored already, and a claim to the others.
 * Start with `EmbeddedPublishedIds` below; `id-window.ts` keeps the ids of a topic until their window is over.
 */

import { readStoredIds } from '../../broker/log/published-events.ts';
import { every, type Clock, type Timer } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { type IdClaim, type IdsToClaim, type PublishedIds } from '../../ports/published-ids.ts';
import { IdWindow, type DatedId } from './id-window.ts';

export interface EmbeddedPublishedIdsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  /** The most ids of one topic within its window. */
  readonly idsMaximum: number;
}

/** How often topics without an id in their window are forgotten. Milliseconds. */
const sweepMilliseconds = 60_000;

/**
 * The ids of published events on one machine, in memory. This process alone appends, so nothing comes between a look at
 * the ids and the claim. The first event of a topic after a start waits until the ids of its window are read from the
 * log.
 */
export class EmbeddedPublishedIds implements PublishedIds {
  readonly #options: EmbeddedPublishedIdsOptions;
  readonly #topics = new Map<string, TopicIds>();
  readonly #sweep: Timer;

  constructor(options: EmbeddedPublishedIdsOptions) {
    this.#options = options;
    this.#sweep = every(options.clock, sweepMilliseconds, () => this.#forgetUnused());
  }

  async claim(request: IdsToClaim): Promise<IdClaim> {
    const { topic, claimedSince } = request;
    const key = `${topic} ${claimedSince}`;
    let ids = this.#topics.get(key);
    if (ids === undefined) {
      ids = new TopicIds(topic, this.#options);
      this.#topics.set(key, ids);
    }
    return ids.claim(request);
  }

  close(): void {
    this.#sweep.cancel();
    this.#topics.clear();
  }

  #forgetUnused(): void {
    for (const [key, ids] of this.#topics) if (ids.isUnused()) this.#topics.delete(key);
  }
}

class TopicIds {
  readonly #topic: string;
  readonly #options: EmbeddedPublishedIdsOptions;
  #stored = new IdWindow();
  /** The window has every event after this. Milliseconds since the epoch; Infinity when it has to be read. */
  #completeAfter = Infinity;
  #windowMilliseconds = 0;
  /** By id: ends when its claim is settled. */
  readonly #claims = new Map<string, Promise<void>>();
  #reading: Promise<void> | undefined;
  /** How often an append had an unknown outcome. */
  #unknownOutcomes = 0;
  /** What was stored while the log was read. */
  readonly #storedMeanwhile: DatedId[] = [];

  constructor(topic: string, options: EmbeddedPublishedIdsOptions) {
    this.#topic = topic;
    this.#options = options;
  }

  /** Whether nothing would be lost if it were forgotten. */
  isUnused(): boolean {
    if (this.#reading !== undefined || this.#claims.size > 0) return false;
    this.#removeOld(this.#windowMilliseconds);
    return this.#stored.size === 0;
  }

  async claim({ ids, partitions, windowMilliseconds }: IdsToClaim): Promise<IdClaim> {
    for (;;) {
      const threshold = this.#options.clock.now() - windowMilliseconds;
      const claimed = ids.find((id) => this.#claims.has(id));
      if (threshold < this.#completeAfter) await this.#read(threshold);
      else if (claimed !== undefined) await this.#claims.get(claimed);
      else return this.#claimNow(ids, partitions, windowMilliseconds);
    }
  }

  #claimNow(ids: readonly string[], partitions: readonly number[], windowMilliseconds: number): IdClaim {
    this.#removeOld(windowMilliseconds);
    const storedIn = new Map<string, number>();
    const claimed = new Map<string, number>();
    for (const [index, id] of ids.entries()) {
      const partition = this.#stored.partitionOf(id);
      if (partition === undefined) claimed.set(id, partitions[index] as number);
      else storedIn.set(id, partition);
    }
    const { idsMaximum } = this.#options;
    if (this.#stored.size + this.#claims.size + claimed.size > idsMaximum) throw tooManyIds(this.#topic, idsMaximum);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    for (const id of claimed.keys()) this.#claims.set(id, ended);
    return {
      storedIn,
      // No other process takes the claim over.
      isCurrent: () => true,
      settle: (stored, unknown) => {
        const storedAt = this.#options.clock.now();
        for (const [id, partition] of claimed) {
          this.#claims.delete(id);
          if (stored.has(id)) this.#add({ id, partition, storedAt });
        }
        if (unknown.size > 0) this.#readAgain();
        end();
        return Promise.resolve();
      },
    };
  }

  /** Only the log knows what became of an append. */
  #readAgain(): void {
    this.#unknownOutcomes += 1;
    this.#completeAfter = Infinity;
  }

  #add(id: DatedId): void {
    this.#stored.add(id);
    if (this.#reading !== undefined) this.#storedMeanwhile.push(id);
  }

  #removeOld(windowMilliseconds: number): void {
    this.#windowMilliseconds = windowMilliseconds;
    const threshold = this.#options.clock.now() - windowMilliseconds;
    if (this.#stored.removeThrough(threshold)) this.#completeAfter = Math.max(this.#completeAfter, threshold);
  }

  /** Reads the ids of the window from the log. Callers share the work. */
  #read(after: number): Promise<void> {
    this.#reading ??= this.#readAll(after).finally(() => {
      this.#reading = undefined;
      this.#storedMeanwhile.length = 0;
    });
    return this.#reading;
  }

  async #readAll(after: number): Promise<void> {
    const { log, idsMaximum } = this.#options;
    const unknownBefore = this.#unknownOutcomes;
    let found: DatedId[] = [];
    for await (const ids of readStoredIds(log, this.#topic, after + 1)) {
      for (const { id, partition, appendedAt: storedAt } of ids) found.push({ id, partition, storedAt });
      // The oldest ones may be left out: as long as there are too many others, nothing can be published.
      if (found.length > 2 * idsMaximum) found = newest(found, idsMaximum);
    }
    const window = new IdWindow();
    for (const id of newest(found, idsMaximum)) window.add(id);
    for (const id of this.#storedMeanwhile) window.add(id);
    this.#stored = window;
    if (this.#unknownOutcomes === unknownBefore) this.#completeAfter = after;
  }
}

/**
 * Each id once, with its latest copy, in the order in which they were stored: those of several partitions were read one
 * after another.
 */
function newest(ids: readonly DatedId[], count: number): DatedId[] {
  const latest = new Map<string, DatedId>();
  for (const stored of ids.toSorted((a, b) => a.storedAt - b.storedAt)) {
    latest.delete(stored.id);
    latest.set(stored.id, stored);
  }
  return [...latest.values()].slice(-count);
}

function tooManyIds(topic: string, idsMaximum: number): LendstreamError {
  return new LendstreamError(
    'OVERLOADED',
    `Event type ${topic} would have more than ${idsMaximum} ids in its deduplication window. Nothing was stored.`,
  );
}
