import { after, withTimeout, type Clock, type Timer } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import { unreachableMillisecondsMaximum, type HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import type { Coordination } from '../../ports/coordination.ts';

/**
 * The lease that keeps the sessions of this process alive, and how long this process may rely on it.
 *
 * The coordination store counts the lease from when it receives the renewal. This process counts by its own monotonic
 * clock from when it sent the renewal, and subtracts a margin. So it stops relying on the lease before any other
 * process may take its partitions, even if it was asleep and wakes up without knowing that.
 *
 * A failed renewal differs from one that was not tried. As long as this process cannot reach the store, and has not
 * slept in between, it continues: taking over partitions needs the store as well, and normally the others cannot reach
 * it either. If only this process is cut off, it cannot tell the difference. It then sends events from partitions that
 * others may have taken over, so events may be delivered twice. This ends when its windows are full and its streams
 * reach their commit timeout, because it cannot commit. Once the store is back or the process has woken up, a new
 * *lease epoch* begins, and all parts of this process read again what they still own before they continue.
 */
export interface NodeLeaseOptions {
  readonly coordination: Pick<Coordination, 'renewLease'>;
  /** The name of this process. No other process has it or ever had it. */
  readonly nodeId: string;
  readonly leaseMilliseconds: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Notified when the coordination store has not responded for long, and when it responds again. */
  readonly health?: Pick<HealthPart, 'reportReady' | 'reportNotReady'>;
}

/** The unused share of the lease: clocks do not run equally fast, and a check takes a moment to take effect. */
const marginShare = 0.2;

/** How many times a lease is renewed before it would end. The store has the same interval to respond. */
const renewalsPerLease = 3;

/** The pause after a renewal that failed, as a share of the lease. */
const retryShare = 0.1;

/** Holds and renews the lease of this process; see {@link NodeLeaseOptions} for how long it may be relied on. */
export class NodeLease {
  readonly #options: NodeLeaseOptions;
  /** Monotonic milliseconds. */
  #validUntil = Number.NEGATIVE_INFINITY;
  #epoch = 0;
  #isUnreachable = false;
  /** When the store last responded. Monotonic milliseconds. */
  #respondedAt = Number.NEGATIVE_INFINITY;
  #attempt: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  get nodeId(): string {
    return this.#options.nodeId;
  }

  /** Grows whenever others may have taken over in between. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Whether it is certain that no other process has treated this one as dead, unless this one alone is cut off from the
   * store.
   * @param now Monotonic milliseconds, taken just before the action that depends on the result.
   */
  isValid(now: number): boolean {
    return now < this.#validUntil;
  }

  /**
   * Takes the lease and keeps it renewed until {@link stop}.
   * @throws COORDINATION_UNAVAILABLE
   */
  async start(): Promise<void> {
    await this.renew();
  }

  /** Lets the lease run out. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /**
   * Renews the lease now. Calls during a renewal get the result of that renewal.
   * @throws COORDINATION_UNAVAILABLE
   */
  renew(): Promise<void> {
    this.#attempt ??= this.#renew().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #renew(): Promise<void> {
    const { clock, leaseMilliseconds } = this.#options;
    const validMilliseconds = leaseMilliseconds * (1 - marginShare);
    const sentAt = clock.monotonic();
    try {
      await this.#sendRenewal();
    } catch (error) {
      const now = clock.monotonic();
      // Still held: the process was awake all the time, so the store is out of reach, for others as well. Not held: the
      // process has just woken up, and the failure proves nothing.
      if (this.isValid(now)) this.#validUntil = now + validMilliseconds;
      this.#reportFailure(error);
      this.#renewIn(leaseMilliseconds * retryShare);
      throw error;
    }
    this.#respondedAt = clock.monotonic();
    this.#options.health?.reportReady();
    if (this.#isUnreachable || !this.isValid(this.#respondedAt)) this.#beginEpoch();
    this.#isUnreachable = false;
    this.#validUntil = sentAt + validMilliseconds;
    this.#renewIn(leaseMilliseconds / renewalsPerLease);
  }

  #beginEpoch(): void {
    this.#epoch += 1;
    if (this.#epoch === 1) return;
    const facts = { nodeId: this.nodeId, wasOutOfReach: this.#isUnreachable };
    this.#options.logger.warn(facts, 'Other processes may have taken over; checking what this process still owns');
  }

  #reportFailure(error: unknown): void {
    if (!this.#isUnreachable) {
      const facts = { nodeId: this.nodeId, error: describeError(error) };
      this.#options.logger.warn(facts, 'Cannot renew the lease of this process; retrying');
    }
    this.#isUnreachable = true;
    const silentMilliseconds = this.#options.clock.monotonic() - this.#respondedAt;
    if (silentMilliseconds < unreachableMillisecondsMaximum) return;
    const seconds = Math.floor(silentMilliseconds / 1000);
    this.#options.health?.reportNotReady(
      `The coordination store has not responded for ${seconds} seconds: ${describeError(error)}`,
    );
  }

  #renewIn(milliseconds: number): void {
    this.#timer?.cancel();
    if (this.#isStopped) return;
    this.#timer = after(this.#options.clock, milliseconds, () => {
      // The failure has been logged, and the next attempt is scheduled.
      this.renew().catch(() => {});
    });
  }

  async #sendRenewal(): Promise<void> {
    const { coordination, nodeId, leaseMilliseconds, clock } = this.#options;
    const milliseconds = leaseMilliseconds / renewalsPerLease;
    await withTimeout(clock, coordination.renewLease(nodeId, leaseMilliseconds), milliseconds, () => {
      const detail = `The coordination store did not respond for ${Math.round(milliseconds)} ms.`;
      throw new LendstreamError('COORDINATION_UNAVAILABLE', detail);
    });
  }
}
