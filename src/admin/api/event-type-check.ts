import { useEffect, useState } from 'preact/hooks';
import { after } from '../../client/clock.ts';
import type { Responses } from '../../contract.ts';
import { type ApiError, apiErrorOf, bodyText, call, JsonText } from './api.ts';
import { connection } from './connection-state.ts';

/** How long after the last key press the check is sent. */
const pauseMilliseconds = 300;

/** How long after a failure it is sent again. */
const retryMilliseconds = 2_000;

export interface CheckResult {
  /** Undefined during a check, and when there is none. */
  readonly outcome?: Responses['checkEventType'];
  /** Why there is no outcome at the moment. */
  readonly error?: ApiError;
}

/**
 * Checks a definition, an event, or both with the service, a moment after they last changed. A check that fails is sent
 * again, also when the service is back after it was unreachable.
 * @param body The body of the check; undefined while it is not known.
 */
export function useEventTypeCheck(body: object | undefined): CheckResult {
  const { generation } = connection.value;
  const requestBody = body === undefined ? undefined : bodyText(body);
  const [checked, setChecked] = useState<CheckResult & { readonly requestBody: string }>();
  useEffect(() => {
    if (requestBody === undefined) return undefined;
    const stop = new AbortController();
    let cancelNext: (() => void) | undefined;
    const runCheck = async (): Promise<void> => {
      try {
        const sent = new JsonText(requestBody);
        const options = { signal: stop.signal };
        const outcome = await call<Responses['checkEventType']>('POST', '/registry/event-type-checks', sent, options);
        setChecked({ requestBody, outcome });
      } catch (error) {
        if (stop.signal.aborted) return;
        const failure = apiErrorOf(error);
        setChecked({ requestBody, error: failure });
        if (failure.status === 0 || failure.status >= 500) {
          cancelNext = after(retryMilliseconds, () => void runCheck());
        }
      }
    };
    cancelNext = after(pauseMilliseconds, () => void runCheck());
    return () => {
      cancelNext?.();
      stop.abort();
    };
  }, [requestBody, generation]);
  return checked?.requestBody === requestBody && checked !== undefined ? checked : {};
}
