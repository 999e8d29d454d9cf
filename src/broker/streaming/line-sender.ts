import { randomUUID } from 'node:crypto';
import { jsonLines, type LineFormat, type LineInfo, type LinePositions } from './line-format.ts';
import { ChunkBuilder, type Chunk } from './chunk-builder.ts';
import { dueBatch, sendAllowance, type BatchCause, type BatchRules } from './batch-rules.ts';
import { formatShortPositions, listedPartitionsMaximum } from '../cursors/short-positions.ts';
import type { AssignedPartitions } from './assigned-partitions.ts';
import { allowanceInTurn, sendingTurn, type SendingTurn } from './event-search.ts';
import type { StreamPartition } from './stream-partition.ts';

/** Lines are combined into one write up to about this size; a single line may be longer. Bytes. */
export const chunkBytesTarget = 256 * 1024;

/** Makes the lines of one stream from the events that wait in its partitions. */
export class LineSender implements LinePositions {
  /** Events sent in the lifetime of the stream. */
  sentEvents = 0;
  readonly #rules: BatchRules;
  readonly #assigned: AssignedPartitions;
  readonly #isAnnounced: boolean;
  readonly #format: LineFormat;
  #started = false;
  /** Index of the partition to begin with, so that none comes first every time. */
  #firstPartitionIndex = 0;
  /** The partition of the last line, and the token of its cursor. */
  #lastPartition: StreamPartition | undefined;
  #lastCursorToken = '';
  /** Whether an event that may be the one that fails was sent since the other partitions had their turn. */
  #wasSearched = false;

  /** @param isAnnounced Whether lines say that the stream started, what was passed over, and that memory is full. */
  constructor(rules: BatchRules, assigned: AssignedPartitions, isAnnounced = true, format: LineFormat = jsonLines) {
    this.#rules = rules;
    this.#assigned = assigned;
    this.#isAnnounced = isAnnounced;
    this.#format = format;
  }

  /**
   * The lines that are due now, as many as one write should have; undefined when none is.
   * @param lastInfo What the last of them says about the stream, asked for when they are sent.
   */
  nextChunk(now: number, lastInfo?: () => LineInfo | undefined): Chunk | undefined {
    const chunk = new ChunkBuilder();
    const info = this.#fill(chunk, now, false);
    if (chunk.size === 0) return undefined;
    this.#endLine(chunk, info ?? lastInfo?.());
    return chunk.build();
  }

  /**
   * The last bytes of the stream.
   * @param partitions Each gets a line without events. There must be one, unless waiting events go before.
   * @param info Of the last line.
   * @param flushing Whether waiting events that may be sent go before.
   * @param mayMove Whether these lines may have positions behind events that a filter passed over.
   */
  lastChunk(
    partitions: readonly StreamPartition[],
    info: LineInfo,
    now: number,
    flushing: boolean,
    mayMove = true,
  ): Chunk {
    const chunk = new ChunkBuilder();
    let previous = flushing ? this.#fill(chunk, now, true) : undefined;
    for (const partition of partitions) {
      if (chunk.size > 0) this.#endLine(chunk, previous);
      this.#beginLine(chunk, partition, 0, now, mayMove);
      previous = undefined;
    }
    this.#endLine(chunk, info);
    return chunk.build();
  }

  /**
   * Where a reader would continue that received the last line: its cursor, or, where the reader keeps its position
   * itself, the cursors of all partitions.
   */
  cursors(): string {
    const isCommitted = this.#rules.uncommittedEventsMaximum !== Infinity;
    const { list } = this.#assigned;
    if (!isCommitted && list.length > listedPartitionsMaximum) {
      return formatShortPositions(list.map(({ partition, sentThrough: offset }) => ({ partition, offset })));
    }
    const partitions = isCommitted ? [this.#lastPartition] : list;
    return `[${partitions.map((partition) => partition?.cursor(this.#lastCursorToken)).join(',')}]`;
  }

  /**
   * Puts due batches into the chunk, one of each partition in turn. The last line is left without its end: what it says
   * about the stream may depend on it.
   * @returns what the last line says about the stream in any case
   */
  #fill(chunk: ChunkBuilder, now: number, ending: boolean): LineInfo | undefined {
    const rules = this.#rules;
    const partitions = this.#assigned.list;
    const bytesTarget = ending ? Infinity : chunkBytesTarget;
    let allowance = sendAllowance(rules, this.#assigned.uncommittedEvents(), this.sentEvents);
    let info: LineInfo | undefined;
    this.#markOverflow();
    for (let sent = true; sent;) {
      sent = false;
      const turn = this.#turn(allowance, now, ending);
      for (let step = 0; step < partitions.length && chunk.size < bytesTarget; step += 1) {
        const partition = partitions[(this.#firstPartitionIndex + step) % partitions.length];
        if (partition === undefined) continue;
        // Without commits the limit of the stream is its end: not even a keep-alive follows.
        if (allowance === 0 && rules.uncommittedEventsMaximum === Infinity) return info;
        partition.updateEndedTimespan(rules.timespanMilliseconds);
        const allowed = partition.handOverUntil === undefined ? allowanceInTurn(turn, partition, allowance) : 0;
        const due = dueBatch(rules, partition, allowed, now, ending);
        if (due === undefined) continue;
        if (chunk.size > 0) this.#endLine(chunk, info);
        // While a search waits for a commit, positions to commit would restart the consumer's time, again and again.
        this.#beginLine(chunk, partition, due.events, now, turn !== 'none');
        info = this.#info(due.cause);
        partition.overflowing = false;
        this.sentEvents += due.events;
        allowance -= due.events;
        if (due.events > 0) sent = true;
      }
      if (sent && turn !== 'all') this.#wasSearched = turn !== 'others';
    }
    this.#firstPartitionIndex = partitions.length === 0 ? 0 : (this.#firstPartitionIndex + 1) % partitions.length;
    return info;
  }

  #beginLine(chunk: ChunkBuilder, partition: StreamPartition, events: number, now: number, mayMove = true): void {
    // A position that the consumer has to commit is no keep-alive.
    const isKeepAlive = events === 0 && !(mayMove && partition.isMovedByFilter);
    const start = isKeepAlive ? this.#format.keepAliveStart : this.#format.batchStart;
    if (start !== '') chunk.addText(start);
    this.#lastPartition = partition;
    this.#lastCursorToken = randomUUID();
    partition.writeLine(chunk, events, this.#lastCursorToken, now, mayMove);
  }

  #endLine(chunk: ChunkBuilder, info: LineInfo | undefined): void {
    chunk.addText(this.#format.lineEnd(info, this));
  }

  #turn(allowance: number, now: number, ending: boolean): SendingTurn<StreamPartition> {
    if (!this.#assigned.isSearching()) return 'all';
    const areDue = (partitions: readonly StreamPartition[]): boolean =>
      partitions.some((partition) => {
        const allowed = partition.handOverUntil === undefined ? allowance : 0;
        return (dueBatch(this.#rules, partition, allowed, now, ending)?.events ?? 0) > 0;
      });
    return sendingTurn(this.#assigned.list, areDue, this.#wasSearched, this.#firstPartitionIndex);
  }

  #info(cause: BatchCause): LineInfo | undefined {
    if (!this.#isAnnounced) return undefined;
    const notices = this.#assigned.notices.take();
    if (this.#started && notices.length === 0 && cause !== 'overflow') return undefined;
    const texts = this.#started ? [...notices] : ['Stream started', ...notices];
    this.#started = true;
    if (cause === 'overflow') texts.push('Stream parameters are causing overflow');
    return { debug: texts.join('; ') };
  }

  #markOverflow(): void {
    if (!this.#assigned.isFull()) return;
    const largest = this.#assigned.list.reduce((left, right) =>
      right.buffer.bytes > left.buffer.bytes ? right : left,
    );
    largest.overflowing = true;
  }
}
