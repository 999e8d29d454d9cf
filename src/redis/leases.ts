import type { Clock } from '../clock.ts';
import { shardCount } from './keys.ts';

/**
 * The leases that one process keeps.
 *
 * Redis counts them by its own clock, also while nobody can reach it: after an outage every lease may have ended
 * although every process is alive. So whoever is back looks for dead nodes only after it has renewed its own lease, and
 * that renewal shows Redis that there was an outage, from which the other processes get the time to come back as well.
 */

/**
 * How long no node may have been heard of before that is an outage, as a share of the lease; they renew it more often.
 */
const silenceShare = 0.5;

/** No silence shorter than this is an outage. Milliseconds. */
const silenceMillisecondsMinimum = 1_000;

/** How long the other nodes may take to come back from an outage, as a share of the lease. */
const returnShare = 0.35;

interface KeptLease {
  milliseconds: number;
  /** As it was asked for last, whether Redis was there or not. Monotonic milliseconds. */
  until: number;
  /** As Redis knows it at least. Monotonic milliseconds. */
  confirmedUntil: number;
}

export class Leases {
  readonly #clock: Clock;
  readonly #renewShard: (shard: number, values: readonly (string | number)[]) => Promise<unknown>;
  /** By node. */
  readonly #kept = new Map<string, KeptLease>();

  /** @param renewShard Runs renew-lease on a shard. */
  constructor(clock: Clock, renewShard: (shard: number, values: readonly (string | number)[]) => Promise<unknown>) {
    this.#clock = clock;
    this.#renewShard = renewShard;
  }

  async renew(nodeId: string, leaseMilliseconds: number): Promise<void> {
    const until = this.#clock.monotonic() + leaseMilliseconds;
    const confirmedUntil = this.#kept.get(nodeId)?.confirmedUntil ?? Number.NEGATIVE_INFINITY;
    const kept: KeptLease = { milliseconds: leaseMilliseconds, until, confirmedUntil };
    this.#kept.set(nodeId, kept);
    const silence = Math.max(leaseMilliseconds * silenceShare, silenceMillisecondsMinimum);
    const values = [nodeId, leaseMilliseconds, Math.ceil(silence), Math.ceil(leaseMilliseconds * returnShare)];
    await Promise.all(Array.from({ length: shardCount }, (_, shard) => this.#renewShard(shard, values)));
    // Another renewal that began meanwhile knows its own end.
    const last = this.#kept.get(nodeId);
    if (last !== undefined) last.confirmedUntil = Math.max(last.confirmedUntil, until);
  }

  /** Renews the leases that are kept and of which Redis may have counted down the end during an outage. */
  async renewOverdue(): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [nodeId, { milliseconds, until, confirmedUntil }] of this.#kept) {
      if (confirmedUntil <= now && now < until) await this.renew(nodeId, milliseconds);
    }
  }

  /** Renews the leases that are kept: the store could not be reached, and shall know that it was an outage. */
  async renewAll(): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [nodeId, { milliseconds, until }] of this.#kept) if (now < until) await this.renew(nodeId, milliseconds);
  }

  /** The nodes of this process: also those whose lease has ended a moment ago, in case its renewal is late. */
  nodes(): string[] {
    const now = this.#clock.monotonic();
    return [...this.#kept].flatMap(([nodeId, { milliseconds, until }]) => (now < until + milliseconds ? [nodeId] : []));
  }

  /** What is left of each lease that is kept: node and milliseconds. */
  left(): [nodeId: string, milliseconds: number][] {
    const now = this.#clock.monotonic();
    for (const [nodeId, { until }] of this.#kept) if (until <= now) this.#kept.delete(nodeId);
    return [...this.#kept].map(([nodeId, { until }]) => [nodeId, Math.ceil(until - now)]);
  }
}
