import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { now, sleep } from '../../client/clock.ts';
import type { Requests, Responses } from '../../contract.ts';
import { type ApiError, apiErrorOf, call } from '../api/api.ts';
import { formatCount } from '../formats.ts';
import { useLoaded } from '../api/queries.ts';
import { Confirm } from './confirm.tsx';
import { Problem } from './problem.tsx';
import { Time } from './time.tsx';

const refreshMilliseconds = 5_000;
/** How often the progress is looked at while a day is being closed. */
const progressMilliseconds = 1_000;
/** How long the dialog stays open while the day is being closed. It then makes room for the progress. */
const dialogMilliseconds = 1_000;
const dayMilliseconds = 86_400_000;

interface BusinessDay {
  readonly businessDate: string;
  readonly timeZone: string;
  /** The day that is over most recently where the organization is. */
  readonly lastDayOver: string;
  readonly endOfDay: EndOfDay;
}

type EndOfDay = Responses['getEndOfDay'];

/** A day that is being closed, with the accounts that it had to visit in the beginning. */
interface ClosingDay {
  readonly businessDate: string;
  readonly accounts: number;
}

/** The business date of all loans, and the end of a day by hand. */
export function BusinessDayPanel({ onClosed }: { onClosed: () => void }): JSX.Element {
  const [dayToClose, setDayToClose] = useState<string>();
  const [closing, setClosing] = useState<ClosingDay>();
  const [closed, setClosed] = useState<ClosingDay>();
  const [failure, setFailure] = useState<ApiError>();
  const day = useLoaded(
    'business-day',
    loadBusinessDay,
    closing === undefined ? refreshMilliseconds : progressMilliseconds,
  );
  const { data } = day;

  /** Closes a day, however long it takes. */
  const close = async (next: ClosingDay): Promise<void> => {
    setClosed(undefined);
    setFailure(undefined);
    setClosing(next);
    try {
      while (!(await closeDay(next.businessDate)));
      setClosed(next);
      onClosed();
    } finally {
      setClosing(undefined);
      day.reload();
    }
  };
  return (
    <section class="panel" aria-labelledby="business-day">
      <div class="title">
        <h2 id="business-day">Business day</h2>
        {data === undefined ? null : (
          <div class="actions">
            <button disabled={closing !== undefined} onClick={() => setDayToClose(data.lastDayOver)}>
              Close day {data.lastDayOver}
            </button>
          </div>
        )}
      </div>
      <Problem error={day.error} what="The business date cannot be shown." />
      <Problem error={failure} what="The day was not closed." />
      {data === undefined ? null : (
        <dl>
          <dt>Business date</dt>
          <dd>{data.businessDate}</dd>
          <dt>Time zone</dt>
          <dd>{data.timeZone}</dd>
          <dt>Last closed day</dt>
          <dd>{closedDaysOf(data.endOfDay)}</dd>
          <dt>Next end of day</dt>
          <dd>
            {data.endOfDay.businessDate}, with {accounts(accountsDueIn(data.endOfDay))} to visit
          </dd>
          <dt>Schedule</dt>
          <dd>
            <Schedule endOfDay={data.endOfDay} />
          </dd>
        </dl>
      )}
      {data === undefined ? null : <AccountsBehind endOfDay={data.endOfDay} />}
      {data === undefined || data.businessDate > data.lastDayOver ? null : (
        <p class="muted">
          {data.businessDate === data.lastDayOver
            ? `${data.lastDayOver} is not closed yet.`
            : `The days from ${data.businessDate} to ${data.lastDayOver} are not closed yet.`}
        </p>
      )}
      {closing === undefined || data === undefined ? null : <Progress closing={closing} endOfDay={data.endOfDay} />}
      <p role="status" class={closing === undefined ? 'done' : 'muted'}>
        {closing !== undefined
          ? `${closing.businessDate} is being closed …`
          : closed === undefined
            ? ''
            : `${closed.businessDate} is closed.`}
      </p>
      {dayToClose === undefined ? null : (
        <Confirm
          title={`Close day ${dayToClose}?`}
          action="Close day"
          onClose={() => setDayToClose(undefined)}
          onConfirm={async () => {
            const isOfThisDay = data?.endOfDay.businessDate === dayToClose;
            const accountCount = data === undefined || !isOfThisDay ? 0 : accountsDueIn(data.endOfDay);
            const done = close({ businessDate: dayToClose, accounts: accountCount });
            await Promise.race([done, sleep(dialogMilliseconds)]);
            setDayToClose(undefined);
            done.catch((error: unknown) => setFailure(apiErrorOf(error)));
          }}
        >
          <p>
            Every loan moves on to the next day, after earlier days that were missed. Loans with unpaid installments
            become late, with the fees and penalties of their product. This cannot be undone.
          </p>
          <p>A day that is closed already is not closed again.</p>
        </Confirm>
      )}
    </section>
  );
}

/** How much of a day is closed. */
function Progress({ closing, endOfDay }: { closing: ClosingDay; endOfDay: EndOfDay }): JSX.Element {
  const { partitions } = endOfDay;
  const closedCount = partitions.filter(({ closedDay = '' }) => closedDay >= closing.businessDate).length;
  // Once the day is closed, the accounts are those of the next one.
  const left = endOfDay.businessDate === closing.businessDate ? accountsDueIn(endOfDay) : 0;
  const total = Math.max(closing.accounts, left);
  return (
    <div class="progress">
      <progress
        aria-label={`Closing ${closing.businessDate}`}
        max={total + partitions.length}
        value={total - left + closedCount}
      />
      <p class="muted">
        {closedCount} of {partitions.length} partitions closed, {accounts(left)} left
      </p>
    </div>
  );
}

/** When days are closed without an admin. */
function Schedule({ endOfDay: { schedule } }: { endOfDay: EndOfDay }): JSX.Element {
  if (schedule === undefined) return <>off: days are closed by hand, or by another process</>;
  return (
    <>
      <code>{schedule.expression}</code>
      {schedule.nextRun === undefined ? (
        ', which is never'
      ) : (
        <>
          , next on <Time at={schedule.nextRun} exact />
        </>
      )}
    </>
  );
}

/** A warning while accounts were not brought to the business date. */
function AccountsBehind({ endOfDay }: { endOfDay: EndOfDay }): JSX.Element | null {
  const behind = endOfDay.partitions.reduce((sum, { accountsBehind }) => sum + accountsBehind, 0);
  if (behind === 0) return null;
  return (
    <p>
      <span class="tag warn">{accounts(behind)} behind</span> The last end of a day failed on them, and a dead letter
      says why; or an entry was dated back since. The next end of a day visits them again.
    </p>
  );
}

function accountsDueIn({ partitions }: EndOfDay): number {
  return partitions.reduce((sum, { accountsDue }) => sum + accountsDue, 0);
}

function accounts(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'account' : 'accounts'}`;
}

/** The day that every partition has closed, and how many partitions are further. */
function closedDaysOf({ partitions }: EndOfDay): string {
  const days = partitions.map(({ closedDay = '' }) => closedDay).toSorted();
  const [first = ''] = days;
  const ahead = days.filter((day) => day > first).length;
  const last = first === '' ? 'none yet' : first;
  return ahead === 0 ? last : `${last}; a later one on ${ahead} of ${days.length} partitions`;
}

/** Returns whether the day is closed. The service responds after 30 seconds at most, and continues to close it. */
async function closeDay(businessDate: string): Promise<boolean> {
  const body = { businessDate } satisfies Requests['endOfDay'];
  const { status } = await call<Responses['endOfDay']>('POST', '/organization:endOfDay', body);
  return status === 'CLOSED';
}

async function loadBusinessDay(signal: AbortSignal): Promise<BusinessDay> {
  const [{ businessDate }, { timeZoneID }, endOfDay] = await Promise.all([
    call<Responses['getBusinessDate']>('GET', '/organization/businessDate', undefined, { signal }),
    call<Responses['getOrganizationSetup']>('GET', '/setup/organization', undefined, { signal }),
    call<EndOfDay>('GET', '/organization/endOfDay', undefined, { signal }),
  ]);
  return { businessDate, timeZone: timeZoneID, lastDayOver: dayBefore(timeZoneID, now()), endOfDay };
}

/** The day before the one that a time zone has at a time. */
function dayBefore(timeZone: string, at: number): string {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);
  return new Date(Date.parse(today) - dayMilliseconds).toISOString().slice(0, 10);
}
