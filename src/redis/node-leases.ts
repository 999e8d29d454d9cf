import type { Clock } from '../clock.ts';

/**
 * The leases that one process keeps.
 *
 * Redis counts them down by its own clock, also while no process can reach it. After an outage every lease may have
 * ended although every process is alive. So a process that reaches Redis again renews its own lease before it looks for
 * dead nodes. That renewal shows Redis that there was an outage, and Redis gives the other processes the time to come
 * back as well.
 */

/** The silence of all nodes that counts as an outage, as a share of the lease. Nodes renew their leases more often. */
const silenceShare = 0.5;

/** No shorter silence counts as an outage. Milliseconds. */
const silenceMillisecondsMinimum = 1_000;

/** How long the other nodes may take to come back from an outage, as a share of the lease. */
const returnGraceShare = 0.35;

interface LocalLease {
  milliseconds: number;
  /** The end that was requested last, whether or not Redis was reachable. Monotonic milliseconds. */
  until: number;
  /** The end that Redis has confirmed; it may know a later one. Monotonic milliseconds. */
  confirmedUntil: number;
}

/** Keeps and renews the leases of the nodes of this process, on every shard. */
export class NodeLeases {
  readonly #clock: Clock;
  readonly #renewInShards: (values: readonly (string | number)[]) => Promise<unknown>;
  /** By node. */
  readonly #leases = new Map<string, LocalLease>();

  /** @param renewInShards Runs renew-lease on all shards. */
  constructor(clock: Clock, renewInShards: (values: readonly (string | number)[]) => Promise<unknown>) {
    this.#clock = clock;
    this.#renewInShards = renewInShards;
  }

  async renew(nodeId: string, leaseMilliseconds: number): Promise<void> {
    const until = this.#clock.monotonic() + leaseMilliseconds;
    const confirmedUntil = this.#leases.get(nodeId)?.confirmedUntil ?? Number.NEGATIVE_INFINITY;
    const lease: LocalLease = { milliseconds: leaseMilliseconds, until, confirmedUntil };
    this.#leases.set(nodeId, lease);
    const silence = Math.max(leaseMilliseconds * silenceShare, silenceMillisecondsMinimum);
    const values = [nodeId, leaseMilliseconds, Math.ceil(silence), Math.ceil(leaseMilliseconds * returnGraceShare)];
    await this.#renewInShards(values);
    // A renewal that began in the meantime has its own end.
    const last = this.#leases.get(nodeId);
    if (last !== undefined) last.confirmedUntil = Math.max(last.confirmedUntil, until);
  }

  /** Renews the kept leases that may have ended in Redis during an outage. */
  async renewOverdue(): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [nodeId, { milliseconds, until, confirmedUntil }] of this.#leases) {
      if (confirmedUntil <= now && now < until) await this.renew(nodeId, milliseconds);
    }
  }

  /** Renews all kept leases after the store could not be reached, so that the store notices the outage. */
  async renewAll(): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [nodeId, { milliseconds, until }] of this.#leases)
      if (now < until) await this.renew(nodeId, milliseconds);
  }

  /** The nodes of this process, including those whose lease has just ended, in case its renewal is late. */
  nodes(): string[] {
    const now = this.#clock.monotonic();
    return [...this.#leases].flatMap(([nodeId, { milliseconds, until }]) =>
      now < until + milliseconds ? [nodeId] : [],
    );
  }

  /** The rest of each kept lease: node and milliseconds. */
  remaining(): [nodeId: string, milliseconds: number][] {
    const now = this.#clock.monotonic();
    for (const [nodeId, { until }] of this.#leases) if (until <= now) this.#leases.delete(nodeId);
    return [...this.#leases].map(([nodeId, { until }]) => [nodeId, Math.ceil(until - now)]);
  }
}
