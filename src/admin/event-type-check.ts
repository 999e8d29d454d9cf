import { useEffect, useState } from 'preact/hooks';
import type { Answers } from '../contract.ts';
import { ApiError, call, connection } from './api.ts';
import { useStore } from './store.ts';

/** How long after the last key the service is asked. */
const pauseMilliseconds = 300;

/** How long after a failure it is asked again. */
const retryMilliseconds = 2_000;

export interface Checked {
  /** Undefined while it is asked for, and when there is none. */
  readonly verdict?: Answers['checkEventType'];
  /** Why there is no verdict for now. */
  readonly error?: ApiError;
}

/**
 * What the service would make of a definition, of an event, or of both, asked for a moment after they last changed. A
 * service that fails is asked again, and so is one that was away as soon as it is back.
 * @param body What to ask; undefined while that is not known.
 */
export function useEventTypeCheck(body: object | undefined): Checked {
  const { generation } = useStore(connection);
  const asked = body === undefined ? undefined : JSON.stringify(body);
  const [checked, setChecked] = useState<Checked & { readonly asked: string }>();
  useEffect(() => {
    if (asked === undefined) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        const sent = JSON.parse(asked) as object;
        const options = { signal: stop.signal };
        const verdict = await call<Answers['checkEventType']>('POST', '/registry/event-type-checks', sent, options);
        setChecked({ asked, verdict });
      } catch (error) {
        if (stop.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(0, [String(error)]);
        setChecked({ asked, error: failure });
        if (failure.status === 0 || failure.status >= 500) timer = setTimeout(() => void ask(), retryMilliseconds);
      }
    };
    timer = setTimeout(() => void ask(), pauseMilliseconds);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked, generation]);
  return checked?.asked === asked && checked !== undefined ? checked : {};
}
