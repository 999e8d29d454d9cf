import { commitCursors } from '../../../src/broker/subscriptions/commits.ts';
import { listCursors } from '../../../src/broker/subscriptions/committed-cursors.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

/** A subscription that reads from the begin of an event type: 200 events in partition 0, and 10 in partition 1. */
export interface SubscriptionToLoans {
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
  commit(streamId: string, ...items: unknown[]): ReturnType<typeof commitCursors>;
  /** Commits, and returns the result of each cursor. */
  results(streamId: string, ...items: unknown[]): Promise<string[]>;
  /** The committed offset of each partition. */
  offsets(): Promise<string[]>;
}

export async function subscribeToLoans(): Promise<SubscriptionToLoans> {
  const store = await openSubscriptionStore();
  await store.define('loans', 2);
  await store.publish('loans', 0, 200);
  await store.publish('loans', 1, 10);
  const body = { owning_application: 'core', event_types: ['loans'], read_from: 'begin' };
  const { subscription } = await new Subscriptions(store).create(body);
  const commit: SubscriptionToLoans['commit'] = (streamId, ...items) =>
    commitCursors(store, subscription.id, streamId, items);
  return {
    store,
    subscription,
    commit,
    results: async (streamId, ...items) => (await commit(streamId, ...items)).items.map(({ result }) => result),
    offsets: async () => (await listCursors(store, subscription.id)).map(({ offset }) => offset),
  };
}

/** A cursor as a consumer of the subscription sends it. */
export function cursor(partition: number, offset: number | string) {
  return {
    partition: String(partition),
    offset: typeof offset === 'string' ? offset : `001-0001-${String(offset).padStart(18, '0')}`,
    event_type: 'loans',
    cursor_token: 'any token will do',
  };
}
