import type { UnprocessableEventPolicy } from '../../../src/broker/definitions/unprocessable-events.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import { Violation } from './violation.ts';

/** A dead letter as it is in the queue. */
export interface ObservedLetter {
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly partition: number;
  readonly offset: Offset;
  readonly eid: string;
  /** The event in it as text. */
  readonly event: string;
}

/** A stream that ended and reported that an event of a partition was not committed. */
export interface ObservedFailure {
  /** Of the first event that it had sent and that was not committed. */
  readonly offset: Offset;
  /** Whether the events were delivered one by one, to find the one that fails. */
  readonly isSearched: boolean;
  /** Of the partition while the stream had it. */
  readonly fence: number;
}

interface PolicyPeriod {
  readonly policy: UnprocessableEventPolicy | undefined;
  /** Simulated milliseconds. */
  until: number;
}

interface ObservedPartition {
  /**
   * How many streams in a row reported the same first event, since when, how many of them had sent it alone, and the
   * fence of the last one.
   */
  failures: { readonly offset: Offset; readonly since: number; streams: number; alone: number; fence: number };
  /** What they were when the store lost its data: a stream may have counted them, and the log its commit. */
  lostFailures: ObservedPartition['failures'];
  /** Events that failed often enough, and the fence under which they last did, also before resets and losses. */
  readonly failedOften: Map<Offset, number>;
  /** By offset. */
  readonly letters: Map<Offset, ObservedLetter[]>;
  /** Offsets of the letters since the last reset or loss of the store. */
  readonly newLetters: Set<Offset>;
  /** By offset, the fence under which it was. */
  readonly passedOver: Map<Offset, number>;
  /** Events that failed often enough and then were behind a position that a consumer with a filter committed. */
  readonly passedOverByFilter: Set<Offset>;
}

const noFailures = (): ObservedPartition['failures'] => ({ offset: -1, since: 0, streams: 0, alone: 0, fence: 0 });

/**
 * How long ago a process may have read the policy by which it acts now: it may have been paused, and its calls may be
 * slow. Simulated milliseconds.
 */
const decisionMillisecondsMaximum = 60_000;

/**
 * The invariants of events that consumers cannot process: what the streams of subscriptions with a policy reported,
 * what was passed over, and the dead letters.
 */
export class PassedOverEvents {
  readonly #now: () => number;
  /** By subscription, the newest last. */
  readonly #policies = new Map<string, PolicyPeriod[]>();
  /** By subscription and partition. */
  readonly #partitions = new Map<string, ObservedPartition>();

  /** @param now Simulated milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A change of the policy begins. @returns to be called when it has ended: until then, both policies count */
  policyChanges(subscriptionId: string, policy: UnprocessableEventPolicy | undefined): () => void {
    const before = this.#policies.get(subscriptionId) ?? [];
    this.#policies.set(subscriptionId, [...before, { policy, until: Infinity }]);
    // A smaller maximum counts for what has failed already.
    for (const [name, partition] of this.#partitions) {
      if (name.startsWith(`${subscriptionId}/`)) this.#noteFailedOften(subscriptionId, partition);
    }
    return () => {
      for (const period of before) period.until = Math.min(period.until, this.#now());
    };
  }

  /** The one policy that the subscription has had since a time; undefined when it had none or several. */
  policySince(subscriptionId: string, time: number): UnprocessableEventPolicy | undefined {
    const [policy, ...others] = this.#policiesSince(subscriptionId, time);
    return others.length === 0 ? policy : undefined;
  }

  /** A stream has ended with an event that was not committed, and the store has counted that. */
  failed(subscriptionId: string, key: string, { offset, isSearched, fence }: ObservedFailure): void {
    const partition = this.#partition(subscriptionId, key);
    if (partition.failures.offset !== offset) {
      partition.failures = { offset, since: this.#now(), streams: 0, alone: 0, fence };
    }
    partition.failures.streams += 1;
    partition.failures.fence = fence;
    if (isSearched) partition.failures.alone += 1;
    this.#noteFailedOften(subscriptionId, partition);
  }

  /** A reset of the cursors: the count begins again. */
  reset(subscriptionId: string, key: string): void {
    const partition = this.#partition(subscriptionId, key);
    partition.failures = noFailures();
    partition.lostFailures = noFailures();
    partition.newLetters.clear();
  }

  /** The store has lost its data: it counts again. */
  lose(subscriptionId: string, key: string): void {
    const { failures } = this.#partition(subscriptionId, key);
    this.reset(subscriptionId, key);
    this.#partition(subscriptionId, key).lostFailures = failures;
  }

  /**
   * D3: an event that has failed often enough is not sent again.
   * @param since When the stream was opened. Simulated milliseconds.
   */
  checkSent(subscriptionId: string, key: string, offset: Offset, since: number): void {
    const { failures } = this.#partition(subscriptionId, key);
    const policy = this.policySince(subscriptionId, Math.min(since, failures.since));
    if (policy === undefined || failures.offset !== offset) return;
    if (failures.alone < policy.sendsMaximum && failures.streams < 2 * policy.sendsMaximum) return;
    throw new Violation(
      `D3: ${offset} of ${key} is sent again after ${failures.streams} failures, ${failures.alone} of them alone`,
    );
  }

  /** D1, D2: the service committed an event in the place of the consumer. */
  passedOver(subscriptionId: string, key: string, offset: Offset, fence: number): void {
    const partition = this.#partition(subscriptionId, key);
    const { failures, lostFailures, letters } = partition;
    const policies = this.#policiesSince(subscriptionId, this.#now() - decisionMillisecondsMaximum);
    const alone = [failures, lostFailures].find((counted) => counted.offset === offset)?.alone ?? 0;
    if (alone < this.#sendsMinimum(subscriptionId)) {
      throw new Violation(`D1: ${offset} of ${key} was passed over after ${alone} failures alone`);
    }
    if (policies.every((policy) => policy?.keepsDeadLetters === true) && !letters.has(offset)) {
      throw new Violation(`D2: ${offset} of ${key} was passed over without a dead letter`);
    }
    partition.passedOver.set(offset, fence);
  }

  /** D4: a letter was written for an event that had failed often enough, and has the event as it is stored. */
  letter(letter: ObservedLetter, published: string | undefined): void {
    const key = partitionKey(letter);
    const partition = this.#partition(letter.subscriptionId, key);
    const { offset, eid, event } = letter;
    if (event !== published) throw new Violation(`D4: the letter of ${offset} of ${key} has ${event}`);
    if (!partition.failedOften.has(offset)) {
      throw new Violation(`D4: a letter of ${offset} of ${key}, which has not failed often enough`);
    }
    const policies = this.#policiesSince(letter.subscriptionId, this.#now() - decisionMillisecondsMaximum);
    if (!policies.some((policy) => policy?.keepsDeadLetters === true)) {
      throw new Violation(`D4: a letter of ${offset} of ${key}, whose subscription wants none`);
    }
    const letters = partition.letters.get(offset) ?? [];
    if (letters.some((other) => other.eid !== eid))
      throw new Violation(`D4: ${offset} of ${key} has letters of two ids`);
    partition.letters.set(offset, [...letters, letter]);
    // A stream that has not heard of a reset or a loss writes the letter of what failed before.
    const { failures } = partition;
    if (failures.offset === offset && failures.alone >= this.#sendsMinimum(letter.subscriptionId)) {
      partition.newLetters.add(offset);
    }
  }

  /** D5: a consumer that was sent an event committed it. Then there is no letter of it since the last reset. */
  committedByConsumer(subscriptionId: string, key: string, offset: Offset): void {
    if (!this.#partition(subscriptionId, key).newLetters.has(offset)) return;
    throw new Violation(`D5: ${offset} of ${key} is a dead letter and was committed`);
  }

  /** A consumer whose filter does not want an event committed a position behind it. */
  passedOverByFilter(subscriptionId: string, key: string, offset: Offset): void {
    const { failedOften, passedOverByFilter } = this.#partition(subscriptionId, key);
    if (failedOften.has(offset)) passedOverByFilter.add(offset);
  }

  /**
   * D6: where nothing failed but consumers, each event with a letter was passed over, and each stream that had its
   * partition meanwhile wrote one letter at most.
   */
  checkLettersOnce(): void {
    for (const [key, { letters, passedOver, passedOverByFilter, failedOften }] of this.#partitions) {
      for (const [offset, { length }] of letters) {
        // Its letter was on its way when the consumer of another stream committed a later position.
        if (passedOverByFilter.has(offset)) continue;
        const fence = passedOver.get(offset);
        if (fence === undefined) throw new Violation(`D6: ${offset} of ${key} has a letter and was not passed over`);
        const owners = fence - (failedOften.get(offset) ?? fence);
        if (length > owners) throw new Violation(`D6: ${offset} of ${key} has ${length} letters of ${owners} streams`);
      }
    }
  }

  #noteFailedOften(subscriptionId: string, { failures, failedOften }: ObservedPartition): void {
    const { offset, alone, fence } = failures;
    if (alone >= this.#sendsMinimum(subscriptionId)) failedOften.set(offset, fence);
  }

  #sendsMinimum(subscriptionId: string): number {
    const policies = this.#policiesSince(subscriptionId, this.#now() - decisionMillisecondsMaximum);
    return Math.min(...policies.map((policy) => policy?.sendsMaximum ?? Infinity));
  }

  #policiesSince(subscriptionId: string, time: number): (UnprocessableEventPolicy | undefined)[] {
    const periods = this.#policies.get(subscriptionId) ?? [];
    return periods.filter(({ until }) => until >= time).map(({ policy }) => policy);
  }

  #partition(subscriptionId: string, key: string): ObservedPartition {
    const name = `${subscriptionId}/${key}`;
    const known = this.#partitions.get(name);
    if (known !== undefined) return known;
    const partition = {
      failures: noFailures(),
      lostFailures: noFailures(),
      failedOften: new Map<Offset, number>(),
      letters: new Map<Offset, ObservedLetter[]>(),
      newLetters: new Set<Offset>(),
      passedOver: new Map<Offset, number>(),
      passedOverByFilter: new Set<Offset>(),
    };
    this.#partitions.set(name, partition);
    return partition;
  }
}
