import type { CommittedOffset } from '../../ports/coordination.ts';
import { beforeFirst, formatOffset } from './cursor-text.ts';
import type { Offset, PartitionBounds } from '../../ports/event-log.ts';

/**
 * Why a commit may not name this position: no event beyond the end was ever delivered. Undefined when it may.
 * @param end The offset that the next event of the partition will get.
 */
export function beyondEndReason(position: CommittedOffset, end: Offset | undefined): string | undefined {
  return end !== undefined && position.offset < end
    ? undefined
    : unavailableMessage(position, 'it lies beyond the last event');
}

/**
 * Why reading cannot continue after this position: it lies beyond the end, or events after it are no longer held.
 * Undefined when it can. It always can at the position before the first event.
 */
export function unavailabilityReason(
  position: CommittedOffset,
  bounds: PartitionBounds | undefined,
): string | undefined {
  if (bounds !== undefined && position.offset !== beforeFirst && position.offset < bounds.earliest - 1) {
    return unavailableMessage(position, 'retention time of data elapsed');
  }
  return beyondEndReason(position, bounds?.latest);
}

function unavailableMessage({ eventType, partition, offset }: CommittedOffset, reason: string): string {
  return (
    `offset ${formatOffset(offset)} for partition ${partition} event type ${eventType} is unavailable as ${reason}. ` +
    'PATCH partition offset with valid and available offset'
  );
}
