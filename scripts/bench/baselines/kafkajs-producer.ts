import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { eventBatch, eventsPerBatch, type Shapes } from '../events.ts';

/**
 * The cost of publishing without the service: one kafkajs producer, acks from all replicas, sends the same batches with
 * the same number in flight. Prints acknowledged events per second.
 */
interface Settings {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly inFlight: number;
  readonly milliseconds: number;
  readonly warmUpMilliseconds: number;
  readonly eventBytes: number;
  /** 'alike' by default. */
  readonly shapes?: Shapes;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const kafka = new Kafka({ clientId: 'bench', brokers: [...settings.brokers], logLevel: logLevel.ERROR });
const producer = kafka.producer({
  createPartitioner: Partitioners.DefaultPartitioner,
  allowAutoTopicCreation: false,
});
const batches = Array.from({ length: 32 }, (_, seed) =>
  eventBatch(seed, settings.eventBytes, settings.shapes).map(({ account, json }) => ({
    key: account,
    value: Buffer.from(json),
  })),
);

await producer.connect();
const begin = performance.now();
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
let sent = 0;
await Promise.all(
  Array.from({ length: settings.inFlight }, async (_, sender) => {
    for (let turn = sender; performance.now() < end; turn += 1) {
      const messages = batches[turn % batches.length] ?? [];
      await producer.send({ topic: settings.topic, acks: -1, messages });
      const now = performance.now();
      if (now >= counting && now <= end) sent += 1;
    }
  }),
);
await producer.disconnect();
console.log(JSON.stringify({ eventsPerSecond: (sent * eventsPerBatch * 1000) / settings.milliseconds }));
