import { withTimeout, type Clock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { Coordination, CoordinationChange, OpenSessionResult, Session } from '../../ports/coordination.ts';

/** How long a stream may wait for a slot instead of being refused. Seconds. */
export const slotWaitSecondsMaximum = 300;

/**
 * How often the first stream that waits asks although it heard of no change. No store reports that a reset has ended by
 * its time, because its process died, or that the places of a dead process have. Milliseconds.
 */
const lookAgainMilliseconds = 5_000;

/** How long to wait, and for whom. */
export interface SlotWait {
  readonly milliseconds: number;
  /** Ends the wait with its reason: the client has gone, or the process stops. */
  readonly signal: AbortSignal;
}

export interface SlotQueueServices {
  readonly coordination: Pick<Coordination, 'openSession' | 'closeSession' | 'watch'>;
  readonly clock: Clock;
}

/** The streams of this process that wait for a slot of one subscription, in the order in which they came. */
interface Line {
  readonly waiters: Waiter[];
  readonly stopWatching: () => void;
}

/** One stream that waits. */
class Waiter {
  readonly isOrdered: boolean;
  isRemoved = false;
  #isWoken = false;
  #wake: (() => void) | undefined;

  /** @param isOrdered Whether it takes any partition, so that it has a place among the others. */
  constructor(isOrdered: boolean) {
    this.isOrdered = isOrdered;
  }

  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** It asks now: what has changed until now is in the response. */
  asks(): void {
    this.#isWoken = false;
  }

  /** Resolves when it was woken since it last asked. */
  woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isWoken) resolve();
    });
  }
}

/**
 * Streams that wait for a slot. The coordination store keeps their places over all processes; of each process only the
 * first one asks when something has changed, so that a crowd costs no more than one. Streams that request partitions
 * have no place: each asks after every change.
 */
export class SlotQueue {
  readonly #services: SlotQueueServices;
  readonly #lines = new Map<string, Line>();

  constructor(services: SlotQueueServices) {
    this.#services = services;
  }

  /**
   * Opens the session as soon as there is a slot for it.
   * @returns the last refusal when the time is up
   * @throws the reason of the signal, NOT_FOUND when the subscription is deleted, COORDINATION_UNAVAILABLE
   */
  async open(subscriptionId: string, session: Session, { milliseconds, signal }: SlotWait): Promise<OpenSessionResult> {
    const { coordination, clock } = this.#services;
    const deadline = clock.monotonic() + milliseconds;
    const waiter = new Waiter(session.requestedPartitions.length === 0);
    this.#join(subscriptionId, waiter);
    const onAbort = (): void => waiter.wake();
    signal.addEventListener('abort', onAbort);
    let isOpened = false;
    try {
      for (;;) {
        signal.throwIfAborted();
        if (waiter.isRemoved) throw notFound(subscriptionId);
        const remaining = Math.max(0, deadline - clock.monotonic());
        const opening = { ...session, openedAt: clock.now() };
        waiter.asks();
        const result = await coordination.openSession(subscriptionId, opening, remaining);
        isOpened = result.outcome === 'opened';
        if (isOpened || remaining === 0) return result;
        await this.#untilWorthAsking(subscriptionId, waiter, remaining);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#leave(subscriptionId, waiter);
      // Its place goes to the next one. If that fails, it ends with its time.
      if (!isOpened) await coordination.closeSession(subscriptionId, session.streamId, 'refused').catch(() => {});
    }
  }

  /** The subscriptions with a stream that waits. */
  subscriptionIds(): string[] {
    return [...this.#lines.keys()];
  }

  /** Waits until something has changed, or may have, or the time is up. */
  async #untilWorthAsking(subscriptionId: string, waiter: Waiter, milliseconds: number): Promise<void> {
    const { clock } = this.#services;
    const deadline = clock.monotonic() + milliseconds;
    const woken = waiter.woken().then(() => true);
    for (let left = milliseconds; left > 0; left = deadline - clock.monotonic()) {
      if (await withTimeout(clock, woken, Math.min(left, lookAgainMilliseconds), () => false)) return;
      if (!waiter.isOrdered || this.#firstOrdered(subscriptionId) === waiter) return;
    }
  }

  /** The stream of this process that has waited longest of those that accept any partition. */
  #firstOrdered(subscriptionId: string): Waiter | undefined {
    return this.#lines.get(subscriptionId)?.waiters.find(({ isOrdered }) => isOrdered);
  }

  #join(subscriptionId: string, waiter: Waiter): void {
    const line = this.#lines.get(subscriptionId);
    if (line !== undefined) {
      line.waiters.push(waiter);
      return;
    }
    const stopWatching = this.#services.coordination.watch(subscriptionId, (change) => {
      this.#onChange(subscriptionId, change);
    });
    this.#lines.set(subscriptionId, { waiters: [waiter], stopWatching });
  }

  #leave(subscriptionId: string, waiter: Waiter): void {
    const line = this.#lines.get(subscriptionId);
    if (line === undefined) return;
    line.waiters.splice(line.waiters.indexOf(waiter), 1);
    if (line.waiters.length === 0) {
      this.#lines.delete(subscriptionId);
      line.stopWatching();
    } else {
      // The next one may be the first now, or there may be more than one free slot.
      this.#firstOrdered(subscriptionId)?.wake();
    }
  }

  #onChange(subscriptionId: string, change: CoordinationChange): void {
    if (change === 'offsets') return;
    let isFirst = true;
    for (const waiter of this.#lines.get(subscriptionId)?.waiters ?? []) {
      if (change === 'removed') waiter.isRemoved = true;
      if (change === 'removed' || !waiter.isOrdered || isFirst) waiter.wake();
      if (waiter.isOrdered) isFirst = false;
    }
  }
}

function notFound(subscriptionId: string): LendstreamError {
  return new LendstreamError('NOT_FOUND', `Subscription with id "${subscriptionId}" does not exist.`);
}
