import { call, eventsOf, lastCursors, openStream } from '../support/client.ts';

/** An ordinary client among the hostile ones: it publishes an event, streams it and commits it. */

/** How long all of it may take. Milliseconds. */
const walkMillisecondsMaximum = 10_000;

const eventType = 'canary.sung';

export class Canary {
  readonly #url: string;
  readonly #subscription: string;
  #songs = 0;

  private constructor(url: string, subscription: string) {
    this.#url = url;
    this.#subscription = subscription;
  }

  static async open(url: string): Promise<Canary> {
    const created = await call(`${url}/event-types`, 'POST', {
      name: eventType,
      owning_application: 'canary',
      category: 'undefined',
      schema: { type: 'json_schema', schema: '{"required": ["song"], "properties": {"song": {"type": "integer"}}}' },
    });
    if (created.status !== 201) throw new Error(`The canary has no event type: ${created.status} ${created.text}`);
    const subscribed = await call(`${url}/subscriptions`, 'POST', {
      owning_application: 'canary',
      event_types: [eventType],
      read_from: 'begin',
    });
    return new Canary(url, String(subscribed.body['id']));
  }

  /** Answers how long it took in milliseconds. @throws when anything is not as it should be */
  async sing(): Promise<number> {
    const startedAt = performance.now();
    const health = await call(`${this.#url}/health`, 'GET');
    if (health.status !== 200) throw new Error(`GET /health was answered ${health.status}`);
    this.#songs += 1;
    const published = await call(`${this.#url}/event-types/${eventType}/events`, 'POST', [{ song: this.#songs }]);
    if (published.status !== 200) throw new Error(`Publishing was answered ${published.status} ${published.text}`);
    const stream = await openStream(this.#url, this.#subscription, '?batch_limit=1&batch_flush_timeout=1');
    await stream.until((batches) => eventsOf(batches).some(({ song }) => song === this.#songs));
    const committed = await stream.commit(lastCursors(stream.batches));
    stream.close();
    if (committed.status !== 204) throw new Error(`The commit was answered ${committed.status} ${committed.text}`);
    const milliseconds = performance.now() - startedAt;
    if (milliseconds > walkMillisecondsMaximum) throw new Error(`It took ${Math.round(milliseconds)} ms`);
    return milliseconds;
  }
}
