import type { Request } from 'express';
import type { RecentLags } from '../../../broker/subscriptions/recent-lags.ts';
import { flagParameter, textParameter } from '../../edge/query-parameters.ts';

/** What lists need to show lags. */
export interface WithLags {
  readonly lags: RecentLags;
}

/** The lags of a list: events that are not consumed, by event type and by subscription. */
export interface ListLags {
  readonly isShown: boolean;
  readonly ofEventTypes: ReadonlyMap<string, number>;
  readonly ofSubscriptions: ReadonlyMap<string, number>;
}

/** The field that a list can be sorted by like any other, although no definition has it. */
export const lagField = 'unconsumed_events';

/**
 * The lags that a list shows (`show_lag`) or is sorted by; undefined when the request does not need them, as they are
 * read from the log and the coordination store.
 * @throws MALFORMED_REQUEST, and what the log and the coordination store throw
 */
export async function lagsOfList(request: Request, lags: RecentLags): Promise<ListLags | undefined> {
  const isShown = flagParameter(request, 'show_lag');
  if (!isShown && textParameter(request, 'sort')?.replace(/^-/, '') !== lagField) return undefined;
  const ofEventTypes = new Map<string, number>();
  const ofSubscriptions = new Map<string, number>();
  for (const { subscriptionId, eventType, unconsumedEvents } of await lags.get()) {
    ofEventTypes.set(eventType, (ofEventTypes.get(eventType) ?? 0) + unconsumedEvents);
    ofSubscriptions.set(subscriptionId, (ofSubscriptions.get(subscriptionId) ?? 0) + unconsumedEvents);
  }
  return { isShown, ofEventTypes, ofSubscriptions };
}
