import type { Offset } from '../../ports/event-log.ts';

export type PublishingStep = 'none' | 'validating' | 'partitioning' | 'enriching' | 'publishing';

/** What became of one event (snake_case is the API's). */
export interface PublishedItem {
  readonly publishing_status: 'submitted' | 'failed' | 'aborted';
  readonly detail: string;
  readonly step: PublishingStep;
  /** Empty when the event has none. */
  readonly eid: string;
  readonly partition: string | null;
  /** Where a submitted event lies. */
  readonly offset?: Offset;
}

/** Fields in the order in which they are answered. */
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

/** An event as parsed, of whose fields nothing is known. */
export type EventObject = Readonly<Record<string, unknown>>;

/** The id an event says it has; empty when it says none. */
export function eidOf(event: EventObject): string {
  const metadata = event['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return '';
  const eid = (metadata as EventObject)['eid'];
  return typeof eid === 'string' ? eid : '';
}
