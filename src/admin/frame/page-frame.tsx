import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Route, Router, Switch } from 'wouter-preact';
import { mayUse, useAccess } from '../api/access.ts';
import { connection } from '../api/connection-state.ts';
import { storedKey, saveKey } from '../api/api-key.ts';
import { address, base, decodeStep, navigate, useAddressPath } from '../navigation.ts';
import { ApiKeysPage } from '../pages/api-keys.tsx';
import { AuditPage } from '../pages/audit.tsx';
import { EventTypePage } from '../pages/event-type.tsx';
import { EventTypeFormPage } from '../pages/event-type-form.tsx';
import { EventTypesPage } from '../pages/event-types.tsx';
import { LoanPage } from '../pages/loan.tsx';
import { LoansPage } from '../pages/loans.tsx';
import { NewLoanPage } from '../pages/new-loan.tsx';
import { OverviewPage } from '../pages/overview.tsx';
import { ProductPage } from '../pages/product.tsx';
import { ProductsPage } from '../pages/products.tsx';
import { SubscriptionPage } from '../pages/subscription.tsx';
import { SubscriptionsPage } from '../pages/subscriptions.tsx';
import { TogglesPage } from '../pages/toggles.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Footer } from './footer.tsx';
import { OpenNotice } from './open-notice.tsx';
import { GlobalSearch } from './global-search.tsx';
import { Link } from '../parts/link.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { departure, hasUnsaved } from '../unsaved-work.ts';

/** The sections, and the permission without which there is nothing to see. */
const sections = [
  ['', 'Overview', 'operations:read'],
  ['event-types', 'Event types', 'event-types:read'],
  ['subscriptions', 'Subscriptions', 'subscriptions:read'],
  ['loans', 'Loans', 'loans:read'],
  ['products', 'Products', 'loan-products:read'],
  ['toggles', 'Toggles', 'organization:read'],
  ['api-keys', 'API keys', 'keys:manage'],
  ['audit', 'Audit', 'audit:read'],
] as const;

/** The frame of every page: the navigation, and whether the service is reachable. */
export function Shell(): JSX.Element {
  return (
    <Router hook={useAddressPath} base={base}>
      <Frame />
    </Router>
  );
}

function Frame(): JSX.Element {
  const { reachable, keyRequired } = connection.value;
  const { pathname } = address.value;
  const leaving = departure.value;
  const section = pathname.slice(base.length).split('/')[1] ?? '';
  const access = useAccess();
  const visible = sections.filter(([, , permission]) => mayUse(access.data, permission));
  const [first] = visible[0] ?? [''];
  const content = useRef<HTMLElement>(null);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the sections are wider than it.
    navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [section]);
  useEffect(() => {
    // The first page of a user who may not see the overview.
    if (section === '' && first !== '') navigate(`/${first}`, { replace: true });
  }, [section, first]);
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
        <Link to="/" class="brand">
          Lendstream
        </Link>
        <nav aria-label="Sections" ref={navigation}>
          {visible.map(([step, name]) => (
            <Link key={step} to={`/${step}`} current={section === step}>
              {name}
            </Link>
          ))}
        </nav>
        <GlobalSearch />
      </header>
      <div role="status" aria-live="polite">
        {reachable ? null : (
          <p class="banner">The service does not respond. What you see may be out of date. Retrying every second.</p>
        )}
      </div>
      <OpenNotice />
      <main id="content" tabIndex={-1} ref={content}>
        {keyRequired ? <KeyForm /> : null}
        <div class="page" hidden={keyRequired}>
          {keyRequired && !hasUnsaved() ? null : <Page key={pathname} />}
        </div>
      </main>
      <Footer />
      {leaving === undefined ? null : (
        <Confirm
          title="Leave without saving?"
          action="Leave"
          dangerous
          onClose={() => (departure.value = undefined)}
          onConfirm={() => {
            departure.value = undefined;
            leaving.leave();
          }}
        >
          <p>Your changes are not saved and will be lost.</p>
        </Confirm>
      )}
    </>
  );
}

interface Steps {
  readonly name: string;
  readonly view?: string;
}

/** The steps of an address behind its section. */
function decoded({ name, view }: Steps): { readonly name: string; readonly view: string | undefined } {
  return { name: decodeStep(name), view: view === undefined ? undefined : decodeStep(view) };
}

function Page(): JSX.Element {
  return (
    <Switch>
      <Route path="/" component={OverviewPage} />
      <Route path="/event-types" component={EventTypesPage} />
      <Route path="/event-types/:name/:view?">
        {(steps: Steps) => {
          const { name, view } = decoded(steps);
          // No event type can have this name: names begin with a letter.
          if (name === '+new') return view === undefined ? <EventTypeFormPage /> : <NotFound />;
          return view === 'edit' ? <EventTypeFormPage name={name} /> : <EventTypePage name={name} view={view} />;
        }}
      </Route>
      <Route path="/subscriptions" component={SubscriptionsPage} />
      <Route path="/subscriptions/:name/:view?">
        {(steps: Steps) => <SubscriptionPage id={decoded(steps).name} view={decoded(steps).view} />}
      </Route>
      <Route path="/loans" component={LoansPage} />
      <Route path="/loans/:name/:view?">
        {(steps: Steps) => {
          const { name, view } = decoded(steps);
          // No loan can have this id: ids begin with a letter or a digit.
          return name === '+new' && view === undefined ? <NewLoanPage /> : <LoanPage id={name} view={view} />;
        }}
      </Route>
      <Route path="/products" component={ProductsPage} />
      <Route path="/products/:name/:view?">
        {(steps: Steps) => <ProductPage id={decoded(steps).name} view={decoded(steps).view} />}
      </Route>
      <Route path="/toggles" component={TogglesPage} />
      <Route path="/api-keys" component={ApiKeysPage} />
      <Route path="/audit" component={AuditPage} />
      <Route component={NotFound} />
    </Switch>
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
