import { useEffect, useState } from 'preact/hooks';
import type { Responses } from '../contract.ts';
import { ApiError, call, connection } from './api.ts';
import { useStore } from './store.ts';

/** How long after the last key the service is asked. */
const pauseMilliseconds = 300;

/** How long after a failure it is asked again. */
const retryMilliseconds = 2_000;

export interface CheckResult {
  /** Undefined while it is asked for, and when there is none. */
  readonly outcome?: Responses['checkEventType'];
  /** Why there is no verdict for now. */
  readonly error?: ApiError;
}

/**
 * What the service would make of a definition, of an event, or of both, asked for a moment after they last changed. A
 * service that fails is asked again, and so is one that was away as soon as it is back.
 * @param body What to ask; undefined while that is not known.
 */
export function useEventTypeCheck(body: object | undefined): CheckResult {
  const { generation } = useStore(connection);
  const requestBody = body === undefined ? undefined : JSON.stringify(body);
  const [checked, setChecked] = useState<CheckResult & { readonly requestBody: string }>();
  useEffect(() => {
    if (requestBody === undefined) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const runCheck = async (): Promise<void> => {
      try {
        const sent = JSON.parse(requestBody) as object;
        const options = { signal: stop.signal };
        const outcome = await call<Responses['checkEventType']>('POST', '/registry/event-type-checks', sent, options);
        setChecked({ requestBody, outcome });
      } catch (error) {
        if (stop.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(0, [String(error)]);
        setChecked({ requestBody, error: failure });
        if (failure.status === 0 || failure.status >= 500) timer = setTimeout(() => void runCheck(), retryMilliseconds);
      }
    };
    timer = setTimeout(() => void runCheck(), pauseMilliseconds);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [requestBody, generation]);
  return checked?.requestBody === requestBody && checked !== undefined ? checked : {};
}
