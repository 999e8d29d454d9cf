/** Shows a page each new event of an event type. */
interface Batch {
  readonly events: readonly Record<string, unknown>[];
}

export function follow(
  service: string,
  eventType: string,
  show: (event: Record<string, unknown>) => void,
): EventSource {
  const source = new EventSource(`${service}/event-types/${eventType}/events?batch_limit=100&batch_flush_timeout=1`);
  source.addEventListener('message', ({ data }) => {
    for (const event of (JSON.parse(data) as Batch).events) show(event);
  });
  // The browser opens the stream again, after the last event that it received. Only a refusal ends it.
  source.addEventListener('end', ({ data }) => console.info(`The stream ended: ${data}`));
  return source;
}
