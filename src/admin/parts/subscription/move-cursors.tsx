import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Requests, Responses, Schemas } from '../../../contract.ts';
import { ApiError, call } from '../../api/api.ts';
import { listSubscriptions } from '../../api/api-lists.ts';
import { formatCount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { Confirm } from '../confirm.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Field, SelectField, TimeField } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../table.tsx';
import { curl } from '../../curl.ts';

type Cursor = Responses['listCursors']['items'][number];

/** Where a partition is, and where it goes. */
interface Move {
  readonly type: string;
  readonly partition: string;
  /** Undefined before the first stream of the subscription. */
  readonly before: string | undefined;
  readonly after: string;
  /** Positive: so many events are skipped; negative: so many are sent again. Undefined where nothing was committed. */
  readonly events: number | undefined;
}

const targets = [
  ['begin', 'the first event'],
  ['end', 'the end: only new events'],
  ['time', 'a time'],
  ['shift', 'a number of events further or back'],
  ['offset', 'an offset of one partition'],
  ['subscription', 'where another subscription is'],
] as const;

/** What a user chose: a target with its value. */
interface Target {
  readonly kind: string;
  readonly time: string;
  readonly shift: string;
  readonly partition: string;
  readonly offset: string;
  readonly subscriptionId: string;
}

interface MoveCursorsProperties {
  readonly subscription: Schemas['Subscription'];
  readonly cursors: readonly Cursor[];
  readonly openStreams: number;
  readonly onClose: () => void;
  readonly onMoved: () => void;
}

/** Moves the committed cursors of a subscription, after showing what that skips or sends again. */
export function MoveCursors(properties: MoveCursorsProperties): JSX.Element {
  const { subscription, cursors, openStreams, onClose, onMoved } = properties;
  const [type, setType] = useState('');
  const [target, setTarget] = useState<Target>({
    kind: 'end',
    time: localTime(new Date()),
    shift: '-100',
    partition: '0',
    offset: '',
    subscriptionId: '',
  });
  const set = (name: keyof Target) => (value: string) => setTarget((before) => ({ ...before, [name]: value }));
  const types = type === '' ? subscription.event_types : [type];
  const others = useLoaded('subscriptions', listSubscriptions);
  const choices = (others.data ?? []).filter(
    ({ id, event_types: read }) => id !== subscription.id && read.some((each) => types.includes(each)),
  );
  const isComplete =
    target.kind === 'time'
      ? !Number.isNaN(Date.parse(target.time))
      : target.kind === 'shift'
        ? /^-?[0-9]+$/.test(target.shift)
        : target.kind === 'offset'
          ? target.offset.trim() !== '' && types.length === 1
          : target.kind !== 'subscription' || target.subscriptionId !== '';
  const moves = useLoaded(
    `moves ${JSON.stringify([types, target, cursors])}`,
    (signal) => movesOf(types, target, cursors, signal),
    0,
    { isEnabled: isComplete },
  );
  const rows = isComplete ? (moves.data ?? []) : [];
  const body = {
    items: rows.map(({ type, partition, after }) => ({ event_type: type, partition, offset: after })),
  } satisfies Requests['resetCursors'];
  const address = `/subscriptions/${subscription.id}/cursors`;
  return (
    <Confirm
      title="Move cursors"
      action={`Move ${rows.length === 1 ? '1 cursor' : `${formatCount(rows.length)} cursors`}`}
      dangerous
      isWide
      waiting="Waiting for open streams to commit what they were sent, and to end …"
      isBlocked={rows.length === 0 || moves.error !== undefined}
      onClose={onClose}
      onConfirm={async () => {
        await call('PATCH', address, body);
        onMoved();
      }}
    >
      <div class="toolbar">
        <SelectField
          label="Event type"
          value={type}
          onInput={setType}
          options={[['', 'all'], ...subscription.event_types.map((each) => [each, each] as const)]}
        />
        <SelectField label="Move to" value={target.kind} onInput={set('kind')} options={targets} />
        {target.kind === 'time' ? (
          <TimeField label="Time, in your time zone" value={target.time} onInput={set('time')} />
        ) : null}
        {target.kind === 'shift' ? (
          <Field label="Events, negative to go back" value={target.shift} onInput={set('shift')} />
        ) : null}
        {target.kind === 'offset' ? (
          <>
            <Field label="Partition" value={target.partition} onInput={set('partition')} />
            <Field label="Offset" value={target.offset} onInput={set('offset')} hint="of the last event to skip" />
          </>
        ) : null}
        {target.kind === 'subscription' ? (
          <SelectField
            label="Subscription"
            value={target.subscriptionId}
            onInput={set('subscriptionId')}
            options={[
              ['', 'choose'],
              ...choices.map(
                ({ id, owning_application: owner, consumer_group: group }) => [id, `${owner} / ${group}`] as const,
              ),
            ]}
          />
        ) : null}
      </div>
      {target.kind === 'offset' && types.length > 1 ? <p class="muted">Choose the event type of the offset.</p> : null}
      <Problem error={isComplete ? moves.error : undefined} what="The cursors cannot be moved there." />
      {isComplete && moves.isLoading ? <Skeleton rows={3} /> : null}
      {rows.length === 0 ? null : (
        <>
          <p>
            {totalText(rows)}
            {openStreams > 0
              ? ` ${openStreams === 1 ? 'The open stream ends' : `The ${formatCount(openStreams)} open streams end`}, and the consumer connects again.`
              : ''}
          </p>
          <div class="scrolling">
            <Table
              label="Positions before and after"
              rows={rows}
              keyOf={({ type, partition }) => `${type} ${partition}`}
              columns={[
                ...(types.length === 1 ? [] : [{ name: 'Event type', cell: ({ type }: Move) => type }]),
                { name: 'Partition', cell: ({ partition }) => partition },
                { name: 'Before', cell: ({ before }) => (before === undefined ? 'none yet' : <code>{before}</code>) },
                { name: 'After', cell: ({ after }) => <code>{after}</code> },
                { name: 'Effect', cell: ({ events }) => effectText(events) },
              ]}
            />
          </div>
          <div class="actions">
            <CopyButton text={curl('PATCH', address, body)} what="as curl" isNamed />
          </div>
        </>
      )}
    </Confirm>
  );
}

function effectText(events: number | undefined): string {
  if (events === undefined) return 'begins there';
  if (events === 0) return 'stays';
  return events > 0 ? `${formatCount(events)} skipped` : `${formatCount(-events)} sent again`;
}

function totalText(moves: readonly Move[]): string {
  const skipped = moves.reduce((sum, { events = 0 }) => sum + Math.max(0, events), 0);
  const repeated = moves.reduce((sum, { events = 0 }) => sum + Math.max(0, -events), 0);
  const parts = [
    ...(skipped > 0 ? [`${formatCount(skipped)} events are skipped`] : []),
    ...(repeated > 0 ? [`${formatCount(repeated)} events are sent again`] : []),
  ];
  return parts.length === 0 ? 'No event is skipped or sent again.' : `${parts.join(', and ')}.`;
}

/** A time as a field of a form has it, to the minute, in the time zone of the user. */
function localTime(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

async function movesOf(
  types: readonly string[],
  target: Target,
  cursors: readonly Cursor[],
  signal: AbortSignal,
): Promise<Move[]> {
  const ofTypes = await Promise.all(types.map((type) => movesOfType(type, target, cursors, signal)));
  return ofTypes.flat();
}

async function movesOfType(
  type: string,
  target: Target,
  cursors: readonly Cursor[],
  signal: AbortSignal,
): Promise<Move[]> {
  const address = `/event-types/${encodeURIComponent(type)}`;
  const committed = new Map(
    cursors.filter((cursor) => cursor.event_type === type).map(({ partition, offset }) => [partition, offset]),
  );
  const positions = await positionsOf(type, target, committed, signal);
  const pairs = positions.flatMap(({ partition, offset }) => {
    const before = committed.get(partition);
    return before === undefined
      ? []
      : [{ initial_cursor: { partition, offset: before }, final_cursor: { partition, offset } }];
  });
  const distances =
    pairs.length === 0
      ? []
      : await call<Responses['measureCursorDistances']>('POST', `${address}/cursor-distances`, pairs, { signal });
  const events = new Map(
    pairs.map(({ final_cursor: { partition } }, index) => [partition, distances[index]?.distance]),
  );
  return positions.map(({ partition, offset }) => ({
    type,
    partition,
    before: committed.get(partition),
    after: offset,
    events: events.get(partition),
  }));
}

interface Position {
  readonly partition: string;
  readonly offset: string;
}

/** The positions of a target in the partitions of an event type. */
async function positionsOf(
  type: string,
  target: Target,
  committed: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<readonly Position[]> {
  const address = `/event-types/${encodeURIComponent(type)}`;
  const options = { signal };
  switch (target.kind) {
    case 'end': {
      const bounds = await call<Responses['listPartitions']>('GET', `${address}/partitions`, undefined, options);
      return bounds.map(({ partition, newest_available_offset: offset }) => ({ partition, offset }));
    }
    case 'shift': {
      const from = [...committed].map(([partition, offset]) => ({ partition, offset, shift: Number(target.shift) }));
      if (from.length === 0) throw new ApiError(0, ['Nothing is committed yet that could be moved.']);
      return call<Responses['shiftCursors']>('POST', `${address}/shifted-cursors`, from, options);
    }
    case 'offset':
      return [{ partition: target.partition.trim(), offset: target.offset.trim() }];
    case 'subscription': {
      const path = `/subscriptions/${target.subscriptionId}/cursors`;
      const { items } = await call<Responses['listCursors']>('GET', path, undefined, options);
      return items.filter(({ event_type: each }) => each === type);
    }
    default: {
      const time = target.kind === 'begin' ? new Date(0) : new Date(target.time);
      return call<Responses['findCursorsAt']>('POST', `${address}/cursors-at`, { time: time.toISOString() }, options);
    }
  }
}
