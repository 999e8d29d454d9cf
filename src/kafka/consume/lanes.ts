import type { Offset } from '../../ports/event-log.ts';
import type { BrokerAddress, KafkaConnections, Lane } from '../connection/connections.ts';
import {
  type FetchAnswer,
  type FetchPosition,
  type FetchedPartition,
  fetchRequest,
} from '../protocol/fetch-request.ts';
import type { PartitionReads, ReadPosition } from './positions.ts';
import { errorOf, protocolError } from '../protocol/errors.ts';

/**
 * How much one response to an immediate fetch may hold: decoding it keeps the event loop busy for some milliseconds.
 * Bytes.
 */
const lookBytesMaximum = 4 * 1024 * 1024;

/** How much one response to a poll may hold. A read that is further behind continues with immediate fetches. Bytes. */
const pollBytesMaximum = 1024 * 1024;

/** The most that is requested of one partition, unless its batches are larger. Bytes. */
const partitionBytesMaximum = 1024 * 1024;

/**
 * A poll under way takes in no further partition, so there are several polls, the longest first. A position where a
 * read begins to wait is polled at once, by a shorter poll. It moves to the next longer poll when nothing has come for
 * as long as its current poll waits. Nearly all partitions are quiet and end up in the longest poll, which costs two
 * requests per second. Active partitions share small polls that end often. Milliseconds.
 */
const pollLanes: readonly { readonly lane: Lane; readonly waitMilliseconds: number }[] = [
  { lane: 'long-poll', waitMilliseconds: 500 },
  { lane: 'middle-poll', waitMilliseconds: 50 },
  { lane: 'short-poll', waitMilliseconds: 5 },
];

/** How long to rest after an early and empty response, so that no broker can make this process spin. Milliseconds. */
const restMilliseconds = 25;

/** One partition's part of a request. */
export interface Asked {
  readonly reads: PartitionReads;
  readonly position: ReadPosition;
  /** True for an immediate fetch at this position, false for a poll. */
  readonly isLook: boolean;
}

/** Receives the outcome of each request, partition by partition. */
export interface LanesListener {
  /** The broker responded for the partition, possibly with an error code. */
  answered(asked: Asked, fetched: FetchedPartition, answer: FetchAnswer): void;
  /** The broker left the partition out of its response. */
  passedOver(asked: Asked): void;
  /** There was no response. */
  unanswered(asked: Asked, error: unknown): void;
}

/** A long poll and its partitions, which stay in it as long as reads wait for them. */
interface Poll {
  readonly lane: Lane;
  readonly waitMilliseconds: number;
  /** The next shorter poll. Its partitions move here when they are quiet. */
  shorter: Poll | undefined;
  members: Set<PartitionReads>;
  isUnderWay: boolean;
}

/** Which poll requests a partition. */
interface Polled {
  readonly poll: Poll;
  readonly from: Offset;
  /** When the partition was first polled from here. Monotonic milliseconds. */
  readonly since: number;
}

/** Fetches from one broker everything that is read of the partitions it leads. */
export class BrokerLanes {
  readonly #address: BrokerAddress;
  readonly #connections: KafkaConnections;
  readonly #listener: LanesListener;
  readonly #monotonic: () => number;
  /** Partitions with reads that need an immediate fetch, in the order of their turns. */
  readonly #lookers = new Set<PartitionReads>();
  #isLooking = false;
  readonly #polls: readonly Poll[];
  readonly #polled = new Map<PartitionReads, Polled>();
  /** Partitions where reads wait and that are in no poll. */
  readonly #unpolled = new Set<PartitionReads>();
  #isScheduled = false;

  constructor(address: BrokerAddress, connections: KafkaConnections, listener: LanesListener, monotonic: () => number) {
    this.#address = address;
    this.#connections = connections;
    this.#listener = listener;
    this.#monotonic = monotonic;
    let shorter: Poll | undefined;
    this.#polls = pollLanes
      .toReversed()
      .map((lane) => (shorter = { ...lane, shorter, members: new Set(), isUnderWay: false }))
      .toReversed();
  }

  /** Queues what the reads of a partition need now. */
  place(reads: PartitionReads): void {
    if (reads.nextLook() !== undefined) this.#lookers.add(reads);
    const lowest = reads.lowestPoll();
    if (lowest !== undefined) {
      const polled = this.#polled.get(reads);
      if (polled === undefined || polled.from > lowest.offset) this.#unpolled.add(reads);
    }
    if (this.#lookers.size > 0 || this.#unpolled.size > 0) this.#schedule();
  }

  /** Stops asking this broker about the partition. */
  forget(reads: PartitionReads): void {
    this.#lookers.delete(reads);
    this.#unpolled.delete(reads);
    this.#polled.delete(reads);
  }

  /** Reads that come together go into one request, including those that directly follow a response. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isLooking && this.#lookers.size > 0) this.#look();
      for (const poll of this.#polls) if (!poll.isUnderWay) this.#poll(poll);
    });
  }

  #look(): void {
    const asked: Asked[] = [];
    for (const reads of this.#lookers) {
      const position = reads.nextLook();
      if (position === undefined) continue;
      position.beginLook();
      asked.push({ reads, position, isLook: true });
    }
    this.#lookers.clear();
    if (asked.length === 0) return;
    this.#isLooking = true;
    void this.#ask('catch-up', 0, lookBytesMaximum, asked).then((wasPassedOver) => {
      const end = (): void => {
        this.#isLooking = false;
        this.#schedule();
      };
      if (wasPassedOver) setTimeout(end, restMilliseconds);
      else end();
    });
  }

  #poll(poll: Poll): void {
    const startedAt = this.#monotonic();
    this.#gather(poll, startedAt);
    const asked: Asked[] = [];
    for (const reads of poll.members) {
      const position = reads.lowestPoll();
      if (position !== undefined) asked.push({ reads, position, isLook: false });
    }
    if (asked.length === 0) return;
    poll.isUnderWay = true;
    void this.#ask(poll.lane, poll.waitMilliseconds, pollBytesMaximum, asked).then((wasFruitless) => {
      const end = (): void => {
        poll.isUnderWay = false;
        this.#schedule();
      };
      if (wasFruitless && this.#monotonic() - startedAt < poll.waitMilliseconds / 2) setTimeout(end, restMilliseconds);
      else end();
    });
  }

  /** Updates the members of a poll to the partitions that it should request now. */
  #gather(poll: Poll, now: number): void {
    const members = new Set<PartitionReads>();
    const take = (reads: PartitionReads, polled: Polled | undefined): void => {
      const lowest = reads.lowestPoll();
      if (lowest === undefined) {
        this.#polled.delete(reads);
        return;
      }
      const since = polled?.from === lowest.offset ? polled.since : now;
      this.#polled.set(reads, { poll, from: lowest.offset, since });
      members.add(reads);
    };
    for (const reads of poll.members) {
      const polled = this.#polled.get(reads);
      if (polled?.poll === poll) take(reads, polled);
    }
    for (let shorter = poll.shorter; shorter !== undefined; shorter = shorter.shorter) {
      for (const reads of shorter.members) {
        const polled = this.#polled.get(reads);
        if (polled?.poll === shorter && now - polled.since >= (poll.shorter?.waitMilliseconds ?? 0))
          take(reads, polled);
      }
    }
    // The longest poll is for quiet partitions alone: if an active one ended it, all of them would have to be requested
    // again.
    if (poll !== this.#polls[0]) {
      for (const reads of this.#unpolled) take(reads, undefined);
      this.#unpolled.clear();
    }
    poll.members = members;
  }

  /**
   * @returns for a poll, whether the broker responded with nothing for any partition, not even an error; for an
   *   immediate fetch, whether it left a partition out of its response
   */
  async #ask(lane: Lane, waitMilliseconds: number, bytesMaximum: number, asked: readonly Asked[]): Promise<boolean> {
    const positions = positionsOf(asked);
    let answer: FetchAnswer;
    try {
      answer = await this.#connections.send(
        this.#address,
        lane,
        fetchRequest(positions, { waitMilliseconds, bytesMaximum }),
      );
      if (answer.errorCode !== protocolError.none) throw errorOf(answer.errorCode, 'Fetching');
    } catch (error) {
      for (const each of asked) this.#listener.unanswered(each, error);
      return false;
    }
    let isFruitless = true;
    for (const fetched of answer.partitions) {
      const partitions = positions.get(fetched.topic);
      const each = partitions?.get(fetched.partition)?.asked;
      if (each === undefined) continue;
      partitions?.delete(fetched.partition);
      if (fetched.end > fetched.start || fetched.errorCode !== protocolError.none) {
        isFruitless = false;
        this.#polled.delete(each.reads);
      }
      this.#listener.answered(each, fetched, answer);
    }
    let wasPassedOver = false;
    for (const partitions of positions.values()) {
      for (const each of partitions.values()) {
        wasPassedOver = true;
        this.#listener.passedOver(each.asked);
      }
    }
    return waitMilliseconds > 0 ? isFruitless : wasPassedOver;
  }
}

interface AskedPosition extends FetchPosition {
  readonly asked: Asked;
}

function positionsOf(asked: readonly Asked[]): Map<string, Map<number, AskedPosition>> {
  const topics = new Map<string, Map<number, AskedPosition>>();
  for (const each of asked) {
    const { reads, position } = each;
    const bytes = Math.min(position.bytesWanted(), partitionBytesMaximum);
    const question = { offset: position.offset, bytesMaximum: Math.max(bytes, reads.bytesMinimum), asked: each };
    const partitions = topics.get(reads.topic);
    if (partitions === undefined) topics.set(reads.topic, new Map([[reads.partition, question]]));
    else partitions.set(reads.partition, question);
  }
  return topics;
}
