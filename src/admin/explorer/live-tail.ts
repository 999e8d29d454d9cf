import { useEffect, useRef, useState } from 'preact/hooks';
import { after } from '../../client/clock.ts';
import { type ApiError, apiErrorOf } from '../api/api.ts';
import { connection } from '../api/connection-state.ts';
import { type FoundEvent, loadEvents } from './found-events.ts';

/** How often new events are asked for. */
const pollMilliseconds = 700;

/** How many new events are kept: the newest ones. */
const eventsMaximum = 500;

export interface LiveTail {
  /** Newest first. */
  readonly events: readonly FoundEvent[];
  readonly isConnected: boolean;
  readonly error: ApiError | undefined;
}

/**
 * The events that were stored after a page was loaded, until paused. After a pause, or when the service is back, it
 * resumes at its position.
 * @param start The token from which new events follow; undefined while it is not known.
 * @param pathOf The path of the page of events at a token.
 */
export function useLiveTail(start: string | undefined, isPaused: boolean, pathOf: (token: string) => string): LiveTail {
  const { generation, reachable } = connection.value;
  const [events, setEvents] = useState<readonly FoundEvent[]>([]);
  const [isOpen, setIsOpen] = useState(false);
  const [error, setError] = useState<ApiError>();
  const position = useRef<{ readonly start: string; token: string }>(undefined);
  const latestPath = useRef(pathOf);
  latestPath.current = pathOf;
  useEffect(() => {
    if (start === undefined) return undefined;
    if (position.current?.start !== start) {
      position.current = { start, token: start };
      setEvents([]);
    }
    if (isPaused) return undefined;
    const stop = new AbortController();
    let cancelNext: (() => void) | undefined;
    const follow = async (): Promise<void> => {
      const current = position.current;
      if (current === undefined) return;
      try {
        let isBehind = !document.hidden;
        while (isBehind) {
          const page = await loadEvents(latestPath.current(current.token), stop.signal);
          if (stop.signal.aborted) return;
          current.token = page.next ?? current.token;
          isBehind = page.ended_by !== 'end';
          if (page.items.length > 0) {
            setEvents((before) => [...page.items.toReversed(), ...before].slice(0, eventsMaximum));
          }
          setIsOpen(true);
          setError(undefined);
        }
      } catch (failure) {
        if (stop.signal.aborted) return;
        setIsOpen(false);
        const problem = apiErrorOf(failure);
        if (problem.status !== 0) setError(problem);
        if (problem.status === 404) return;
      }
      cancelNext = after(pollMilliseconds, () => void follow());
    };
    void follow();
    return () => {
      stop.abort();
      cancelNext?.();
      setIsOpen(false);
    };
  }, [start, isPaused, generation]);
  return { events, isConnected: isOpen && reachable, error };
}
