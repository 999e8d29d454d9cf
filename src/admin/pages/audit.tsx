import { useInfiniteQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAddressQuery } from '../address-query.ts';
import { apiErrorOf } from '../api/api.ts';
import { connection } from '../api/connection-state.ts';
import { queries } from '../api/queries.ts';
import { shownJson } from '../exact-numbers.ts';
import { fieldText, idOf, loadEvents, type EventsPage, type FoundEvent } from '../explorer/found-events.ts';
import { formatCount, localTimeOf } from '../formats.ts';
import { Field, TimeField } from '../parts/field.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Table } from '../parts/lists/table.tsx';
import { Time } from '../parts/time.tsx';

const recordsPerPage = 50;

/** Which records are shown: what the address of the page holds. An empty text leaves none out. */
interface Wanted {
  readonly who: string;
  readonly operation: string;
  readonly subject: string;
  /** A time of the API: the list begins with the latest record before it. */
  readonly before: string;
}

const everything: Wanted = { who: '', operation: '', subject: '', before: '' };

/** The audit: who did what, the latest first. */
export function AuditPage(): JSX.Element {
  const query = useAddressQuery();
  const wanted: Wanted = {
    who: query.get('who'),
    operation: query.get('operation'),
    subject: query.get('subject'),
    before: query.get('before'),
  };
  const key = JSON.stringify(wanted);
  return (
    <>
      <PageTitle title="Audit" />
      <p class="muted">
        A change by an administrator has two records: one before it began, and one when it ended. Access that was
        refused is counted.
      </p>
      <WantedForm key={`form ${key}`} wanted={wanted} onSearch={(next) => query.set({ ...next })} />
      <Records key={key} wanted={wanted} />
    </>
  );
}

function WantedForm({ wanted, onSearch }: { wanted: Wanted; onSearch: (next: Wanted) => void }): JSX.Element {
  const [draft, setDraft] = useState(wanted);
  const [before, setBefore] = useState(localTimeOf(wanted.before));
  const change = (changed: Partial<Wanted>): void => setDraft((known) => ({ ...known, ...changed }));
  return (
    <form
      class="toolbar conditions"
      role="search"
      aria-label="Records"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch({
          who: draft.who.trim(),
          operation: draft.operation.trim(),
          subject: draft.subject.trim(),
          before: before === '' ? '' : new Date(before).toISOString(),
        });
      }}
    >
      <Field label="Who" value={draft.who} onInput={(who) => change({ who })} placeholder="shop-producer" />
      <Field
        label="Operation"
        value={draft.operation}
        onInput={(operation) => change({ operation })}
        placeholder="deleteEventType"
      />
      <Field
        label="Subject"
        value={draft.subject}
        onInput={(subject) => change({ subject })}
        placeholder="order.paid"
      />
      <TimeField label="Before" value={before} onInput={setBefore} />
      <div class="actions">
        <button class="primary">Find</button>
        <button type="button" onClick={() => onSearch(everything)}>
          Clear
        </button>
      </div>
    </form>
  );
}

function Records({ wanted }: { wanted: Wanted }): JSX.Element {
  const found = useInfiniteQuery(
    {
      queryKey: ['audit', wanted],
      queryFn: ({ pageParam, signal }) => loadEvents(recordsPath(wanted, pageParam), signal),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (last: EventsPage) => last.next,
      refetchOnWindowFocus: false,
    },
    queries,
  );
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const pages = found.data?.pages ?? [];
  const records = pages.flatMap(({ items }) => items);
  const last = pages.at(-1);
  const failure = found.error === null ? undefined : apiErrorOf(found.error);
  // The banner reports an unreachable service.
  const error = failure !== undefined && (failure.status !== 0 || connection.value.reachable) ? failure : undefined;
  const toggle = (record: FoundEvent): void =>
    setOpened((known) => {
      const after = new Set(known);
      if (!after.delete(idOf(record))) after.add(idOf(record));
      return after;
    });
  return (
    <>
      <Problem error={error} what="The audit cannot be shown." />
      {found.isPending && error === undefined ? <Skeleton rows={10} /> : null}
      {found.data === undefined ? null : (
        <section class="panel flush" aria-label="Records">
          {records.length === 0 ? (
            <p class="muted">{last?.ended_by === 'search_limit' ? 'Nothing found so far.' : 'No record is found.'}</p>
          ) : (
            <Table
              label="Records of the audit, newest first"
              rows={records}
              keyOf={idOf}
              onRowClick={toggle}
              detail={(record) => (opened.has(idOf(record)) ? <Details record={record} /> : undefined)}
              columns={[
                {
                  name: 'Time',
                  keyword: true,
                  cell: ({ timestamp }) => <Time at={timestamp} exact="clock" still />,
                },
                { name: 'Who', keyword: true, cell: (record) => fieldText(record, 'who.name') || '—' },
                {
                  name: 'Operation',
                  keyword: true,
                  cell: (record) => (
                    <button
                      class="quiet row-toggle"
                      aria-expanded={opened.has(idOf(record))}
                      onClick={() => toggle(record)}
                    >
                      {fieldText(record, 'operation') || 'Details'}
                    </button>
                  ),
                },
                { name: 'Subject', cell: (record) => fieldText(record, 'subject.name') || '—' },
                { name: 'What happened', keyword: true, cell: (record) => <State record={record} /> },
                { name: 'From', keyword: true, cell: (record) => fieldText(record, 'from') || '—' },
              ]}
            />
          )}
          <div class="pager">
            <span role="status">
              {records.length === 1 ? '1 record' : `${formatCount(records.length)} records`} shown
            </span>
            {last?.next === undefined ? null : (
              <button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
                {last.ended_by === 'search_limit' ? 'Search on' : 'Show older ones'}
              </button>
            )}
          </div>
        </section>
      )}
    </>
  );
}

/** What a record says of its request. */
function State({ record }: { record: FoundEvent }): JSX.Element {
  const [stage, status] = [fieldText(record, 'stage'), fieldText(record, 'status')];
  if (stage === 'started') return <span class="tag">begun</span>;
  if (stage === 'refused') {
    return (
      <span class="tag bad">
        no access, {status}, {fieldText(record, 'count')} times
      </span>
    );
  }
  const outcome = fieldText(record, 'outcome');
  return (
    <span class={`tag ${outcome === 'done' ? 'good' : outcome === 'refused' ? 'warn' : 'bad'}`}>
      {outcome}, {status}
    </span>
  );
}

function Details({ record }: { record: FoundEvent }): JSX.Element {
  const { before, after, ...others } = record.value;
  return (
    <div class="opened">
      {[
        ['Before', before],
        ['After', after],
        ['Record', others],
      ].map(([name, value]) =>
        value === undefined ? null : (
          <section key={name as string}>
            <h2>{name as string}</h2>
            <pre tabIndex={0} role="region" aria-label={name as string}>
              {value === null ? 'None.' : shownJson(value, 2)}
            </pre>
          </section>
        ),
      )}
    </div>
  );
}

/** @param token Where the page begins; undefined for the first one. */
function recordsPath({ who, operation, subject, before }: Wanted, token: string | undefined): string {
  const query = new URLSearchParams({ limit: String(recordsPerPage) });
  for (const [pointer, value] of [
    ['/who/name', who],
    ['/operation', operation],
    ['/subject/name', subject],
  ] as const) {
    if (value !== '') query.append('filter', `${pointer}=${value}`);
  }
  if (token !== undefined) query.set('token', token);
  else {
    query.set('direction', 'backward');
    if (before !== '') query.set('from', before);
  }
  return `/event-types/lendstream.audit/retained-events?${query.toString()}`;
}
