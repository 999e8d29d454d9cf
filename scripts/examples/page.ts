/** Shows a page each new event of an event type. Where the service has keys, `newToken` asks for a stream token. */
interface Batch {
  readonly events: readonly Record<string, unknown>[];
}

export async function follow(
  service: string,
  eventType: string,
  newToken: () => Promise<string>,
  show: (event: Record<string, unknown>) => void,
): Promise<never> {
  const parameters = new URLSearchParams({ batch_limit: '100', batch_flush_timeout: '1' });
  for (;;) {
    parameters.set('stream_token', await newToken());
    const url = `${service}/event-types/${eventType}/events?${parameters.toString()}`;
    const lastEventId = await read(url, ({ events }) => events.forEach(show));
    // A token opens one stream. The next one continues after the last event.
    if (lastEventId !== '') parameters.set('last_event_id', lastEventId);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Reads one stream to its end. @returns where to continue */
function read(url: string, onBatch: (batch: Batch) => void): Promise<string> {
  return new Promise((resolve) => {
    let position = '';
    const source = new EventSource(url);
    source.addEventListener('start', ({ lastEventId }) => (position = lastEventId));
    source.addEventListener('message', ({ data, lastEventId }) => {
      onBatch(JSON.parse(data) as Batch);
      position = lastEventId;
    });
    source.addEventListener('error', () => {
      source.close();
      resolve(position);
    });
  });
}
