import { randomUUID } from 'node:crypto';
import { ChunkBuilder, type Chunk, type LineInfo } from './batch-line.ts';
import { dueBatch, sendAllowance, type BatchCause } from './batches.ts';
import type { AssignedPartitions } from './assigned-partitions.ts';
import type { StreamParameters } from './parameters.ts';
import type { StreamPartition } from './partition.ts';
import { bufferBytesMaximum } from './reads.ts';

/** Lines are combined into one write up to about this size; a single line may be longer. Bytes. */
const chunkBytesTarget = 256 * 1024;

/** Makes the lines of one stream from the events that wait in its partitions. */
export class StreamSender {
  /** Events sent in the lifetime of the stream. */
  sentEvents = 0;
  readonly #parameters: StreamParameters;
  readonly #assigned: AssignedPartitions;
  #started = false;
  /** Index of the partition to begin with, so that none comes first every time. */
  #firstPartitionIndex = 0;

  constructor(parameters: StreamParameters, assigned: AssignedPartitions) {
    this.#parameters = parameters;
    this.#assigned = assigned;
  }

  /** The lines that are due now, as many as one write should have; undefined when none is. */
  nextChunk(now: number): Chunk | undefined {
    const chunk = new ChunkBuilder();
    this.#fill(chunk, now, false);
    return chunk.size === 0 ? undefined : chunk.build();
  }

  /**
   * The last bytes of the stream.
   * @param lastLinePartition The partition whose cursor the last line carries.
   * @param flushing Whether waiting events that may be sent go before it.
   */
  lastChunk(lastLinePartition: StreamPartition, info: LineInfo, now: number, flushing: boolean): Chunk {
    const chunk = new ChunkBuilder();
    if (flushing) this.#fill(chunk, now, true);
    lastLinePartition.writeLastLine(chunk, randomUUID(), info);
    return chunk.build();
  }

  /** Puts due batches into the chunk, one of each partition in turn. */
  #fill(chunk: ChunkBuilder, now: number, ending: boolean): void {
    const rules = this.#parameters;
    const partitions = this.#assigned.list;
    const bytesTarget = ending ? Infinity : chunkBytesTarget;
    let allowance = sendAllowance(rules, this.#assigned.uncommittedEvents(), this.sentEvents);
    this.#markOverflow();
    for (let sent = true; sent && chunk.size < bytesTarget;) {
      sent = false;
      for (let step = 0; step < partitions.length && chunk.size < bytesTarget; step += 1) {
        const partition = partitions[(this.#firstPartitionIndex + step) % partitions.length];
        if (partition === undefined) continue;
        if (rules.timespanMilliseconds > 0) partition.updateEndedTimespan(rules.timespanMilliseconds);
        const due = dueBatch(rules, partition, partition.handOverUntil === undefined ? allowance : 0, now, ending);
        if (due === undefined) continue;
        partition.writeLine(chunk, due.events, randomUUID(), this.#info(due.cause), now);
        partition.overflowing = false;
        this.sentEvents += due.events;
        allowance -= due.events;
        if (due.events > 0) sent = true;
      }
    }
    this.#firstPartitionIndex = partitions.length === 0 ? 0 : (this.#firstPartitionIndex + 1) % partitions.length;
  }

  #info(cause: BatchCause): LineInfo | undefined {
    const notices = this.#assigned.takeNotices();
    if (this.#started && notices.length === 0 && cause !== 'overflow') return undefined;
    const texts = this.#started ? [...notices] : ['Stream started', ...notices];
    this.#started = true;
    if (cause === 'overflow') texts.push('Stream parameters are causing overflow');
    return { debug: texts.join('; ') };
  }

  #markOverflow(): void {
    if (this.#assigned.bufferedBytes() < bufferBytesMaximum) return;
    const largest = this.#assigned.list.reduce((left, right) =>
      right.buffer.bytes > left.buffer.bytes ? right : left,
    );
    largest.overflowing = true;
  }
}
