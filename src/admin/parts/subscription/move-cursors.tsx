import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { timestamp } from '../../../client/clock.ts';
import type { Requests, Responses, Schemas } from '../../../contract.ts';
import { call } from '../../api/api.ts';
import { listSubscriptions } from '../../api/api-lists.ts';
import { queries, useLoaded } from '../../api/queries.ts';
import { curl } from '../../curl.ts';
import { formatCount, localTimeOf } from '../../formats.ts';
import { Confirm } from '../confirm.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Field, SelectField, TimeField } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';
import { subscriptionName } from './subscription-name.tsx';

type Moves = Responses['moveCursors'];
type PartitionMove = Moves['items'][number];

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
  readonly onClose: () => void;
  readonly onMoved: () => void;
}

/** Moves the committed cursors of a subscription, exactly as shown before: how many events are skipped or sent again. */
export function MoveCursors({ subscription, onClose, onMoved }: MoveCursorsProperties): JSX.Element {
  const [type, setType] = useState('');
  const [target, setTarget] = useState<Target>({
    kind: 'end',
    time: localTimeOf(timestamp()),
    shift: '-100',
    partition: '0',
    offset: '',
    subscriptionId: '',
  });
  const set = (name: keyof Target) => (value: string) => setTarget((before) => ({ ...before, [name]: value }));
  const others = useLoaded('subscriptions', listSubscriptions, 0, { isEnabled: target.kind === 'subscription' });
  const types = type === '' ? subscription.event_types : [type];
  const choices = (others.data ?? []).filter(
    ({ id, event_types: read }) => id !== subscription.id && read.some((each) => types.includes(each)),
  );
  const address = `/subscriptions/${subscription.id}/cursor-moves`;
  const to = placeOf(target);
  const onlyType = type === '' && subscription.event_types.length === 1 ? subscription.event_types[0] : type;
  const isComplete = to !== undefined && (target.kind !== 'offset' || onlyType !== '');
  const only = {
    ...(onlyType === '' || onlyType === undefined ? {} : { event_type: onlyType }),
    ...(target.kind === 'offset' ? { partition: target.partition.trim() } : {}),
  };
  const preview = { ...(to === undefined ? {} : { to }), ...(Object.keys(only).length === 0 ? {} : { only }) };
  const key = `cursor-moves ${subscription.id} ${JSON.stringify(preview)}`;
  const moves = useLoaded(key, (signal) => call<Moves>('POST', address, { ...preview, dry_run: true }, { signal }), 0, {
    isEnabled: isComplete,
  });
  const shown = isComplete && moves.error === undefined ? moves.data : undefined;
  const count = shown?.items.length ?? 0;
  const body = { items: [...(shown?.items ?? [])] } satisfies Requests['moveCursors'];
  return (
    <Confirm
      title="Move cursors"
      action={count === 1 ? 'Move 1 cursor' : `Move ${formatCount(count)} cursors`}
      dangerous
      isWide
      waiting="Waiting for open streams to commit what they were sent, and to end …"
      isBlocked={count === 0}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await call('POST', address, body);
        } catch (failure) {
          // A cursor may have moved since: load and show the current positions.
          void queries.invalidateQueries({ queryKey: [key] });
          throw failure;
        }
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
            options={[['', 'choose'], ...choices.map((choice) => [choice.id, subscriptionName(choice)] as const)]}
          />
        ) : null}
      </div>
      {target.kind === 'offset' && onlyType === '' ? <p class="muted">Choose the event type of the offset.</p> : null}
      <Problem error={isComplete ? moves.error : undefined} what="The cursors cannot be moved there." />
      {isComplete && moves.isLoading ? <Skeleton rows={3} /> : null}
      {shown === undefined ? null : (
        <>
          <p>{totalText(shown)}</p>
          <div class="scrolling" tabIndex={0} role="region" aria-label="Positions before and after">
            <Table
              label="Positions before and after"
              rows={shown.items}
              keyOf={({ event_type: each, partition }) => `${each} ${partition}`}
              columns={[
                {
                  name: 'Event type',
                  hidden: types.length === 1,
                  cell: ({ event_type: each }) => each,
                },
                { name: 'Partition', cell: ({ partition }) => partition },
                { name: 'Before', cell: ({ before }) => <code>{before}</code> },
                { name: 'After', cell: ({ after }) => <code>{after}</code> },
                { name: 'Effect', keyword: true, cell: (move) => effectText(move) },
              ]}
            />
          </div>
          <div class="actions">
            <CopyButton text={curl('POST', address, body)} what="as curl" isNamed />
          </div>
        </>
      )}
    </Confirm>
  );
}

/** A target in the form of the API; undefined while it is not complete. */
function placeOf({ kind, time, shift, offset, subscriptionId }: Target): Requests['moveCursors']['to'] | undefined {
  switch (kind) {
    case 'time':
      return Number.isNaN(Date.parse(time)) ? undefined : { time: new Date(time).toISOString() };
    case 'shift':
      return /^-?[0-9]+$/.test(shift.trim()) ? { shift: Number(shift) } : undefined;
    case 'offset':
      return offset.trim() === '' ? undefined : { offset: offset.trim() };
    case 'subscription':
      return subscriptionId === '' ? undefined : { subscription_id: subscriptionId };
    default:
      return { position: kind === 'begin' ? 'begin' : 'end' };
  }
}

function effectText({ skipped, repeated }: PartitionMove): string {
  if (skipped > 0) return `${formatCount(skipped)} skipped`;
  return repeated > 0 ? `${formatCount(repeated)} sent again` : 'stays';
}

function totalText({ skipped, repeated, open_streams: openStreams }: Moves): string {
  const parts = [
    ...(skipped > 0 ? [skipped === 1 ? '1 event is skipped' : `${formatCount(skipped)} events are skipped`] : []),
    ...(repeated > 0
      ? [repeated === 1 ? '1 event is sent again' : `${formatCount(repeated)} events are sent again`]
      : []),
  ];
  const effect = parts.length === 0 ? 'No event is skipped or sent again.' : `${parts.join(', and ')}.`;
  if (openStreams === 0) return effect;
  const streams = openStreams === 1 ? 'The open stream ends' : `The ${formatCount(openStreams)} open streams end`;
  return `${effect} ${streams}, and the consumer connects again.`;
}
