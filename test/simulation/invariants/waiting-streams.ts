import type { OpenSessionResult, Session, Topology } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import { leaseMilliseconds } from '../simulated-process.ts';
import { Violation } from './violation.ts';

/** A request to the store to open a session, and its answer. */
export interface ObservedOpening {
  readonly session: Session;
  /** How long it keeps its place if it is refused; 0 when it does not wait. Milliseconds. */
  readonly placeMilliseconds: number;
  readonly result: OpenSessionResult;
  /** The state before. */
  readonly topology: Topology;
  /** When it was decided, on the clock of the store. Milliseconds. */
  readonly decidedAt: number;
}

interface Place {
  readonly nodeId: string;
  until: number;
  /**
   * It was over at a time. The store forgets it only when another stream asks, so that it may be there again, or may
   * have been lost to those behind it.
   */
  isUncertain: boolean;
}

/**
 * How long the stream that has waited longest may not notice a free slot while everything works: its process may have
 * died, and then its place ends with the lease. Milliseconds.
 */
const unnoticedMillisecondsMaximum = leaseMilliseconds + 5_000;

/** The same where no process dies and no message is lost, slow or late: a few messages. Milliseconds. */
const untoldMillisecondsMaximum = 250;

/**
 * The invariants of the streams of one subscription that wait for a slot: the first that came is the first that gets
 * one.
 */
export class WaitingStreams {
  /** When the lease of a node ends, on the clock of the store. */
  readonly #leaseEndsAt: (nodeId: string) => number;
  /** By stream, in the order in which they came. */
  readonly #places = new Map<string, Place>();
  /** The stream that has waited longest, and since when there has been a slot for it. */
  #next: { readonly streamId: string; readonly since: number } | undefined;

  constructor(leaseEndsAt: (nodeId: string) => number) {
    this.#leaseEndsAt = leaseEndsAt;
  }

  /** W1: no stream gets a slot for which others have waited longer. W2: none is refused a free slot. */
  asked({ session, placeMilliseconds, result, topology, decidedAt }: ObservedOpening): void {
    const { streamId, nodeId, requestedPartitions } = session;
    // A stream that names partitions has no place. One that is open already asks again after a lost answer.
    if (requestedPartitions.length > 0 || topology.sessions.some((open) => open.streamId === streamId)) return;
    const { surely, perhaps } = this.#before(streamId, decidedAt);
    const free = freeSlots(topology);
    if (result.outcome === 'opened') {
      if (surely >= free) throw new Violation(`W1: ${streamId} got one of ${free} slots before ${surely} that waited`);
      this.#places.delete(streamId);
      return;
    }
    if (!topology.resetting && perhaps < free) {
      throw new Violation(`W2: ${streamId} was refused one of ${free} free slots, with ${perhaps} before it`);
    }
    if (placeMilliseconds === 0) return;
    const until = decidedAt + placeMilliseconds;
    const place = this.#places.get(streamId);
    if (place === undefined) this.#places.set(streamId, { nodeId, until, isUncertain: false });
    else place.until = until;
  }

  gaveUp(streamId: string): void {
    this.#places.delete(streamId);
  }

  /** The store has lost its data. */
  forget(): void {
    this.#places.clear();
    this.#next = undefined;
  }

  /** W3: while everything works, the stream that has waited longest takes a free slot soon. */
  checkNoticed(topology: Topology, now: number): void {
    this.#noteNext(topology, now);
    this.#checkNext('W3', now, unnoticedMillisecondsMaximum);
  }

  /** W4: where nothing ever fails, it takes it at once. To be called after each change of the store. */
  checkToldAtOnce(topology: Topology, now: number): void {
    // First: the change may be that it has taken the slot, too late.
    this.#checkNext('W4', now, untoldMillisecondsMaximum);
    this.#noteNext(topology, now);
  }

  #noteNext(topology: Topology, now: number): void {
    const waiting = this.#waiting(now);
    const position = waiting.findIndex(({ isUncertain }) => !isUncertain);
    const next = waiting[position];
    if (next === undefined || topology.resetting || freeSlots(topology) <= position) this.#next = undefined;
    else if (this.#next?.streamId !== next.streamId) this.#next = { streamId: next.streamId, since: now };
  }

  #checkNext(invariant: string, now: number, millisecondsMaximum: number): void {
    if (this.#next === undefined || now - this.#next.since <= millisecondsMaximum) return;
    const { streamId, since } = this.#next;
    throw new Violation(`${invariant}: ${streamId} has not taken a free slot since ${since}`);
  }

  /** How many streams have waited longer, at least and at most. */
  #before(streamId: string, now: number): { readonly surely: number; readonly perhaps: number } {
    const waiting = this.#waiting(now);
    const others = waiting.filter((each) => each.streamId !== streamId);
    const place = waiting.findIndex((each) => each.streamId === streamId);
    const before = place === -1 ? others : others.slice(0, place);
    return {
      surely: before.filter(({ isUncertain }) => !isUncertain).length,
      perhaps: waiting[place]?.isUncertain === true ? others.length : before.length,
    };
  }

  /** Those whose places are not over, in the order in which they came. */
  #waiting(now: number): readonly { readonly streamId: string; readonly isUncertain: boolean }[] {
    return [...this.#places].flatMap(([streamId, place]) => {
      const isOver = place.until <= now || this.#leaseEndsAt(place.nodeId) <= now;
      if (isOver) place.isUncertain = true;
      return isOver ? [] : [{ streamId, isUncertain: place.isUncertain }];
    });
  }
}

/** The slots for streams that take any partition. */
function freeSlots({ sessions, partitions }: Topology): number {
  const requested = new Set(sessions.flatMap(({ requestedPartitions }) => requestedPartitions.map(partitionKey)));
  const taken = sessions.filter(({ requestedPartitions }) => requestedPartitions.length === 0).length;
  return Math.max(0, partitions.length - requested.size - taken);
}
