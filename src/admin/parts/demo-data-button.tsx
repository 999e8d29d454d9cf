import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/api.ts';
import { loadDemoData } from '../examples/demo-data.ts';
import { queries } from '../api/queries.ts';
import { Problem } from './problem.tsx';

/** Loads the demo data, on a page that has nothing to show yet. */
export function DemoDataButton(): JSX.Element {
  const [step, setStep] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const load = async (): Promise<void> => {
    setError(undefined);
    try {
      await loadDemoData(setStep);
    } catch (failure) {
      setError(apiErrorOf(failure));
    }
    setStep(undefined);
    await queries.invalidateQueries();
  };
  return (
    <>
      <div class="actions">
        <button disabled={step !== undefined} onClick={() => void load()}>
          Load demo data
        </button>
      </div>
      <p role="status" class="muted">
        {step ?? 'The demo data is an event type with events, a subscription, a loan product and three loans.'}
      </p>
      <Problem error={error} what="The demo data was loaded only in part." />
    </>
  );
}
