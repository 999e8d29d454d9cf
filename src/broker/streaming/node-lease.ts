import type { Clock } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import { unreachableMillisecondsMaximum, type HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import type { Coordination } from '../../ports/coordination.ts';

/**
 * The lease that keeps the sessions of this process alive, and how long this process may be sure of it.
 *
 * The coordination store counts the lease from when it hears of it; this process counts by its own monotonic clock from
 * when it asked, and less a margin. So it stops being sure before anybody else may take its partitions, also when it
 * was asleep meanwhile and wakes up knowing nothing.
 *
 * A renewal that fails is another matter than one that was not tried. As long as this process finds the store out of
 * reach, without having slept in between, it goes on: taking partitions over needs the store as well, and as a rule the
 * others cannot reach it either. A process that alone is cut off cannot tell the difference. It sends what others may
 * have taken over, so that events may be delivered twice, until its windows are full and its streams end with their
 * commit timeout: it can commit nothing. Once the store is back or the process has woken up, a new *tenure* begins, and
 * whoever acts for this process looks again what is still its own before going on.
 */
export interface NodeLeaseOptions {
  readonly coordination: Pick<Coordination, 'renewLease'>;
  /** This process, by a name that no other one has or ever had. */
  readonly nodeId: string;
  readonly leaseMilliseconds: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when the coordination store has not answered for long, and when it does again. */
  readonly health?: HealthPart;
}

/** What part of the lease is left unused: clocks do not run equally fast, and a check takes a moment to take effect. */
const marginShare = 0.2;

/** How many times a lease is renewed before it would end. It is also how long the store may take to answer. */
const renewalsPerLease = 3;

/** The pause after a renewal that failed, as a share of the lease. */
const retryShare = 0.1;

export class NodeLease {
  readonly #options: NodeLeaseOptions;
  /** Monotonic milliseconds. */
  #sureUntil = Number.NEGATIVE_INFINITY;
  #tenure = 0;
  #isOutOfReach = false;
  /** When the store last answered. Monotonic milliseconds. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #attempt: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  get nodeId(): string {
    return this.#options.nodeId;
  }

  /** Grows whenever others may have taken over in between. */
  get tenure(): number {
    return this.#tenure;
  }

  /**
   * Whether nobody else can have taken this process for dead, unless it alone is cut off from the store.
   * @param now Monotonic milliseconds, taken just before what is done on the strength of the answer.
   */
  isHeld(now: number): boolean {
    return now < this.#sureUntil;
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
    clearTimeout(this.#timer);
  }

  /**
   * Renews the lease now. Whoever asks while that is under way gets the same answer.
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
    const sureMilliseconds = leaseMilliseconds * (1 - marginShare);
    const sentAt = clock.monotonic();
    try {
      await this.#answer();
    } catch (error) {
      const now = clock.monotonic();
      // Awake all the time: the store is out of reach, for others as well. Woken up: that proves nothing any more.
      if (this.isHeld(now)) this.#sureUntil = now + sureMilliseconds;
      this.#noteFailure(error);
      this.#renewIn(leaseMilliseconds * retryShare);
      throw error;
    }
    this.#answeredAt = clock.monotonic();
    this.#options.health?.isReady();
    if (this.#isOutOfReach || !this.isHeld(this.#answeredAt)) this.#beginTenure();
    this.#isOutOfReach = false;
    this.#sureUntil = sentAt + sureMilliseconds;
    this.#renewIn(leaseMilliseconds / renewalsPerLease);
  }

  #beginTenure(): void {
    this.#tenure += 1;
    if (this.#tenure === 1) return;
    const facts = { nodeId: this.nodeId, wasOutOfReach: this.#isOutOfReach };
    this.#options.logger.warn(facts, 'Others may have taken over from this process, which looks what is still its own');
  }

  #noteFailure(error: unknown): void {
    if (!this.#isOutOfReach) {
      const facts = { nodeId: this.nodeId, error: describeError(error) };
      this.#options.logger.warn(facts, 'The lease of this process could not be renewed and is tried again');
    }
    this.#isOutOfReach = true;
    const silentMilliseconds = this.#options.clock.monotonic() - this.#answeredAt;
    if (silentMilliseconds < unreachableMillisecondsMaximum) return;
    const seconds = Math.floor(silentMilliseconds / 1000);
    this.#options.health?.isNotReady(
      `The coordination store has not answered for ${seconds} seconds: ${describeError(error)}`,
    );
  }

  #renewIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      // What went wrong has been told, and the next attempt is set.
      this.renew().catch(() => {});
    }, milliseconds);
  }

  async #answer(): Promise<void> {
    const { coordination, nodeId, leaseMilliseconds } = this.#options;
    const milliseconds = leaseMilliseconds / renewalsPerLease;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const detail = `The coordination store did not answer for ${Math.round(milliseconds)} ms.`;
        reject(new LendstreamError('COORDINATION_UNAVAILABLE', detail));
      }, milliseconds);
    });
    try {
      await Promise.race([coordination.renewLease(nodeId, leaseMilliseconds), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}
