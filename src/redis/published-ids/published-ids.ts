/**
 * The ids of events that were published lately, in Redis.
 * In: ids to claim before their events are appended. Out: which of them are stored already, and a claim to the others.
 * Start with `RedisPublishedIds` below; `id-score.ts` writes the state of an id as a number, which only the scripts in
 * `scripts/published-ids` change.
 */

import { randomUUID } from 'node:crypto';
import { readStoredIds } from '../../broker/log/published-events.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { EventLog } from '../../ports/event-log.ts';
import {
  appendingShare,
  claimMilliseconds as claimMillisecondsDefault,
  type IdClaim,
  type IdsToClaim,
  type PublishedIds,
} from '../../ports/published-ids.ts';
import { doClaimed, type Claims } from '../claims/claimed-work.ts';
import { claimOf, scoreOf } from './id-score.ts';

export interface RedisPublishedIdsOptions {
  readonly calls: PublishedIdCalls;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The most ids of one topic within its window. */
  readonly idsMaximum: number;
  /** See {@link claimMillisecondsDefault}. */
  readonly claimMilliseconds?: number | undefined;
}

/** What this needs of Redis. Ids of one topic are in one slot. */
export interface PublishedIdCalls extends Claims {
  call(
    name: 'published-ids/claim' | 'published-ids/settle' | 'published-ids/refill',
    key: string,
    values: readonly (string | number)[],
  ): Promise<unknown[]>;
}

/** The pause before a claim is tried again: the first, and the longest. Milliseconds. */
const firstPauseMilliseconds = 5;
const pauseMillisecondsMaximum = 500;

/** How long a claim may last before the log is asked about it, for the first time; later each time. Milliseconds. */
const firstLookMilliseconds = 200;
const laterLookFactor = 3;

/** How much earlier than its claim an event may seem to be stored, where a clock was set back. Milliseconds. */
const clockStepMilliseconds = 10_000;

/** How long a process that reads the log may be silent before another one does it instead. Milliseconds. */
const refillLeaseMilliseconds = 60_000;

/** How many ids are added in one call: Redis does nothing else meanwhile. */
const idsPerCall = 500;

/** How long the ids of a topic outlive its window. Milliseconds. */
const keptMilliseconds = 600_000;

/** An id that another request has claimed. */
interface CompetingClaim {
  readonly id: string;
  readonly score: number;
}

/**
 * The ids of published events in Redis, for any number of processes. What Redis has lost, or may have lost, is read
 * from the log before another id is claimed.
 */
export class RedisPublishedIds implements PublishedIds {
  readonly #options: RedisPublishedIdsOptions;
  readonly #claimMilliseconds: number;
  #isClosed = false;

  constructor(options: RedisPublishedIdsOptions) {
    this.#options = options;
    this.#claimMilliseconds = options.claimMilliseconds ?? claimMillisecondsDefault;
  }

  async claim(request: IdsToClaim): Promise<IdClaim> {
    const { calls, clock } = this.#options;
    const { topic, windowMilliseconds, ids, partitions } = request;
    const pairs = ids.flatMap((id, index) => [id, partitions[index] as number]);
    let waited = 0;
    let lookAfter = firstLookMilliseconds;
    let pause = firstPauseMilliseconds;
    for (;;) {
      if (this.#isClosed) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'The service is shutting down.');
      const claimedAt = clock.now();
      const begunAt = clock.monotonic();
      const head = [claimedAt, windowMilliseconds, this.#options.idsMaximum, this.#lifetime(request)];
      const [outcome, ...found] = (await calls.call('published-ids/claim', keyOf(request), [...head, ...pairs])) as [
        string,
        ...string[],
      ];
      if (outcome === 'OK') return this.#claimed(request, indexedPairs(found), claimedAt, begunAt);
      if (outcome === 'FULL') throw tooManyIds(topic, this.#options.idsMaximum);
      if (outcome === 'INCOMPLETE') {
        await this.#refill(request, claimedAt - windowMilliseconds);
        continue;
      }
      const competing = [...indexedPairs(found)].map(([index, score]) => ({ id: ids[index] as string, score }));
      if (waited >= lookAfter || competing.some((claim) => this.#isOver(claim))) {
        await this.#decide(request, competing);
        lookAfter = waited * laterLookFactor;
      }
      await clock.sleep(pause);
      waited += pause;
      pause = Math.min(2 * pause, pauseMillisecondsMaximum);
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  #claimed(request: IdsToClaim, stored: ReadonlyMap<number, number>, claimedAt: number, begunAt: number): IdClaim {
    const { calls, clock, logger } = this.#options;
    const { ids, partitions, topic } = request;
    const storedIn = new Map([...stored].map(([index, partition]) => [ids[index] as string, partition]));
    const isClaimed = (id: string): boolean => !storedIn.has(id);
    return {
      storedIn,
      isCurrent: () => clock.monotonic() - begunAt < this.#claimMilliseconds * appendingShare,
      settle: async (storedIds, unknown) => {
        const values = ids.flatMap((id, index) =>
          isClaimed(id) && !unknown.has(id)
            ? [id, scoreOf(claimedAt, partitions[index] as number), storedIds.has(id) ? '1' : '0']
            : [],
        );
        if (values.length === 0) return;
        try {
          await calls.call('published-ids/settle', keyOf(request), [this.#lifetime(request), ...values]);
        } catch (error) {
          logger.warn({ topic, error: describeError(error) }, 'Claimed ids could not be settled; the log decides');
        }
      },
    };
  }

  /** Whether the append of a claim cannot arrive any more. */
  #isOver({ score }: CompetingClaim): boolean {
    return this.#options.clock.now() - claimOf(score).claimedAt >= this.#claimMilliseconds;
  }

  /** Settles claims whose events the log has, and those that are over. */
  async #decide(request: IdsToClaim, competing: readonly CompetingClaim[]): Promise<void> {
    const { calls, log } = this.#options;
    // Before the log is read: a claim that ends meanwhile may have been appended behind the read.
    const over = new Set(competing.filter((claim) => this.#isOver(claim)));
    const claims = competing.map(({ score }) => claimOf(score));
    const since = Math.min(...claims.map(({ claimedAt }) => claimedAt)) - clockStepMilliseconds;
    const partitions = [...new Set(claims.map(({ partition }) => partition))];
    const wanted = new Set(competing.map(({ id }) => id));
    const inLog = new Set<string>();
    for await (const stored of readStoredIds(log, request.topic, since, partitions)) {
      for (const { id } of stored) if (wanted.has(id)) inLog.add(id);
    }
    const decided = competing.filter((claim) => inLog.has(claim.id) || over.has(claim));
    if (decided.length === 0) return;
    const values = decided.flatMap(({ id, score }) => [id, score, inLog.has(id) ? '1' : '0']);
    await calls.call('published-ids/settle', keyOf(request), [this.#lifetime(request), ...values]);
  }

  /** Reads the ids of the window from the log into Redis, or waits until another process has done so. */
  async #refill(request: IdsToClaim, after: number): Promise<void> {
    const { calls, clock, logger } = this.#options;
    const claim = { name: `published-ids/${keyOf(request)}`, leaseMilliseconds: refillLeaseMilliseconds };
    const isRefilled = await doClaimed(calls, clock, claim, async () => {
      const count = await this.#readIntoRedis(request, after);
      if (count !== undefined)
        logger.info({ topic: request.topic, ids: count }, 'Published ids were read from the log');
    });
    if (!isRefilled) await clock.sleep(pauseMillisecondsMaximum / 5);
  }

  /** @returns how many ids there were; undefined when Redis lost some of them meanwhile */
  async #readIntoRedis(request: IdsToClaim, after: number): Promise<number | undefined> {
    const { calls, log, clock } = this.#options;
    const head = [this.#lifetime(request), randomUUID()];
    const refill = (...values: readonly (string | number)[]) =>
      calls.call('published-ids/refill', keyOf(request), [...head, ...values]);
    const [, age] = await refill('begin');
    // A claim that Redis has lost may still be appended.
    await clock.sleep(Math.max(0, this.#claimMilliseconds - Number(age)));
    let count = 0;
    for await (const stored of readStoredIds(log, request.topic, after + 1)) {
      count += stored.length;
      for (let first = 0; first < stored.length; first += idsPerCall) {
        const some = stored.slice(first, first + idsPerCall);
        const values = some.flatMap(({ id, partition, appendedAt }) => [id, scoreOf(appendedAt, partition, true)]);
        const [outcome] = await refill('add', this.#options.idsMaximum, ...values);
        if (outcome !== 'OK') return undefined;
      }
    }
    const [outcome] = await refill('finish', after);
    return outcome === 'OK' ? count : undefined;
  }

  #lifetime({ windowMilliseconds }: IdsToClaim): number {
    return windowMilliseconds + keptMilliseconds;
  }
}

function keyOf({ topic, claimedSince }: IdsToClaim): string {
  return `${topic} ${claimedSince}`;
}

/** A reply of numbers in pairs. */
function indexedPairs(found: readonly string[]): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 0; at < found.length; at += 2) pairs.set(Number(found[at]), Number(found[at + 1]));
  return pairs;
}

function tooManyIds(topic: string, idsMaximum: number): LendstreamError {
  return new LendstreamError(
    'OVERLOADED',
    `Event type ${topic} would have more than ${idsMaximum} ids in its deduplication window. Nothing was stored.`,
  );
}
