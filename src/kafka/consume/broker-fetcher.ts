import { type Clock, after, giveWay } from '../../clock.ts';
import type { Offset } from '../../ports/event-log.ts';
import type { BrokerAddress, RequestSender, ConnectionPurpose } from '../connection/connections.ts';
import {
  type FetchResponse,
  type FetchPosition,
  type FetchedPartition,
  fetchRequest,
} from '../protocol/fetch-request.ts';
import type { PartitionReads, ReadPosition } from './reads-by-position.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';

/**
 * How much one response to an immediate fetch may hold: decoding it keeps the event loop busy for some milliseconds.
 * Bytes.
 */
const immediateBytesMaximum = 4 * 1024 * 1024;

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
const pollTiers: readonly { readonly purpose: ConnectionPurpose; readonly waitMilliseconds: number }[] = [
  { purpose: 'long-poll', waitMilliseconds: 500 },
  { purpose: 'middle-poll', waitMilliseconds: 50 },
  { purpose: 'short-poll', waitMilliseconds: 5 },
];

/** How long to rest after an early and empty response, so that no broker can make this process spin. Milliseconds. */
const emptyResponsePauseMilliseconds = 25;

/** One partition's part of a request. */
export interface RequestedPartition {
  readonly reads: PartitionReads;
  readonly position: ReadPosition;
  /** True for an immediate fetch at this position, false for a poll. */
  readonly isImmediate: boolean;
}

/** Receives the outcome of each request, partition by partition. */
export interface FetchListener {
  /** The broker responded for the partition, possibly with an error code. */
  onResponse(requested: RequestedPartition, fetched: FetchedPartition, response: FetchResponse): void;
  /** The broker left the partition out of its response. */
  onOmitted(requested: RequestedPartition): void;
  /** There was no response. */
  onFailure(requested: RequestedPartition, error: unknown): void;
}

/** A long poll and its partitions, which stay in it as long as reads wait for them. */
interface Poll {
  readonly purpose: ConnectionPurpose;
  readonly waitMilliseconds: number;
  /** The next shorter poll. Its partitions move here when they are quiet. */
  shorter: Poll | undefined;
  members: Set<PartitionReads>;
  isUnderWay: boolean;
}

/** Which poll requests a partition. */
interface PolledPartition {
  readonly poll: Poll;
  readonly from: Offset;
  /** When the partition was first polled from here. Monotonic milliseconds. */
  readonly since: number;
}

/** Fetches from one broker everything that is read of the partitions it leads. */
export class BrokerFetcher {
  readonly #address: BrokerAddress;
  readonly #connections: RequestSender;
  readonly #listener: FetchListener;
  readonly #clock: Clock;
  /** Partitions with reads that need an immediate fetch, in the order of their turns. */
  readonly #immediateQueue = new Set<PartitionReads>();
  #isImmediateUnderWay = false;
  readonly #polls: readonly Poll[];
  readonly #polled = new Map<PartitionReads, PolledPartition>();
  /** Partitions where reads wait and that are in no poll. */
  readonly #unpolled = new Set<PartitionReads>();
  #isSendScheduled = false;

  constructor(address: BrokerAddress, connections: RequestSender, listener: FetchListener, clock: Clock) {
    this.#address = address;
    this.#connections = connections;
    this.#listener = listener;
    this.#clock = clock;
    let shorter: Poll | undefined;
    this.#polls = pollTiers
      .toReversed()
      .map((tier) => (shorter = { ...tier, shorter, members: new Set(), isUnderWay: false }))
      .toReversed();
  }

  /** Queues what the reads of a partition need now. */
  schedule(reads: PartitionReads): void {
    if (reads.nextImmediateFetch() !== undefined) this.#immediateQueue.add(reads);
    const lowest = reads.lowestPolledPosition();
    if (lowest !== undefined) {
      const polled = this.#polled.get(reads);
      if (polled === undefined || polled.from > lowest.offset) this.#unpolled.add(reads);
    }
    if (this.#immediateQueue.size > 0 || this.#unpolled.size > 0) this.#sendSoon();
  }

  /** Stops asking this broker about the partition. */
  forget(reads: PartitionReads): void {
    this.#immediateQueue.delete(reads);
    this.#unpolled.delete(reads);
    this.#polled.delete(reads);
  }

  /** Reads that come together go into one request, including those that directly follow a response. */
  #sendSoon(): void {
    if (this.#isSendScheduled) return;
    this.#isSendScheduled = true;
    void giveWay().then(() => {
      this.#isSendScheduled = false;
      if (!this.#isImmediateUnderWay && this.#immediateQueue.size > 0) this.#fetchImmediately();
      for (const poll of this.#polls) if (!poll.isUnderWay) this.#poll(poll);
    });
  }

  #fetchImmediately(): void {
    const requested: RequestedPartition[] = [];
    for (const reads of this.#immediateQueue) {
      const position = reads.nextImmediateFetch();
      if (position === undefined) continue;
      position.beginImmediateFetch();
      requested.push({ reads, position, isImmediate: true });
    }
    this.#immediateQueue.clear();
    if (requested.length === 0) return;
    this.#isImmediateUnderWay = true;
    void this.#fetch('catch-up', 0, immediateBytesMaximum, requested).then((wasOmitted) => {
      const end = (): void => {
        this.#isImmediateUnderWay = false;
        this.#sendSoon();
      };
      if (wasOmitted) after(this.#clock, emptyResponsePauseMilliseconds, end);
      else end();
    });
  }

  #poll(poll: Poll): void {
    const startedAt = this.#clock.monotonic();
    this.#updateMembers(poll, startedAt);
    const requested: RequestedPartition[] = [];
    for (const reads of poll.members) {
      const position = reads.lowestPolledPosition();
      if (position !== undefined) requested.push({ reads, position, isImmediate: false });
    }
    if (requested.length === 0) return;
    poll.isUnderWay = true;
    void this.#fetch(poll.purpose, poll.waitMilliseconds, pollBytesMaximum, requested).then((wasEmpty) => {
      const end = (): void => {
        poll.isUnderWay = false;
        this.#sendSoon();
      };
      if (wasEmpty && this.#clock.monotonic() - startedAt < poll.waitMilliseconds / 2)
        after(this.#clock, emptyResponsePauseMilliseconds, end);
      else end();
    });
  }

  /** Updates the members of a poll to the partitions that it should request now. */
  #updateMembers(poll: Poll, now: number): void {
    const members = new Set<PartitionReads>();
    const addMember = (reads: PartitionReads, polled: PolledPartition | undefined): void => {
      const lowest = reads.lowestPolledPosition();
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
      if (polled?.poll === poll) addMember(reads, polled);
    }
    for (let shorter = poll.shorter; shorter !== undefined; shorter = shorter.shorter) {
      for (const reads of shorter.members) {
        const polled = this.#polled.get(reads);
        if (polled?.poll === shorter && now - polled.since >= (poll.shorter?.waitMilliseconds ?? 0))
          addMember(reads, polled);
      }
    }
    // The longest poll is for quiet partitions alone: if an active one ended it, all of them would have to be requested
    // again.
    if (poll !== this.#polls[0]) {
      for (const reads of this.#unpolled) addMember(reads, undefined);
      this.#unpolled.clear();
    }
    poll.members = members;
  }

  /**
   * @returns for a poll, whether the broker responded with nothing for any partition, not even an error; for an
   *   immediate fetch, whether it left a partition out of its response
   */
  async #fetch(
    purpose: ConnectionPurpose,
    waitMilliseconds: number,
    bytesMaximum: number,
    requested: readonly RequestedPartition[],
  ): Promise<boolean> {
    const positions = positionsOf(requested);
    let response: FetchResponse;
    try {
      response = await this.#connections.send(
        this.#address,
        purpose,
        fetchRequest(positions, { waitMilliseconds, bytesMaximum }),
      );
      if (response.errorCode !== protocolError.none) throw errorOf(response.errorCode, 'Fetching');
    } catch (error) {
      for (const each of requested) this.#listener.onFailure(each, error);
      return false;
    }
    let isEmpty = true;
    for (const fetched of response.partitions) {
      const partitions = positions.get(fetched.topic);
      const each = partitions?.get(fetched.partition)?.asked;
      if (each === undefined) continue;
      partitions?.delete(fetched.partition);
      if (fetched.end > fetched.start || fetched.errorCode !== protocolError.none) {
        isEmpty = false;
        this.#polled.delete(each.reads);
      }
      this.#listener.onResponse(each, fetched, response);
    }
    // Readers that need it longer have retained it.
    response.memory?.shared.release();
    let wasOmitted = false;
    for (const partitions of positions.values()) {
      for (const each of partitions.values()) {
        wasOmitted = true;
        this.#listener.onOmitted(each.asked);
      }
    }
    return waitMilliseconds > 0 ? isEmpty : wasOmitted;
  }
}

interface RequestedPosition extends FetchPosition {
  readonly asked: RequestedPartition;
}

function positionsOf(requested: readonly RequestedPartition[]): Map<string, Map<number, RequestedPosition>> {
  const topics = new Map<string, Map<number, RequestedPosition>>();
  for (const each of requested) {
    const { reads, position } = each;
    const bytes = Math.min(position.bytesWanted, partitionBytesMaximum);
    const requestedPosition = {
      offset: position.offset,
      bytesMaximum: Math.max(bytes, reads.bytesMinimum),
      asked: each,
    };
    const partitions = topics.get(reads.topic);
    if (partitions === undefined) topics.set(reads.topic, new Map([[reads.partition, requestedPosition]]));
    else partitions.set(reads.partition, requestedPosition);
  }
  return topics;
}
