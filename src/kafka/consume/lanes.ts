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
 * How much one answer to those that look may hold: decoding it keeps the event loop busy for some milliseconds. Bytes.
 */
const lookBytesMaximum = 4 * 1024 * 1024;

/** How much one answer to a poll may hold: who is further behind goes on by looking. Bytes. */
const pollBytesMaximum = 1024 * 1024;

/** How much of one partition is asked for at most, unless its batches are larger. Bytes. */
const partitionBytesMaximum = 1024 * 1024;

/**
 * A poll that is under way takes no other partition in, so there are several, the longest first. A position at which
 * somebody begins to wait is polled by a shorter one at once, and moves to the next longer when nothing has come for as
 * long as its own waits. Nearly everything lies quiet in the longest, which costs two requests per second; what is
 * lively shares small polls that end often. Milliseconds.
 */
const pollLanes: readonly { readonly lane: Lane; readonly waitMilliseconds: number }[] = [
  { lane: 'long-poll', waitMilliseconds: 500 },
  { lane: 'middle-poll', waitMilliseconds: 50 },
  { lane: 'short-poll', waitMilliseconds: 5 },
];

/**
 * How long to rest after an answer that came early and brought nothing, so that no broker makes us spin. Milliseconds.
 */
const restMilliseconds = 25;

/** What a request asks of one partition. */
export interface Asked {
  readonly reads: PartitionReads;
  readonly position: ReadPosition;
  /** For those that look at this position; else for those that wait there. */
  readonly isLook: boolean;
}

/** What comes of the questions. */
export interface LanesListener {
  /** The broker answered for the partition, maybe with an error code. */
  answered(asked: Asked, fetched: FetchedPartition, answer: FetchAnswer): void;
  /** The broker left the partition out of its answer. */
  passedOver(asked: Asked): void;
  /** There was no answer. */
  unanswered(asked: Asked, error: unknown): void;
}

/** A long poll and the partitions in it, which stay as long as they are waited for. */
interface Poll {
  readonly lane: Lane;
  readonly waitMilliseconds: number;
  /** The next shorter poll, whose partitions move here when they are quiet. */
  shorter: Poll | undefined;
  members: Set<PartitionReads>;
  isUnderWay: boolean;
}

/** Which poll asks for a partition. */
interface Polled {
  readonly poll: Poll;
  readonly from: Offset;
  /** When the partition was first polled from here. Monotonic milliseconds. */
  readonly since: number;
}

/** Asks one broker for everything that is read of the partitions it leads. */
export class BrokerLanes {
  readonly #address: BrokerAddress;
  readonly #connections: KafkaConnections;
  readonly #listener: LanesListener;
  readonly #monotonic: () => number;
  /** Partitions at which somebody looks, in the order of their turns. */
  readonly #lookers = new Set<PartitionReads>();
  #isLooking = false;
  readonly #polls: readonly Poll[];
  readonly #polled = new Map<PartitionReads, Polled>();
  /** Partitions at which somebody waits and which no poll has. */
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

  /** Takes up what the reads of a partition want now. */
  place(reads: PartitionReads): void {
    if (reads.nextLook() !== undefined) this.#lookers.add(reads);
    const lowest = reads.lowestPoll();
    if (lowest !== undefined) {
      const polled = this.#polled.get(reads);
      if (polled === undefined || polled.from > lowest.offset) this.#unpolled.add(reads);
    }
    if (this.#lookers.size > 0 || this.#unpolled.size > 0) this.#schedule();
  }

  /** This broker is not asked about the partition any more. */
  forget(reads: PartitionReads): void {
    this.#lookers.delete(reads);
    this.#unpolled.delete(reads);
    this.#polled.delete(reads);
  }

  /** Reads that come together are asked together, those that follow an answer at once among them. */
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

  /** Makes the members of a poll those that it should ask for now. */
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
    // The longest poll is for the quiet alone: whatever it took in would have to be asked again with all of them.
    if (poll !== this.#polls[0]) {
      for (const reads of this.#unpolled) take(reads, undefined);
      this.#unpolled.clear();
    }
    poll.members = members;
  }

  /** @returns whether the broker answered and had nothing for any partition, not even an error */
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
