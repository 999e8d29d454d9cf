import type { Offset, ReadOptions, ReadResult, TopicPartition } from '../../ports/event-log.ts';
import { PartitionChunks } from './chunks.ts';
import { PendingRead } from './pending-read.ts';
import type { PendingReadHolder } from './pending-read.ts';

/**
 * The pending reads at one position of one partition: they share what is asked and what is answered.
 *
 * A read begins among those that look: the next answer ends it when its time is up, and a question asked before the
 * read came does not count, because what was appended in between has to be seen. Once told that there is nothing, a
 * read that has time waits, and a long poll asks for it.
 */
export class ReadPosition implements PendingReadHolder {
  readonly offset: Offset;
  readonly #reads: PartitionReads;
  looking: PendingRead[] = [];
  /** Those whose question is under way. */
  asked: PendingRead[] = [];
  readonly waiting = new Set<PendingRead>();
  /** Nothing is asked while it is found out what an error means for this position. */
  isHeld = false;

  constructor(reads: PartitionReads, offset: Offset) {
    this.#reads = reads;
    this.offset = offset;
  }

  get wantsLook(): boolean {
    return this.looking.length > 0 && this.asked.length === 0 && !this.isHeld;
  }

  get wantsPoll(): boolean {
    return this.waiting.size > 0 && !this.isHeld;
  }

  /** How much the reads want to have. Bytes. */
  bytesWanted(): number {
    let bytes = 0;
    for (const reads of [this.looking, this.asked, this.waiting]) {
      for (const read of reads) bytes = Math.max(bytes, read.bytesMaximum);
    }
    return bytes;
  }

  /** Notes that the question of those that look is under way. */
  beginLook(): void {
    this.asked = this.looking;
    this.looking = [];
  }

  /** The question was not answered: it has to be asked again. */
  returnLook(): void {
    if (this.asked.length > 0) this.looking = [...this.asked, ...this.looking];
    this.asked = [];
  }

  /** The question was answered: there is nothing yet. */
  endLookEmpty(): void {
    const { asked } = this;
    this.asked = [];
    for (const read of asked) {
      if (read.isDue) read.answerNothing();
      else if (!read.isEnded) this.waiting.add(read);
    }
  }

  /** There is more than what was waited for. */
  lookAgain(): void {
    this.looking.push(...this.waiting);
    this.waiting.clear();
  }

  /** Gives up on reads that have looked for too long. */
  failDueBefore(dueAt: number, error: () => unknown): void {
    for (const read of this.looking) if (read.isDue && read.dueAt < dueAt) read.fail(error());
    this.looking = this.looking.filter(({ isEnded }) => !isEnded);
  }

  *all(): Iterable<PendingRead> {
    yield* this.asked;
    yield* this.looking;
    yield* this.waiting;
  }

  readDue(read: PendingRead): void {
    if (!this.waiting.delete(read)) return;
    read.answerNothing();
    this.#reads.forgetIfEmpty(this);
  }

  readLeft(read: PendingRead): void {
    if (this.waiting.delete(read)) this.#reads.forgetIfEmpty(this);
  }

  /** Reads that look and have ended by themselves are still counted: they are met again at the next answer. */
  get isEmpty(): boolean {
    return this.waiting.size === 0 && this.looking.length === 0 && this.asked.length === 0;
  }
}

/** Trouble with reading a partition, until the next good answer. */
export interface ReadTrouble {
  /** Monotonic milliseconds. */
  readonly since: number;
  /** When the next attempt is due. Monotonic milliseconds. */
  readonly retryAt: number;
  error: unknown;
  /** Another attempt is under way. */
  isTrying: boolean;
}

/** Everything there is to one partition that is or was lately read. Decides nothing about when to ask whom. */
export class PartitionReads implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly chunks = new PartitionChunks();
  /** In the order in which reads came to them. */
  readonly positions = new Map<Offset, ReadPosition>();
  /** The end for committed readers, as last told. It may have grown since. */
  end: Offset = -1;
  /** What has to be asked for so that the next batch fits, as far as it was found out. Bytes. */
  bytesMinimum: number;
  trouble: ReadTrouble | undefined;
  /** Since when the topic or partition is said not to exist. Monotonic milliseconds. */
  unknownSince: number | undefined;

  constructor({ topic, partition }: TopicPartition, bytesMinimum: number) {
    this.topic = topic;
    this.partition = partition;
    this.bytesMinimum = bytesMinimum;
  }

  join(offset: Offset, options: ReadOptions, now: number): Promise<ReadResult> {
    let position = this.positions.get(offset);
    if (position === undefined) {
      position = new ReadPosition(this, offset);
      this.positions.set(offset, position);
    }
    const at = position;
    return new Promise((resolve) => {
      const read = new PendingRead(at, options, now, resolve);
      // At the last known end a long poll answers as well as a look, and goes on waiting when there is nothing.
      if (!read.isDue && (offset === this.end || at.waiting.size > 0)) at.waiting.add(read);
      else at.looking.push(read);
    });
  }

  /** The position whose turn it is to be looked at: one per partition is all that a request may hold. */
  nextLook(): ReadPosition | undefined {
    for (const position of this.positions.values()) if (position.wantsLook) return position;
    return undefined;
  }

  /** The lowest position that is waited at: an answer for it tells of growth to those above as well. */
  lowestPoll(): ReadPosition | undefined {
    let lowest: ReadPosition | undefined;
    for (const position of this.positions.values()) {
      if (position.wantsPoll && (lowest === undefined || position.offset < lowest.offset)) lowest = position;
    }
    return lowest;
  }

  /** Answers every read whose position is in memory; those below the end that wait have to look. */
  serve(): void {
    for (const position of this.positions.values()) {
      if (this.#answerFromMemory(position)) this.positions.delete(position.offset);
      else if (position.offset < this.end && position.wantsPoll) position.lookAgain();
    }
  }

  #answerFromMemory(position: ReadPosition): boolean {
    let shared: ReadResult | undefined;
    let sharedBytesMaximum = -1;
    for (const read of position.all()) {
      if (read.isEnded) continue;
      if (read.bytesMaximum !== sharedBytesMaximum) {
        sharedBytesMaximum = read.bytesMaximum;
        shared = this.chunks.read(position.offset, read.bytesMaximum);
        if (shared === undefined) return false;
      }
      if (shared !== undefined) read.answer(shared);
    }
    return shared !== undefined || position.isEmpty;
  }

  fail(position: ReadPosition, error: unknown): void {
    this.positions.delete(position.offset);
    for (const read of position.all()) read.fail(error);
  }

  failAll(error: unknown): void {
    for (const position of this.positions.values()) this.fail(position, error);
  }

  forgetIfEmpty(position: ReadPosition): void {
    if (position.isEmpty && this.positions.get(position.offset) === position) this.positions.delete(position.offset);
  }
}
