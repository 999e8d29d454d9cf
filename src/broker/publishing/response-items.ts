import type { Offset } from '../../ports/event-log.ts';

export type PublishingStep = 'none' | 'validating' | 'partitioning' | 'enriching' | 'publishing';

/** The outcome of one event (snake_case is the API's). */
export interface PublishedItem {
  readonly publishing_status: 'submitted' | 'failed' | 'aborted';
  readonly detail: string;
  readonly step: PublishingStep;
  /** Empty when the event has none. */
  readonly eid: string;
  readonly partition: string | null;
  /** The offset of a submitted event. */
  readonly offset?: Offset;
  /** Whether the same event can be stored later; absent where the status says it, see {@link isRetryable}. */
  readonly retryable?: boolean;
}

/**
 * Whether sending the event again, as it is, can succeed. Of an event that was not stored because of another one,
 * nothing is known to be wrong.
 */
export function isRetryable({ publishing_status: status, retryable }: PublishedItem): boolean {
  return retryable ?? status === 'aborted';
}

/** Makes an item with its fields in the order of the response. */
export function publishedItem(
  publishing_status: PublishedItem['publishing_status'],
  detail: string,
  step: PublishingStep,
  eid: string,
  partition: string | null,
  offset?: Offset,
): PublishedItem {
  const item = { publishing_status, detail, step, eid, partition };
  return offset === undefined ? item : { ...item, offset };
}

/** A parsed event whose fields are not checked. */
export type EventObject = Readonly<Record<string, unknown>>;

/** The id that an event claims to have; empty when it claims none. */
export function eidOf(event: EventObject): string {
  const metadata = event['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return '';
  const eid = (metadata as EventObject)['eid'];
  return typeof eid === 'string' ? eid : '';
}
