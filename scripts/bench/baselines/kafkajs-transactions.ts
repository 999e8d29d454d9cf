import { randomUUID } from 'node:crypto';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { checkpointKey } from '../../../src/lending-format/checkpoint.ts';

/**
 * The cost of a worker that decides nothing: a kafkajs consumer and a transactional producer for each partition. For
 * the commands of its batch, each transaction writes as many records to each output topic as the settings say. It also
 * writes one checkpoint record with the offset up to which the commands are done. Ends after the last command. Prints
 * its commands per transaction and its processor time for each command.
 */
interface Settings {
  readonly brokers: readonly string[];
  readonly commandTopic: string;
  readonly outputs: readonly {
    readonly topic: string;
    readonly recordsPerCommand: number;
    /** Size of one record's value. */
    readonly bytes: number;
  }[];
  readonly checkpointTopic: string;
  /** The most commands in one transaction. */
  readonly commandsPerTransaction: number;
  /** For each partition, the offset of the first command and the offset after the last. */
  readonly commands: readonly { readonly partition: number; readonly first: number; readonly end: number }[];
  /** The pause before a request is retried: after a commit Kafka refuses the next transaction for a moment. */
  readonly retryMilliseconds: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const kafka = new Kafka({ clientId: 'bench', brokers: [...settings.brokers], logLevel: logLevel.NOTHING });
const outputs = settings.outputs.map((output) => ({ ...output, value: Buffer.alloc(output.bytes, 'x') }));

const producers = await Promise.all(
  settings.commands.map(async () => {
    const producer = kafka.producer({
      transactionalId: `bench-${randomUUID()}`,
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: {
        initialRetryTime: settings.retryMilliseconds,
        maxRetryTime: 100,
        factor: 0.1,
        multiplier: 1.5,
        retries: 60,
      },
    });
    await producer.connect();
    return producer;
  }),
);

const total = settings.commands.reduce((sum, { first, end }) => sum + end - first, 0);
let done = 0;
let transactions = 0;

async function transact(partition: number, keys: readonly (Buffer | null)[], position: number): Promise<void> {
  const transaction = await producers[partition]?.transaction();
  if (transaction === undefined) throw new Error(`There is no partition ${partition}`);
  const checkpoint = { partition, key: checkpointKey(partition), value: JSON.stringify({ position, outcomes: [] }) };
  await transaction.sendBatch({
    topicMessages: [
      ...outputs.map(({ topic, recordsPerCommand, value }) => {
        const length = Math.round(recordsPerCommand * keys.length);
        const messages = Array.from({ length }, (_, index) => ({
          partition,
          key: keys[Math.floor((index * keys.length) / length)] ?? null,
          value,
        }));
        return { topic, messages };
      }),
      { topic: settings.checkpointTopic, messages: [checkpoint] },
    ],
  });
  await transaction.commit();
  transactions += 1;
  done += keys.length;
}

const consumer = kafka.consumer({ groupId: `bench-${randomUUID()}` });
await consumer.connect();
await consumer.subscribe({ topics: [settings.commandTopic] });
const finished = new Promise<void>((resolve, reject) => {
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer
    .run({
      autoCommit: false,
      partitionsConsumedConcurrently: settings.commands.length,
      eachBatch: async ({ batch }) => {
        for (let from = 0; from < batch.messages.length; from += settings.commandsPerTransaction) {
          const commands = batch.messages.slice(from, from + settings.commandsPerTransaction);
          const keys = commands.map(({ key }) => key);
          await transact(batch.partition, keys, Number(commands.at(-1)?.offset));
        }
        if (done >= total) resolve();
      },
    })
    .catch(reject);
});
for (const { partition, first } of settings.commands) {
  consumer.seek({ topic: settings.commandTopic, partition, offset: String(first) });
}
const before = process.cpuUsage();
await finished;
const { user, system } = process.cpuUsage(before);
const microsecondsPerCommand = (user + system) / done;
console.log(JSON.stringify({ commandsPerTransaction: done / transactions, microsecondsPerCommand }));
process.exit(0);
