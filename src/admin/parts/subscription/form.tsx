import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Requests, Responses, Schemas } from '../../../contract.ts';
import { useAddressQuery } from '../../address-query.ts';
import { type ApiError, apiErrorOf, call, callPage } from '../../api/api.ts';
import { listPath } from '../../api/api-lists.ts';
import { curl } from '../../curl.ts';
import { formatCount } from '../../formats.ts';
import { navigate, path } from '../../navigation.ts';
import { queries, useLoaded } from '../../api/queries.ts';
import { useSettled } from '../../settled.ts';
import { forgetUnsaved, useUnsaved } from '../../unsaved-work.ts';
import { CopyButton } from '../copy-button.tsx';
import { Field, SelectField } from '../field.tsx';
import { Link } from '../link.tsx';
import { PageTitle } from '../page-title.tsx';
import { Problem } from '../problem.tsx';
import { SearchField } from '../lists/search-field.tsx';
import { Skeleton } from '../skeleton.tsx';

/** How many event types are offered at once; the others are found by their names. */
const typesMaximum = 100;

/** The form that creates a subscription, empty or with what another one has. */
export function SubscriptionForm(): JSX.Element {
  const from = useAddressQuery().get('from');
  const address = `/subscriptions/${encodeURIComponent(from)}`;
  const template = useLoaded(`template ${from}`, (signal) =>
    from === '' ? Promise.resolve(null) : call<Responses['getSubscription']>('GET', address, undefined, { signal }),
  );
  return (
    <>
      <PageTitle title={from === '' ? 'Create a subscription' : 'Clone a subscription'} />
      <Problem error={template.error} what="The subscription cannot be cloned." />
      {template.isLoading ? <Skeleton rows={8} /> : null}
      {template.data === undefined ? null : <Form template={template.data} />}
    </>
  );
}

interface Draft {
  readonly owner: string;
  readonly group: string;
  readonly types: readonly string[];
  readonly readFrom: string;
}

function Form({ template }: { template: Schemas['Subscription'] | null }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(() => ({
    owner: template?.owning_application ?? '',
    group: template === null ? 'default' : `${template.consumer_group}-copy`,
    types: template?.event_types ?? [],
    readFrom: template?.read_from === 'begin' ? 'begin' : 'end',
  }));
  const [unchanged] = useState(() => JSON.stringify(draft));
  const [search, setSearch] = useState('');
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<ApiError>();
  const address = listPath('/event-types', { q: useSettled(search.trim()), sort: 'built_in', limit: typesMaximum });
  const types = useLoaded(address, (signal) => callPage<Schemas['EventType']>(address, signal), 0, {
    keepsPrevious: true,
  });
  useUnsaved(JSON.stringify(draft) !== unchanged);
  const set =
    <Name extends keyof Draft>(name: Name) =>
    (value: Draft[Name]): void => {
      setDraft((before) => ({ ...before, [name]: value }));
      setError(undefined);
    };
  const body = {
    owning_application: draft.owner.trim(),
    consumer_group: draft.group.trim(),
    event_types: [...draft.types],
    read_from: draft.readFrom as 'begin' | 'end',
  } satisfies Requests['createSubscription'];
  const foundNames = (types.data?.items ?? []).map(({ name }) => name);
  // What is chosen stays in sight, whatever is searched.
  const names = [...draft.types, ...foundNames.filter((name) => !draft.types.includes(name))];
  const more = (types.data?.total ?? 0) - foundNames.length;
  const isComplete = body.owning_application !== '' && body.consumer_group !== '' && body.event_types.length > 0;
  const save = async (): Promise<void> => {
    setIsSaving(true);
    setError(undefined);
    try {
      const { id } = await call<Responses['createSubscription']>('POST', '/subscriptions', body);
      forgetUnsaved();
      void queries.invalidateQueries();
      navigate(path('subscriptions', id));
    } catch (failure) {
      setError(apiErrorOf(failure));
      setIsSaving(false);
    }
  };
  return (
    <form
      class="columns"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <section class="panel" aria-label="Properties">
        <Field label="Owning application" value={draft.owner} onInput={set('owner')} />
        <Field
          label="Consumer group"
          value={draft.group}
          onInput={set('group')}
          hint="Subscriptions with another group read the same events independently"
        />
        <SelectField
          label="Reads from"
          value={draft.readFrom}
          onInput={set('readFrom')}
          options={[
            ['end', 'end: only events from now on'],
            ['begin', 'begin: all events that are still there'],
          ]}
        />
        <p class="muted">
          An application usually creates its own subscription when it starts. A request that repeats one returns the
          existing subscription.
        </p>
      </section>
      <section class="panel" aria-label="Event types">
        <div class="title">
          <h2>Event types</h2>
          <span class="muted">{formatCount(draft.types.length)} chosen</span>
        </div>
        <SearchField label="Search by name" value={search} onInput={setSearch} />
        <Problem error={types.error} what="The event types cannot be shown." />
        <div class="choices" role="group" aria-label="Event types">
          {names.map((name) => (
            <label key={name} class="choice">
              <input
                type="checkbox"
                checked={draft.types.includes(name)}
                onChange={(event) =>
                  set('types')(
                    event.currentTarget.checked
                      ? [...draft.types, name].toSorted()
                      : draft.types.filter((each) => each !== name),
                  )
                }
              />
              <span>{name}</span>
            </label>
          ))}
          {more > 0 ? <p class="choice muted">{formatCount(more)} more: search by a part of the name</p> : null}
        </div>
        <Problem error={error} what="The subscription was not created." />
        <div class="actions">
          <button class="primary" disabled={isSaving || !isComplete}>
            Create
          </button>
          <Link to="/subscriptions" class="button">
            Cancel
          </Link>
          {isComplete ? <CopyButton text={curl('POST', '/subscriptions', body)} what="as curl" isNamed /> : null}
        </div>
      </section>
    </form>
  );
}
