import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { call, eventsOf, lastCursors, openStream, type Batch } from '../support/http/client.ts';

/** An ordinary client among the hostile ones: it publishes an event, streams it and commits it. */

/** The maximum time of one round. Milliseconds. */
const walkMillisecondsMaximum = 10_000;

const eventType = 'canary.sung';

/** The events that the canary publishes while it does not read. */
export const pausedEventType = 'canary.paused';

/** Together more than fits between the service and a reader; each less than the high-water mark of a connection. */
const pausedEvents = 500;
const pausedEventBytes = 12_000;

/** The maximum time of that round. Milliseconds. */
const pauseMillisecondsMaximum = 60_000;

export class Canary {
  readonly #url: string;
  readonly #subscription: string;
  readonly #pausedSubscription: string;
  #published = 0;

  private constructor(url: string, subscription: string, pausedSubscription: string) {
    this.#url = url;
    this.#subscription = subscription;
    this.#pausedSubscription = pausedSubscription;
  }

  static async open(url: string): Promise<Canary> {
    return new Canary(url, await subscribe(url, eventType), await subscribe(url, pausedEventType));
  }

  /** Returns how long it took in milliseconds. @throws when anything is wrong */
  async check(): Promise<number> {
    const startedAt = performance.now();
    const health = await call(`${this.#url}/health`, 'GET');
    if (health.status !== 200) throw new Error(`GET /health was answered ${health.status}`);
    this.#published += 1;
    const published = await call(`${this.#url}/event-types/${eventType}/events`, 'POST', [{ song: this.#published }]);
    if (published.status !== 200) throw new Error(`Publishing was answered ${published.status} ${published.text}`);
    const stream = await openStream(this.#url, this.#subscription, '?batch_limit=1&batch_flush_timeout=1');
    await stream.until((batches) => eventsOf(batches).some(({ song }) => song === this.#published));
    const committed = await stream.commit(lastCursors(stream.batches));
    stream.close();
    if (committed.status !== 204) throw new Error(`The commit was answered ${committed.status} ${committed.text}`);
    const milliseconds = performance.now() - startedAt;
    if (milliseconds > walkMillisecondsMaximum) throw new Error(`It took ${Math.round(milliseconds)} ms`);
    return milliseconds;
  }

  /**
   * Opens a stream and reads nothing of it while events are published, until the connection is full. Then it reads,
   * receives all of them and the keep-alives after them, and commits.
   * @throws when anything is wrong
   */
  async pause(): Promise<void> {
    const giveUp = AbortSignal.timeout(pauseMillisecondsMaximum);
    const path = `/subscriptions/${this.#pausedSubscription}`;
    const query = `max_uncommitted_events=${2 * pausedEvents}&batch_limit=1&batch_flush_timeout=1`;
    const sent = get(`${this.#url}${path}/events?${query}`, { agent: false, signal: giveUp });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`The stream was refused: ${response.statusCode}`);
    const padding = 'x'.repeat(pausedEventBytes);
    for (let number = 0; number < pausedEvents; number += 1) {
      const { status, text } = await call(`${this.#url}/event-types/${pausedEventType}/events`, 'POST', [
        { song: padding },
      ]);
      if (status !== 200) throw new Error(`Publishing was answered ${status} ${text}`);
    }
    const batches: Batch[] = [];
    let keepAlives = 0;
    for await (const line of createInterface({ input: response, signal: giveUp })) {
      const batch = JSON.parse(line) as Batch;
      if (batch.events !== undefined) batches.push(batch);
      else if (batches.length >= pausedEvents) keepAlives += 1;
      if (keepAlives === 2) break;
    }
    if (keepAlives < 2) throw new Error(`After a pause ${batches.length} of ${pausedEvents} events came`);
    const headers = { 'X-Nakadi-StreamId': String(response.headers['x-nakadi-streamid']) };
    const committed = await call(`${this.#url}${path}/cursors`, 'POST', { items: lastCursors(batches) }, headers);
    response.destroy();
    if (committed.status !== 204) throw new Error(`The commit was answered ${committed.status} ${committed.text}`);
  }
}

/** Returns the id of a subscription to a new event type. */
async function subscribe(url: string, name: string): Promise<string> {
  const created = await call(`${url}/event-types`, 'POST', {
    name,
    owning_application: 'canary',
    category: 'undefined',
    schema: { type: 'json_schema', schema: '{"required": ["song"], "properties": {"song": {}}}' },
  });
  if (created.status !== 201) throw new Error(`The canary has no event type: ${created.status} ${created.text}`);
  const subscribed = await call(`${url}/subscriptions`, 'POST', {
    owning_application: 'canary',
    event_types: [name],
    read_from: 'begin',
  });
  return String(subscribed.body['id']);
}
