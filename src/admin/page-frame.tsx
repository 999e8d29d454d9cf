import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { connection } from './connection-state.ts';
import { storedKey, saveKey } from './api-key.ts';
import { EventTypePage } from './pages/event-type.tsx';
import { EventTypeFormPage } from './pages/event-type-form.tsx';
import { EventTypesPage } from './pages/event-types.tsx';
import { LoanPage } from './pages/loan.tsx';
import { LoansPage } from './pages/loans.tsx';
import { SubscriptionPage } from './pages/subscription.tsx';
import { SubscriptionsPage } from './pages/subscriptions.tsx';
import { TogglesPage } from './pages/toggles.tsx';
import { Confirm } from './parts/confirm.tsx';
import { PageTitle } from './parts/page-title.tsx';
import { Link, pageOf, route, type Route } from './route.tsx';
import { useStore } from './observed-value.ts';
import { departure, hasUnsaved } from './unsaved-work.ts';

const sections = [
  ['event-types', 'Event types'],
  ['subscriptions', 'Subscriptions'],
  ['loans', 'Loans'],
  ['toggles', 'Toggles'],
] as const;

/** The frame of every page: the navigation, and whether the service is reachable. */
export function Shell(): JSX.Element {
  const { reachable, keyRequired } = useStore(connection);
  const current = useStore(route);
  const leaving = useStore(departure);
  const section = current.steps[0] ?? 'event-types';
  const content = useRef<HTMLElement>(null);
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          // Following the link would add a useless entry to the history.
          event.preventDefault();
          content.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="top">
        <Link to="/event-types" class="brand">
          Lendstream
        </Link>
        <nav aria-label="Sections">
          {sections.map(([step, name]) => (
            <Link key={step} to={`/${step}`} current={section === step}>
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <div role="status" aria-live="polite">
        {reachable ? null : (
          <p class="banner">The service does not respond. What you see may be out of date. Retrying every second.</p>
        )}
      </div>
      <main id="content" tabIndex={-1} ref={content}>
        {keyRequired ? <KeyForm /> : null}
        <div class="page" hidden={keyRequired}>
          {keyRequired && !hasUnsaved() ? null : <Page key={pageOf(current)} {...current} />}
        </div>
      </main>
      {leaving === undefined ? null : (
        <Confirm
          title="Leave without saving?"
          action="Leave"
          dangerous
          onClose={() => departure.set(undefined)}
          onConfirm={() => {
            departure.set(undefined);
            leaving.leave();
          }}
        >
          <p>Your changes are not saved and will be lost.</p>
        </Confirm>
      )}
    </>
  );
}

function Page({ steps }: Route): JSX.Element {
  const [section = 'event-types', name, action] = steps;
  if (section === 'event-types') {
    if (name === undefined) return <EventTypesPage />;
    // No event type can have this name: names begin with a letter.
    if (name === '+new') return <EventTypeFormPage />;
    return action === 'edit' ? <EventTypeFormPage name={name} /> : <EventTypePage name={name} view={action} />;
  }
  if (section === 'subscriptions') return name === undefined ? <SubscriptionsPage /> : <SubscriptionPage id={name} />;
  if (section === 'loans') return name === undefined ? <LoansPage /> : <LoanPage id={name} view={action} />;
  if (section === 'toggles') return <TogglesPage />;
  return (
    <>
      <PageTitle title="Not found" />
      <p>
        There is no page at this address. <Link to="/event-types">Go to the event types</Link>.
      </p>
    </>
  );
}

function KeyForm(): JSX.Element {
  const refused = storedKey() !== null;
  const [key, setKey] = useState('');
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() !== '') saveKey(key.trim());
      }}
    >
      <PageTitle title="Sign in" />
      <p>This service requires an API key. The key is kept until you close this tab.</p>
      {refused ? (
        <p class="problem" role="alert">
          The service does not accept this key. Try another one.
        </p>
      ) : null}
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          autocomplete="off"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          required
        />
      </label>
      <button class="primary">Sign in</button>
    </form>
  );
}
