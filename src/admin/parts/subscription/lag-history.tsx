import type { JSX } from 'preact';
import type { Schemas } from '../../../contract.ts';
import { formatCount } from '../../formats.ts';
import { Sparkline } from '../sparkline.tsx';

/** How the lag went in the last hour, as the process that answered saw it. */
export function LagHistory({ history }: { history: Schemas['LagHistory'] }): JSX.Element {
  const { unconsumed_events: values, interval_seconds: intervalSeconds } = history;
  const known = values.filter((value) => value !== null);
  return (
    <section class="panel" aria-label="Lag in the last hour">
      <h2>Lag in the last hour</h2>
      {known.length === 0 ? (
        <p class="muted">
          Nothing is known of it: this process looks every ten seconds, and keeps the 1,000 subscriptions that lack
          most.
        </p>
      ) : (
        <>
          <p class="muted">
            From {formatCount(Math.min(...known))} to {formatCount(Math.max(...known))} events
          </p>
          <Sparkline values={values} what="Lag in events" intervalSeconds={intervalSeconds} isLarge />
        </>
      )}
    </section>
  );
}
