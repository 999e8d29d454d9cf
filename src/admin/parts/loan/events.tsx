import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { exactly, getText, type Exact } from '../../api/api.ts';
import { sentence } from '../../api/error-words.ts';
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

/** The events of a loan in their order, from all event types. */
export function LoanEvents({ id }: { id: string }): JSX.Element {
  const events = useLoaded(
    `events ${id}`,
    async (signal) => {
      const text = await getText(`/loans/${encodeURIComponent(id)}/events`, { signal });
      const { items } = parseToShow(text) as { items: unknown[] };
      return { ...exactly<Responses['listLoanEvents']>(text), shown: items.map((item) => shownJson(item, 2)) };
    },
    refreshMilliseconds,
  );
  const items = (events.data?.items ?? []) as readonly LoanEvent[];
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
      <ol class="events">
        {items.map((event, index) => (
          <li key={event.metadata.eid}>
            <details>
              <summary>
                <span class="muted sequence">{sequenceOf(event) === undefined ? '—' : `#${sequenceOf(event)}`}</span>
                <span class="grow">{describe(event)}</span>
                <code>{event.metadata.event_type}</code>
                <Time at={event.metadata.occurred_at} still />
              </summary>
              <div class="opened">
                <div class="actions">
                  <CopyButton text={events.data?.shown[index] ?? ''} what="event" isNamed />
                  <CopyButton text={event.metadata.eid} what="eid" isNamed />
                </div>
                <pre tabIndex={0} role="region" aria-label={`Event ${index + 1}`}>
                  {events.data?.shown[index]}
                </pre>
              </div>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Its position among the events of the loan; a refused command has none. */
function sequenceOf(event: LoanEvent): string | undefined {
  return 'sequence' in event ? event.sequence : undefined;
}

function describe(event: LoanEvent): string {
  if ('transaction' in event) return `${sentence(event.name)}, ${formatAmount(event.transaction.amount)}`;
  if ('feeEvent' in event) return `Fee ${event.feeEvent.toLowerCase()}, ${formatAmount(event.amount)}`;
  if ('changes' in event) return `Balances changed (${event.changes.length})`;
  if ('changedInstallments' in event) return `Schedule changed: ${sentence(event.reason).toLowerCase()}`;
  if ('accountState' in event) return `${sentence(event.name)}, now ${sentence(event.accountState).toLowerCase()}`;
  if ('account' in event) return 'Account changed';
  return `Refused: ${event.errors.map(({ errorReason }) => sentence(errorReason).toLowerCase()).join(', ')}`;
}
