import type { JSX } from 'preact';
import type { Responses, Schemas } from '../../../contract.ts';
import { mayUse, useAccess } from '../../api/access.ts';
import { call, callPage } from '../../api/api.ts';
import { queries, useLoaded } from '../../api/queries.ts';
import { formatCount } from '../../formats.ts';
import { navigate } from '../../navigation.ts';
import { Confirm } from '../confirm.tsx';
import { Link } from '../link.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { SubscriptionLink } from '../subscription/subscription-name.tsx';

const readersRefreshMilliseconds = 5_000;

/** How many subscriptions are named that stand in the way of a deletion, or are deleted with it. */
const subscriptionsNamed = 10;

/** What the service does with the subscriptions of a deleted event type. */
type FateOfSubscriptions = 'stand in the way' | 'are deleted' | 'not known';

/** Asks before an event type is deleted, and says what is deleted with it or stands in the way of it. */
export function DeleteType({ name, onClose }: { name: string; onClose: () => void }): JSX.Element {
  const address = `/subscriptions?event_type=${encodeURIComponent(name)}&limit=${subscriptionsNamed}`;
  // They may be deleted in another tab, or created while this is shown.
  const readers = useLoaded(
    address,
    (signal) => callPage<Schemas['Subscription']>(address, signal),
    readersRefreshMilliseconds,
  );
  const access = useAccess();
  const maySeeFeatures = access.data !== undefined && mayUse(access.data, 'settings:read');
  const features = useLoaded(
    'features',
    (signal) => call<Responses['listFeatures']>('GET', '/settings/features', undefined, { signal }),
    readersRefreshMilliseconds,
    { isEnabled: maySeeFeatures },
  );
  const isLoading = readers.isLoading || access.isLoading || features.isLoading;
  const fate = fateOfSubscriptions(features.data);
  const { items: subscriptions = [], total = 0 } = readers.data ?? {};
  return (
    <Confirm
      title={`Delete ${name}?`}
      action={fate === 'are deleted' && total > 0 ? `Delete it and ${subscriptionsText(total)}` : 'Delete'}
      dangerous
      isBlocked={isLoading || (fate === 'stand in the way' && total > 0)}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await call('DELETE', `/event-types/${encodeURIComponent(name)}`);
        } catch (failure) {
          readers.reload();
          if (maySeeFeatures) features.reload();
          throw failure;
        }
        void queries.invalidateQueries();
        navigate('/event-types');
      }}
    >
      <Problem error={readers.error} what="Its subscriptions cannot be shown." />
      {isLoading ? (
        <Skeleton rows={1} />
      ) : (
        <>
          <Effect fate={fate} count={total} areAllShown={readers.error === undefined && maySeeAll(access.data)} />
          {total === 0 ? null : <Subscriptions of={name} named={subscriptions} total={total} />}
        </>
      )}
    </Confirm>
  );
}

function maySeeAll(access: Parameters<typeof mayUse>[0]): boolean {
  return mayUse(access, 'any-application');
}

function fateOfSubscriptions(features: Responses['listFeatures'] | undefined): FateOfSubscriptions {
  if (features === undefined) return 'not known';
  const isOn = features.items.some(
    ({ feature, enabled }) => feature === 'delete_event_type_with_subscriptions' && enabled,
  );
  return isOn ? 'are deleted' : 'stand in the way';
}

function subscriptionsText(count: number): string {
  return count === 1 ? '1 subscription' : `${formatCount(count)} subscriptions`;
}

interface EffectProperties {
  readonly fate: FateOfSubscriptions;
  readonly count: number;
  /** Whether the user sees every subscription that there is. */
  readonly areAllShown: boolean;
}

function Effect({ fate, count, areAllShown }: EffectProperties): JSX.Element {
  if (fate === 'stand in the way' && count > 0) {
    return <p>It cannot be deleted while subscriptions read it. Delete these first:</p>;
  }
  const isWithOthers = fate === 'are deleted' && !areAllShown;
  return (
    <>
      <p>
        Its events are deleted with it
        {fate === 'are deleted' && count > 0 ? ', and so are these subscriptions with their cursors' : ''}. That cannot
        be undone.
      </p>
      {isWithOthers ? <p>Subscriptions that you may not see are deleted as well, if they read it.</p> : null}
      {fate === 'not known' ? (
        <p>
          {count > 0 ? 'These subscriptions read it. ' : ''}Subscriptions that read it stand in the way of this, or are
          deleted with it: an operator has set which.
        </p>
      ) : null}
    </>
  );
}

interface SubscriptionsProperties {
  readonly of: string;
  readonly named: readonly Schemas['Subscription'][];
  readonly total: number;
}

function Subscriptions({ of, named, total }: SubscriptionsProperties): JSX.Element {
  return (
    <ul>
      {named.map((subscription) => (
        <li key={subscription.id}>
          <SubscriptionLink id={subscription.id} subscription={subscription} />
          {othersText(subscription.event_types.length - 1)}
        </li>
      ))}
      {total > named.length ? (
        <li>
          <Link to={`/subscriptions?event_type=${encodeURIComponent(of)}`}>all {formatCount(total)}</Link>
        </li>
      ) : null}
    </ul>
  );
}

/** A subscription of several event types is deleted as a whole. */
function othersText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', which reads 1 other event type' : `, which reads ${formatCount(count)} other event types`;
}
