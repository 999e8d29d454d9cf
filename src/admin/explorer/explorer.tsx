import { useInfiniteQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { useAddressQuery } from '../address-query.ts';
import { type ApiError, apiErrorOf, call, send } from '../api/api.ts';
import { connection } from '../api/connection-state.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { saveFile } from '../clipboard.ts';
import { shownJson } from '../exact-numbers.ts';
import { formatCount } from '../formats.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Table, type Column } from '../parts/lists/table.tsx';
import { Time } from '../parts/time.tsx';
import { ColumnChoice } from './column-choice.tsx';
import { ConditionsForm } from './conditions-form.tsx';
import { conditionParameters, eventsPath, isSelective, readConditions, type Conditions } from './conditions.ts';
import { type EventsPage, fieldsOf, fieldText, type FoundEvent, idOf, loadEvents, summaryOf } from './found-events.ts';
import { LetterActions } from './letter-actions.tsx';
import { useLiveTail } from './live-tail.ts';

const eventsPerPage = 50;

/** The most events of a download: the maximum of one page of the service. */
const downloadMaximum = 10_000;

/** The columns that are shown unless others are chosen. */
const defaultColumns = ['time', 'position', 'key', 'name', 'sequence', 'event'];

interface ExplorerProperties {
  /** The name of the event type, or the path of a queue of dead letters. */
  readonly name: string;
}

/** The events of a type: found by conditions, from any place of the log, and those that arrive. */
export function Explorer({ name }: ExplorerProperties): JSX.Element {
  const query = useAddressQuery();
  const conditions = readConditions(query);
  const partitionsPath = `/event-types/${encodeURIComponent(name)}/partitions`;
  const partitions = useLoaded(
    partitionsPath,
    (signal) => call<Responses['listPartitions']>('GET', partitionsPath, undefined, { signal }),
    0,
    { isEnabled: !name.startsWith('/') },
  );
  const key = JSON.stringify(conditions);
  return (
    <>
      <ConditionsForm
        key={`form ${key}`}
        conditions={conditions}
        partitions={(partitions.data ?? []).map(({ partition }) => partition)}
        onSearch={(next) => query.set(conditionParameters(next))}
      />
      <EventList key={key} name={name} conditions={conditions} />
    </>
  );
}

function EventList({ name, conditions }: { name: string; conditions: Conditions }): JSX.Element {
  const query = useAddressQuery();
  const found = useInfiniteQuery(
    {
      queryKey: ['retained-events', name, conditions],
      queryFn: ({ pageParam, signal }) => loadEvents(eventsPath(name, conditions, eventsPerPage, pageParam), signal),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (last: EventsPage) => last.next,
      // What was loaded does not change; going back finds the same list.
      staleTime: Infinity,
      refetchOnWindowFocus: false,
    },
    queries,
  );
  const pages = found.data?.pages ?? [];
  const last = pages.at(-1);
  // New events follow a list that begins with the newest one.
  const canFollow = !conditions.forward && conditions.from === '';
  const isPaused = !canFollow || query.get('live') === 'off';
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const tail = useLiveTail(canFollow ? pages[0]?.previous : undefined, isPaused, (token) =>
    eventsPath(name, conditions, eventsPerPage, token),
  );
  // While an event is open, the list stays as it is: new events wait above it.
  const [shownNew, setShownNew] = useState(0);
  const isHeld = opened.size > 0;
  if (!isHeld && shownNew !== tail.events.length) setShownNew(tail.events.length);
  const waiting = isHeld ? Math.max(0, tail.events.length - shownNew) : 0;
  const events = [...tail.events.slice(waiting), ...pages.flatMap(({ items }) => items)];
  const failure = found.error === null ? undefined : apiErrorOf(found.error);
  const error = failure !== undefined && (failure.status !== 0 || connection.value.reachable) ? failure : tail.error;
  const fields = fieldsOf(events);
  const chosen = query.get('columns') === '' ? defaultColumns : query.get('columns').split(',');
  const toggle = (event: FoundEvent): void =>
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(idOf(event))) after.add(idOf(event));
      return after;
    });
  const columns: Column<FoundEvent>[] = [
    {
      name: 'Time',
      keyword: true,
      hidden: !chosen.includes('time'),
      cell: ({ timestamp }) => <Time at={timestamp} exact="clock" still />,
    },
    {
      name: 'Partition and offset',
      keyword: true,
      hidden: !chosen.includes('position'),
      cell: (event) => (
        <button class="quiet row-toggle" aria-expanded={opened.has(idOf(event))} onClick={() => toggle(event)}>
          {event.partition}:{shortOffset(event.offset)}
        </button>
      ),
    },
    {
      name: 'Key',
      hidden: !chosen.includes('key') || events.every(({ eventKey }) => eventKey === ''),
      keyword: true,
      cell: ({ eventKey }) => <Cut text={eventKey} />,
    },
    {
      name: 'State',
      keyword: true,
      hidden: !name.startsWith('/'),
      cell: ({ letter }) => (
        <span class={letter?.dealtWith === '' ? 'tag bad' : 'tag good'}>
          {letter?.dealtWith === '' ? 'open' : letter?.dealtWith}
        </span>
      ),
    },
    ...fields.map((field) => ({
      name: field,
      hidden: !chosen.includes(field),
      keyword: true,
      cell: (event: FoundEvent) => <Cut text={fieldText(event, field)} />,
    })),
    {
      name: 'Event',
      hidden: !chosen.includes('event'),
      cell: (event) => <code class="summary">{summaryOf(event)}</code>,
    },
  ];
  const [state, tone] = isPaused
    ? ['paused', 'warn']
    : tail.isConnected
      ? ['live', 'good live']
      : ['not connected', 'warn'];
  return (
    <>
      <div class="title">
        <div class="actions">
          {canFollow ? (
            <>
              <span class={`tag ${tone}`} role="status">
                {state}
              </span>
              <button
                onClick={() => query.set({ live: isPaused ? '' : 'off' }, { replace: true })}
                aria-pressed={isPaused}
              >
                {isPaused ? 'Resume' : 'Pause'}
              </button>
            </>
          ) : (
            <button onClick={() => void found.refetch()}>Search again</button>
          )}
        </div>
        <div class="actions">
          <ColumnChoice
            fields={fields}
            chosen={chosen}
            onChoose={(next) => query.set({ columns: next.join(',') }, { replace: true })}
          />
          <CopyButton
            text={`curl -s '${location.origin}${eventsPath(name, conditions, eventsPerPage)}'`}
            what="as curl"
            isNamed
          />
          <Download name={name} conditions={conditions} />
        </div>
      </div>
      <Problem error={error} what="The events cannot be shown." />
      {found.isPending && error === undefined ? <Skeleton rows={10} /> : null}
      {found.data === undefined ? null : (
        <section class="panel flush" aria-label="Events">
          {waiting > 0 ? (
            <button class="waiting-events" onClick={() => setShownNew(tail.events.length)}>
              {waiting === 1 ? '1 new event' : `${formatCount(waiting)} new events`}
            </button>
          ) : null}
          {events.length === 0 ? (
            <p class="muted">{emptyText(conditions, last)}</p>
          ) : (
            <Table
              label={conditions.forward ? 'Events, oldest first' : 'Events, newest first'}
              rows={events}
              keyOf={idOf}
              columns={columns}
              onRowClick={toggle}
              detail={(event) =>
                opened.has(idOf(event)) ? (
                  <Opened event={event} queue={name} onChange={() => void found.refetch()} />
                ) : undefined
              }
            />
          )}
          <div class="pager">
            <span role="status">{progressText(events.length, pages)}</span>
            {last?.next === undefined || (conditions.forward && last.ended_by === 'end') ? null : (
              <button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
                {last.ended_by === 'search_limit'
                  ? 'Search on'
                  : conditions.forward
                    ? 'Show newer ones'
                    : 'Show older ones'}
              </button>
            )}
          </div>
        </section>
      )}
    </>
  );
}

/** A value that is cut at its end when it is long; its tooltip is the whole. */
function Cut({ text }: { text: string }): JSX.Element {
  return (
    <span class="cut" title={text}>
      {text}
    </span>
  );
}

function emptyText(conditions: Conditions, last: EventsPage | undefined): string {
  if (last?.ended_by === 'search_limit') return 'Nothing found so far.';
  return isSelective(conditions) || conditions.from !== '' ? 'No event is found.' : 'No events yet.';
}

/** How many events are shown, and how much was searched for them. */
function progressText(count: number, pages: readonly EventsPage[]): string {
  const read = pages.reduce((sum, page) => sum + page.read, 0);
  const all = pages[0]?.of ?? 0;
  const shown = count === 1 ? '1 event' : `${formatCount(count)} events`;
  return `${shown} shown; ${formatCount(Math.min(read, all))} of ${formatCount(all)} read`;
}

/** The digits of an offset without the zeros before them. */
function shortOffset(offset: string): string {
  return offset.replace(/^001-0001-0*(?=\d)/, '').replace(/^001-0001-/, '');
}

interface OpenedProperties {
  readonly event: FoundEvent;
  /** Where it was found: the path of the queue, for a dead letter. */
  readonly queue: string;
  readonly onChange: () => void;
}

function Opened({ event, queue, onChange }: OpenedProperties): JSX.Element {
  const text = shownJson(event.value, 2);
  const eid = fieldText(event, 'metadata.eid');
  return (
    <div class="opened">
      <div class="actions">
        <CopyButton text={text} what="event" isNamed />
        {eid === '' ? null : <CopyButton text={eid} what="eid" isNamed />}
        <CopyButton text={JSON.stringify({ partition: event.partition, offset: event.offset })} what="cursor" isNamed />
        {event.letter === undefined ? null : <LetterActions queue={queue} letter={event.letter} onChange={onChange} />}
        <span class="muted">
          partition {event.partition}, offset {event.offset}, stored <Time at={event.timestamp} exact />
        </span>
      </div>
      <pre tabIndex={0} role="region" aria-label="Event">
        {text}
      </pre>
    </div>
  );
}

function Download({ name, conditions }: { name: string; conditions: Conditions }): JSX.Element {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const download = async (): Promise<void> => {
    setIsBusy(true);
    setError(undefined);
    try {
      const headers = { Accept: 'application/x-ndjson' };
      const response = await send('GET', eventsPath(name, conditions, downloadMaximum), undefined, { headers });
      saveFile(`${name.replaceAll('/', '-').replace(/^-/, '')}.ndjson`, await response.text(), 'application/x-ndjson');
    } catch (failure) {
      setError(apiErrorOf(failure));
    }
    setIsBusy(false);
  };
  return (
    <>
      <button
        disabled={isBusy}
        onClick={() => void download()}
        title={`At most ${formatCount(downloadMaximum)} events`}
      >
        Download NDJSON
      </button>
      <Problem error={error} what="The events were not downloaded." />
    </>
  );
}
