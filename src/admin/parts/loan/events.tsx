import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { exactly, getText, type Exact } from '../../api/api.ts';
import { sentence } from '../../api/error-words.ts';
import { wordsOf } from '../../commands/command-fields.ts';
import { parseToShow, shownJson } from '../../exact-numbers.ts';
import { formatAmount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { CopyButton } from '../copy-button.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Time } from '../time.tsx';

const refreshMilliseconds = 3_000;

/** The schemas do not describe its metadata: every published event has it. */
type LoanEvent = Exact<Responses['listLoanEvents']>['items'][number] & {
  readonly metadata: { readonly eid: string; readonly event_type: string; readonly occurred_at: string };
};

/** An event, and its JSON as the service wrote its numbers. */
interface ShownEvent {
  readonly event: LoanEvent;
  readonly shown: string;
}

interface ShownEvents {
  readonly items: readonly ShownEvent[];
  /** Whether the first event of the loan is among them. */
  readonly complete: boolean;
}

/** The events of a loan in their order, from all event types. @throws ApiError */
async function loadLoanEvents(id: string, signal: AbortSignal): Promise<ShownEvents> {
  const text = await getText(`/loans/${encodeURIComponent(id)}/events`, { signal });
  const shown = (parseToShow(text) as { readonly items: readonly unknown[] }).items;
  const { items, complete } = exactly<Responses['listLoanEvents']>(text);
  return {
    items: (items as readonly LoanEvent[]).map((event, index) => ({ event, shown: shownJson(shown[index], 2) })),
    complete,
  };
}

/** The events of a loan, as they are loaded again and again. */
export function LoanEvents({ id }: { id: string }): JSX.Element {
  const events = useLoaded(`events ${id}`, (signal) => loadLoanEvents(id, signal), refreshMilliseconds);
  const items = events.data?.items ?? [];
  const firstSequence = Number(items.map(sequenceOf).find((sequence) => sequence !== undefined) ?? 1);
  return (
    <section class="panel flush" aria-label="Events">
      <Problem error={events.error} what="The events cannot be shown." />
      {events.isLoading ? <Skeleton rows={8} /> : null}
      {firstSequence > 1 ? (
        <p class="muted">
          {events.data?.complete === false
            ? `Events 1 to ${firstSequence - 1} are too far back to be searched here.`
            : `Events 1 to ${firstSequence - 1} have expired: their retention time is over.`}
        </p>
      ) : null}
      {events.data !== undefined && items.length === 0 ? (
        <p class="muted">No event of this loan is available any more.</p>
      ) : null}
      <EventRows items={items} />
    </section>
  );
}

/** The events that a command made. */
export function EventsOfCommand({ loanId, commandId }: { loanId: string; commandId: string }): JSX.Element {
  const events = useLoaded(`events ${loanId} of ${commandId}`, (signal) => loadLoanEvents(loanId, signal));
  const items = events.data?.items.filter(({ event }) => event.causationCommandId === commandId) ?? [];
  return (
    <>
      <Problem error={events.error} what="Its events cannot be shown." />
      {events.isLoading ? <Skeleton rows={3} /> : null}
      {events.data !== undefined && items.length === 0 ? <p class="muted">It made no events.</p> : null}
      <EventRows items={items} />
    </>
  );
}

function EventRows({ items }: { items: readonly ShownEvent[] }): JSX.Element {
  return (
    <ol class="events">
      {items.map(({ event, shown }, index) => (
        <li key={event.metadata.eid}>
          <details>
            <summary>
              <span class="muted sequence">
                {sequenceOf({ event }) === undefined ? '—' : `#${sequenceOf({ event })}`}
              </span>
              <span class="grow">{describe(event)}</span>
              <code>{event.metadata.event_type}</code>
              <Time at={event.metadata.occurred_at} still />
            </summary>
            <div class="opened">
              <div class="actions">
                <CopyButton text={shown} what="event" isNamed />
                <CopyButton text={event.metadata.eid} what="eid" isNamed />
              </div>
              <pre tabIndex={0} role="region" aria-label={`Event ${index + 1}`}>
                {shown}
              </pre>
            </div>
          </details>
        </li>
      ))}
    </ol>
  );
}

/** Its position among the events of the loan; a refused command has none. */
function sequenceOf({ event }: Pick<ShownEvent, 'event'>): string | undefined {
  return 'sequence' in event ? event.sequence : undefined;
}

function describe(event: LoanEvent): string {
  if ('transaction' in event) return `${sentence(event.name)}, ${formatAmount(event.transaction.amount)}`;
  if ('feeEvent' in event) return `Fee ${event.feeEvent.toLowerCase()}, ${formatAmount(event.amount)}`;
  if ('changes' in event) return `Balances changed: ${describeChanges(event.changes)}`;
  if ('changedInstallments' in event) return `Schedule changed: ${sentence(event.reason).toLowerCase()}`;
  if ('accountState' in event) return `${sentence(event.name)}, now ${sentence(event.accountState).toLowerCase()}`;
  if ('account' in event) return 'Account changed';
  return `Refused: ${event.errors.map(({ errorReason }) => sentence(errorReason).toLowerCase()).join(', ')}`;
}

/** How many balances are named in a row. */
const changesNamed = 2;

type Changes = Extract<LoanEvent, { readonly changes: unknown }>['changes'];

/** The balances that changed, with what they were changed by; what is outstanding first. */
function describeChanges(changes: Changes): string {
  const isBalance = ({ type }: Changes[number]): boolean => type.endsWith('Balance');
  const ordered = changes.toSorted((left, right) => Number(isBalance(right)) - Number(isBalance(left)));
  const named = ordered.slice(0, changesNamed).map(({ type, amount, balanceAfter }) => {
    const change = amount.startsWith('-') ? `−${formatAmount(amount.slice(1))}` : `+${formatAmount(amount)}`;
    return `${wordsOf(type).toLowerCase()} ${formatAmount(balanceAfter)} (${change})`;
  });
  const more = changes.length - named.length;
  return `${named.join(', ')}${more > 0 ? `, ${more} more` : ''}`;
}
