import type { JSX } from 'preact';
import { path } from '../../navigation.ts';
import { Link } from '../link.tsx';
import { LongName } from '../long-name.tsx';

interface Named {
  readonly owning_application: string;
  readonly consumer_group: string;
}

/** How people tell subscriptions apart: by owner and group. */
export function subscriptionName({ owning_application: owner, consumer_group: group }: Named): string {
  return `${owner} / ${group}`;
}

/** The name of a subscription, as a link to its page. */
export function SubscriptionLink({ id, subscription }: { id: string; subscription: Named }): JSX.Element {
  return (
    <Link to={path('subscriptions', id)}>
      <LongName name={subscriptionName(subscription)} />
    </Link>
  );
}
