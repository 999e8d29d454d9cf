import type { Offset } from '../../../src/ports/event-log.ts';
import type { ObservedLine, ObservedStream, SubscribedPartition } from './observed-subscriptions.ts';
import { Violation } from './violation.ts';

/**
 * How much later than its flush timeout an event may reach a client while everything works: a few messages, and clocks
 * that differ by one percent.
 */
const delayMillisecondsMaximum = 250;

/** How long a new owner may take until it reads. */
const takeoverMillisecondsMaximum = 1_000;

/** I10: an event that its stream could deliver at once is not later than its flush timeout. */
export function checkDelay(
  { rules }: ObservedStream,
  { published, owner }: SubscribedPartition,
  { streamId, subscriptionId }: ObservedLine,
  offset: Offset,
  key: string,
  nowMilliseconds: number,
): void {
  const publishedAt = published.aloneSince.get(offset);
  if (publishedAt === undefined || owner?.streamId !== streamId) return;
  if (owner.since > publishedAt - takeoverMillisecondsMaximum) return;
  const late = nowMilliseconds - publishedAt - rules.flushMilliseconds;
  if (late <= delayMillisecondsMaximum) return;
  throw new Violation(`I10: ${offset} of ${key} reached ${streamId} of ${subscriptionId} ${late} ms too late`);
}
