import { randomUUID } from 'node:crypto';
import {
  detailOf,
  jsonOf,
  runLoad,
  send,
  type TextResponse,
  type LoadProcess,
  type LoadSettings,
} from './load-process.ts';
import { randomNumbers } from '../support/random-numbers.ts';

/**
 * Publishes numbered events. Each is sent once: without a response its outcome stays unknown, and the next number
 * follows.
 */
export interface ProducerSettings extends LoadSettings {
  /** Producers at work, each with one request at a time. */
  readonly producers: number;
  /** The partitions that they publish to, in turns. */
  readonly eventTypes: readonly { readonly name: string; readonly partitions: number }[];
  /** The partitions that others publish long events to, one after another, while consumers do not read. */
  readonly bulkyEventType: { readonly name: string; readonly partitions: number };
  /** Between two requests of a producer. Milliseconds. */
  readonly pauseMilliseconds: number;
}

const eventsPerRequestMaximum = 5;
/** One in this many requests has an event that violates the schema: none of its events may ever be seen. */
const badRequestEvery = 40;
/**
 * The size of a long event, and how many are in a request: all of them in one write are still less than the high-water
 * mark of a connection, so that the write that fills it is a small one. Bytes.
 */
const paddingBytes = 1_200;
const bulkyEventsPerRequest = 10;
/** Producers of long events. Their events of one stall fill the buffers between the service and a consumer. */
const bulkyProducers = 2;
const bulkyEventsMaximum = 2_500;
/** How often they check whether there is a stall. Milliseconds. */
const stallCheckMilliseconds = 250;
/** The pause after a request that failed. Milliseconds. */
const retryMilliseconds = 300;

interface NumberedEvent {
  readonly eid: string;
  readonly number: number;
}

async function produce(load: LoadProcess<ProducerSettings>, index: number, isBulky = false): Promise<void> {
  const { settings, history } = load;
  const producer = `${settings.name}/${index}`;
  const eventTypes = isBulky ? [settings.bulkyEventType] : settings.eventTypes;
  const random = randomNumbers(settings.seed + index);
  const pick = (count: number): number => Math.floor(random() * count);
  let number = 0;
  let bulkyEventsLeft = bulkyEventsMaximum;
  let node = pick(settings.nodes.length);
  while (!load.isDraining()) {
    if (!load.isStalled()) bulkyEventsLeft = bulkyEventsMaximum;
    if (isBulky && (!load.isStalled() || bulkyEventsLeft <= 0)) {
      await load.pause(stallCheckMilliseconds);
      continue;
    }
    const eventType = eventTypes[pick(eventTypes.length)];
    const url = settings.nodes[node % settings.nodes.length];
    if (eventType === undefined || url === undefined) throw new Error('A producer needs event types and nodes');
    const partition = pick(eventType.partitions);
    const count = isBulky ? bulkyEventsPerRequest : 1 + pick(eventsPerRequestMaximum);
    if (isBulky) bulkyEventsLeft -= count;
    const events = Array.from({ length: count }, (): NumberedEvent => {
      number += 1;
      return { eid: randomUUID(), number };
    });
    const isBad = pick(badRequestEvery) === 0;
    history.record({ kind: 'publish attempted', producer, eventType: eventType.name, partition, events });
    const body = events.map((event, at) => ({
      ...bodyOf(event, producer, partition, isBad && at === events.length - 1),
      ...(isBulky ? { padding: 'x'.repeat(paddingBytes) } : {}),
    }));
    const response = await send(url, 'POST', `/event-types/${eventType.name}/events`, body);
    for (const { outcome, eids } of outcomesOf(response, events)) {
      const detail = outcome === 'acknowledged' ? {} : { detail: detailOf(response) };
      history.record({ kind: 'publish answered', outcome, eids, ...detail });
    }
    const isGood = 'status' in response && response.status === (isBad ? 422 : 200);
    if (!isGood || pick(20) === 0) node += 1;
    if (isGood && isBulky) continue;
    await load.pause(isGood ? settings.pauseMilliseconds : retryMilliseconds);
  }
}

function bodyOf({ eid, number }: NumberedEvent, producer: string, partition: number, isBad: boolean): object {
  return {
    metadata: { eid, occurred_at: new Date().toISOString(), partition: String(partition) },
    // The schema wants a text.
    producer: isBad ? 0 : producer,
    number,
  };
}

type Outcome = 'acknowledged' | 'refused' | 'unknown';

function outcomesOf(
  response: TextResponse | { readonly noAnswer: string },
  events: readonly NumberedEvent[],
): { readonly outcome: Outcome; readonly eids: readonly string[] }[] {
  const eids = events.map(({ eid }) => eid);
  if ('noAnswer' in response) return [{ outcome: 'unknown', eids }];
  if (response.status === 200) return [{ outcome: 'acknowledged', eids }];
  if (response.status === 422) return [{ outcome: 'refused', eids }];
  const items = jsonOf(response.text);
  if (response.status !== 207 || !Array.isArray(items)) return [{ outcome: 'unknown', eids }];
  const submitted = new Set(
    (items as { eid: string; publishing_status: string }[])
      .filter(({ publishing_status: status }) => status === 'submitted')
      .map(({ eid }) => eid),
  );
  return [
    { outcome: 'acknowledged', eids: eids.filter((eid) => submitted.has(eid)) },
    { outcome: 'unknown', eids: eids.filter((eid) => !submitted.has(eid)) },
  ];
}

await runLoad<ProducerSettings>(async (load) => {
  const { producers } = load.settings;
  await Promise.all([
    ...Array.from({ length: producers }, (_, index) => produce(load, index)),
    ...Array.from({ length: bulkyProducers }, (_, index) => produce(load, producers + index, true)),
  ]);
});
