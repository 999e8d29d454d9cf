import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';

/**
 * The cost of reading without the service: kafkajs consumers in one process, each in a new group, count a topic's
 * events from its beginning. The clock starts when all of them have joined. Prints total deliveries per second.
 */
interface Settings {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly consumers: number;
  /** Per consumer. */
  readonly events: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const kafka = new Kafka({ clientId: 'bench', brokers: [...settings.brokers], logLevel: logLevel.ERROR });

const mebibyte = 1024 * 1024;
/** Offsets are committed from time to time, as the readers of the service's streams do. */
const commitMilliseconds = 1_000;

let joined = 0;
let begin = 0;
let open = (): void => undefined;
const allJoined = new Promise<void>((resolve) => (open = resolve));

async function consume(): Promise<number> {
  const consumer = kafka.consumer({
    groupId: `bench-${randomUUID()}`,
    maxBytesPerPartition: mebibyte,
    maxBytes: 10 * mebibyte,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [settings.topic], fromBeginning: true });
  consumer.on(consumer.events.GROUP_JOIN, () => {
    joined += 1;
    if (joined < settings.consumers) return;
    begin = performance.now();
    open();
  });
  return new Promise((resolve, reject) => {
    let delivered = 0;
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    consumer
      .run({
        autoCommitInterval: commitMilliseconds,
        partitionsConsumedConcurrently: 4,
        eachBatch: async ({ batch }) => {
          await allJoined;
          delivered += batch.messages.length;
          if (delivered < settings.events) return;
          resolve(performance.now());
          consumer.pause([{ topic: settings.topic }]);
        },
      })
      .catch(reject);
  });
}

const ends = await Promise.all(Array.from({ length: settings.consumers }, consume));
const events = settings.events * settings.consumers;
console.log(JSON.stringify({ eventsPerSecond: (events * 1000) / (Math.max(...ends) - begin) }));
process.exit(0);
