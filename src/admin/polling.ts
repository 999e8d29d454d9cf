import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from './api.ts';
import { connection } from './connection-state.ts';
import { useStore } from './observed-value.ts';

export interface Loaded<Data> {
  /** The last response; kept while the service is unreachable. */
  readonly data: Data | undefined;
  /** Why the last attempt failed; the page's banner reports an unreachable service. */
  readonly error: ApiError | undefined;
  /** Requests it again now. */
  readonly reload: () => void;
}

/**
 * Requests something from the service and keeps it up to date.
 * @param key Identifies the content: another key drops the previous response.
 * @param everyMilliseconds How often to request again while the tab is visible; 0 means once.
 */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  everyMilliseconds = 0,
): Loaded<Data> {
  const { generation } = useStore(connection);
  const [reloads, setReloads] = useState(0);
  const [loaded, setLoaded] = useState<{ key: string; data?: Data; error?: ApiError }>({ key });
  const latestLoad = useRef(load);
  latestLoad.current = load;
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const data = await latestLoad.current(stop.signal);
          if (!stop.signal.aborted) setLoaded({ key, data });
        } catch (error) {
          if (stop.signal.aborted) return;
          const failure = apiErrorOf(error);
          setLoaded((before) => {
            const kept = before.key === key && before.data !== undefined ? { data: before.data } : {};
            return failure.status === 0 && !connection.get().reachable
              ? { key, ...kept }
              : { key, ...kept, error: failure };
          });
        }
      }
      if (everyMilliseconds > 0 && !stop.signal.aborted) timer = setTimeout(() => void poll(), everyMilliseconds);
    };
    void poll();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, generation, reloads, everyMilliseconds]);
  const reload = useCallback(() => setReloads((before) => before + 1), []);
  const current = loaded.key === key ? loaded : { key };
  return { data: current.data, error: current.error, reload };
}
