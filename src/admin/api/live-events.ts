import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Responses, Requests } from '../../contract.ts';
import { ApiError, call, send } from './api.ts';
import { connection } from './connection-state.ts';
import { parseToShow } from '../exact-numbers.ts';

/** An event as it was received, with the position of its batch. */
export interface LiveEvent {
  readonly key: string;
  readonly partition: string;
  readonly offset: string;
  /** The event's fields, to be shown by {@link shownJson}. */
  readonly value: Readonly<Record<string, unknown>>;
}

type Batch = Responses['readEvents'];

/** How many events of each partition are shown: the latest ones. */
export const eventsPerPartition = 25;

const reopenMilliseconds = 1_000;

export interface LiveEvents {
  /** By partition, each newest first; undefined before the first response. */
  readonly partitions: ReadonlyMap<string, readonly LiveEvent[]> | undefined;
  /** Whether events arrive now: the service responds, and a stream is open. */
  readonly isLive: boolean;
  readonly error: ApiError | undefined;
}

/**
 * The latest events of an event type and new ones, until paused. After a pause, or when the service is back, it resumes
 * at its position.
 */
export function useLiveEvents(eventType: string, paused: boolean): LiveEvents {
  const { generation, reachable } = connection.value;
  const [isOpen, setIsOpen] = useState(false);
  const [shown, setShown] = useState<ReadonlyMap<string, readonly LiveEvent[]>>();
  const [error, setError] = useState<ApiError>();
  const cursors = useRef<Map<string, string>>(undefined);
  // In the layout effect, not after the next painting: once the page shows the pause, no event may be added.
  useLayoutEffect(() => {
    if (paused) return undefined;
    const stop = new AbortController();
    void follow();
    return () => {
      stop.abort();
      setIsOpen(false);
    };

    async function follow(): Promise<void> {
      while (!stop.signal.aborted) {
        try {
          cursors.current ??= await startingCursors(eventType, stop.signal);
          setShown((before) => before ?? new Map([...(cursors.current?.keys() ?? [])].map((each) => [each, []])));
          setError(undefined);
          await readStream();
        } catch (failure) {
          if (stop.signal.aborted) return;
          // Everything except a response of the service is a broken connection: opening it again shows more.
          if (failure instanceof ApiError) {
            // The events at the position are gone: start with the available ones.
            if (failure.status === 412) cursors.current = undefined;
            if (failure.status !== 0) setError(failure);
            if (failure.status === 0 || failure.status === 404) {
              setIsOpen(false);
              return;
            }
          }
        }
        if (stop.signal.aborted) return;
        setIsOpen(false);
        await new Promise((resolve) => setTimeout(resolve, reopenMilliseconds));
      }
    }

    async function readStream(): Promise<void> {
      const positions = [...(cursors.current ?? [])].map(([partition, offset]) => ({ partition, offset }));
      const path = `/event-types/${encodeURIComponent(eventType)}/events?batch_limit=1`;
      const headers = { 'X-Nakadi-Cursors': JSON.stringify(positions) };
      const { body } = await send('GET', path, undefined, { signal: stop.signal, headers });
      if (body === null || stop.signal.aborted) return;
      setIsOpen(true);
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        const lines = (rest + chunk.value).split('\n');
        rest = lines.pop() ?? '';
        addBatches(lines.map((line) => parseToShow(line) as Batch));
      }
    }

    function addBatches(batches: readonly Batch[]): void {
      if (stop.signal.aborted) return;
      for (const { cursor } of batches) cursors.current?.set(cursor.partition, cursor.offset);
      if (batches.every(({ events }) => events === undefined)) return;
      setShown((before) => {
        const after = new Map(before);
        for (const { cursor, events = [] } of batches) {
          const { partition, offset } = cursor;
          const fresh = events.map((value, index) => ({
            key: `${partition} ${offset} ${index}`,
            partition,
            offset,
            value,
          }));
          const latest = [...fresh.toReversed(), ...(after.get(partition) ?? [])].slice(0, eventsPerPartition);
          after.set(partition, latest);
        }
        return after;
      });
    }
  }, [eventType, paused, generation]);
  return { partitions: shown, isLive: isOpen && reachable, error };
}

/** Far enough back in each partition that the latest events come first. */
async function startingCursors(eventType: string, signal: AbortSignal): Promise<Map<string, string>> {
  const address = `/event-types/${encodeURIComponent(eventType)}`;
  const bounds = await call<Responses['listPartitions']>('GET', `${address}/partitions`, undefined, { signal });
  const entries = await Promise.all(
    bounds.map(async ({ partition, newest_available_offset: offset }) => {
      const partitionPath = `${address}/partitions/${partition}?consumed_offset=BEGIN`;
      const partitionView = await call<Responses['getPartition']>('GET', partitionPath, undefined, { signal });
      const shift = -Math.min(eventsPerPartition, partitionView.unconsumed_events ?? 0);
      const [cursor] = await call<Responses['shiftCursors']>(
        'POST',
        `${address}/shifted-cursors`,
        [{ partition, offset, shift }] satisfies Requests['shiftCursors'],
        { signal },
      );
      return [partition, cursor?.offset ?? offset] as const;
    }),
  );
  return new Map(entries);
}
