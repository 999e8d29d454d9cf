import { isLendstreamError } from '../../errors.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';
import { noValue, type EventLog, type Offset, type PartitionBounds, type RecordBatch } from '../../ports/event-log.ts';

/**
 * Where the last event of a partition ends. What lies behind it is nothing that a consumer could commit: the markers
 * with which Kafka ends transactions, and the deletions of keys. Without this, a consumer of loan events that has
 * committed everything would lack something for ever.
 */

/** How many offsets behind the last event are recognised. More count as events until one follows. */
export const offsetsBehindEventsMaximum = 16;

/** The end of a partition's events, as it was looked up for one end of the partition. */
interface EventEnd {
  readonly latest: Offset;
  readonly end: Offset;
}

/** The ends that were looked up. An end counts until something is appended to its partition. */
export class EventEnds {
  readonly #log: Pick<EventLog, 'read'>;
  readonly #known = new Map<string, EventEnd>();

  constructor(log: Pick<EventLog, 'read'>) {
    this.#log = log;
  }

  /** How many events there may be from an offset on. Offsets count where the end of the events was not looked up. */
  eventsFrom(next: Offset, bounds: PartitionBounds): number {
    return Math.max(0, (this.#endOf(bounds) ?? bounds.latest) - next);
  }

  /** Whether {@link eventsFrom} may be too high for a reader that is close to the end, until {@link lookUp}. */
  isUnknownFrom(next: Offset, bounds: PartitionBounds): boolean {
    const { latest } = bounds;
    return next < latest && latest - next <= offsetsBehindEventsMaximum && this.#endOf(bounds) === undefined;
  }

  /**
   * Looks up where the events of a partition end. It reads as little as possible: one batch, when it has an event.
   * @throws LOG_UNAVAILABLE, LOG_CLOSED
   */
  async lookUp(bounds: PartitionBounds): Promise<void> {
    const { earliest, latest } = bounds;
    const first = Math.max(earliest, latest - offsetsBehindEventsMaximum);
    let end = latest;
    while (end > first && !(await this.#isEvent(bounds, end - 1))) end -= 1;
    this.#known.set(keyOf(bounds), { latest, end });
  }

  #endOf(bounds: PartitionBounds): Offset | undefined {
    const known = this.#known.get(keyOf(bounds));
    return known?.latest === bounds.latest ? known.end : undefined;
  }

  async #isEvent({ topic, partition }: PartitionBounds, offset: Offset): Promise<boolean> {
    try {
      const { batches } = await this.#log.read({ topic, partition, offset }, { bytesMaximum: 1, waitMilliseconds: 0 });
      const isEvent = batches.some((batch) => hasEventAt(batch, offset));
      for (const batch of batches) batch.release?.();
      return isEvent;
    } catch (error) {
      // Gone, or damaged: it counts as one.
      const mayBeLater = isLendstreamError(error, 'LOG_UNAVAILABLE') || isLendstreamError(error, 'LOG_CLOSED');
      if (mayBeLater || !isLendstreamError(error)) throw error;
      return true;
    }
  }
}

function hasEventAt({ offsets, valueStarts }: RecordBatch, offset: Offset): boolean {
  const index = offsets.indexOf(offset);
  return index !== -1 && valueStarts[index] !== noValue;
}

function keyOf({ topic, partition }: PartitionBounds): string {
  return partitionKey({ eventType: topic, partition });
}
