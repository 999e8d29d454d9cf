import { openConnection } from '../baselines/bare-http.ts';
import { cursorOf, openStream } from './open-stream.ts';

/**
 * Moves the cursor of one partition forward by one event, so that every commit has something to store.
 * @param headers Whole lines, ended by CR LF.
 * @throws Error when all events are committed, or when the response is another one than 204
 */
export type Commit = (headers?: string) => Promise<void>;

const offsetPrefix = '001-0001-';

/**
 * Opens a stream and waits until it has sent everything.
 * @param events How many events the subscription has to read.
 * @returns One for each partition, with a connection of its own.
 */
export async function openCommitters(url: string, subscription: string, events: number): Promise<Commit[]> {
  const ends = new Map<string, { eventType: string; token: string; last: number }>();
  let delivered = 0;
  let complete = (): void => undefined;
  const completed = new Promise<void>((resolve) => (complete = resolve));
  const query = `batch_limit=100&batch_flush_timeout=1&max_uncommitted_events=${events * 2}`;
  const { streamId } = await openStream(url, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor === undefined) return;
    const last = Number(cursor.offset.slice(offsetPrefix.length));
    delivered += last - (ends.get(cursor.partition)?.last ?? -1);
    ends.set(cursor.partition, { eventType: cursor.event_type, token: cursor.cursor_token, last });
    if (delivered >= events) complete();
  });
  await completed;
  const path = `/subscriptions/${subscription}/cursors`;
  const opening = [...ends].map(async ([partition, { eventType, token, last }]): Promise<Commit> => {
    const connection = await openConnection(url);
    const before = `{"items":[{"partition":"${partition}","offset":"${offsetPrefix}`;
    const after = `","event_type":"${eventType}","cursor_token":"${token}"}]}`;
    let offset = -1;
    return async (headers = '') => {
      offset += 1;
      if (offset > last) throw new Error('All events are committed before the time is over');
      const body = before + String(offset).padStart(18, '0') + after;
      const status = await connection.post(path, body, `X-Nakadi-StreamId: ${streamId}\r\n${headers}`);
      if (status !== 204) throw new Error(`A commit that moves its cursor on was answered ${status}`);
    };
  });
  return Promise.all(opening);
}
