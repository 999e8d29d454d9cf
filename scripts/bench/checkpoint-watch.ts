import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { checkpointKey } from '../../src/lending-format/checkpoint.ts';

/**
 * Watches how the checkpoint records of a topic advance, reading only committed records. Each checkpoint record has the
 * offset up to which the commands of its partition are done. Prints a line when it starts to watch. Then prints
 * commands per second from the first record it sees to the last, not counting the commands of the first one.
 */
interface Settings {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** For each partition, the offset of the first command and the offset after the last. */
  readonly commands: readonly { readonly partition: number; readonly first: number; readonly end: number }[];
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const kafka = new Kafka({ clientId: 'bench', brokers: [...settings.brokers], logLevel: logLevel.ERROR });

const admin = kafka.admin();
await admin.connect();
const ends = await admin.fetchTopicOffsets(settings.topic);
await admin.disconnect();

const positionForm = /^\{"position":(\d+)/;
const headBytes = 40;

const partitionOfKey = new Map(settings.commands.map(({ partition }) => [checkpointKey(partition), partition]));

/** The next command of each partition. */
const positions = new Map(settings.commands.map(({ partition, first }) => [partition, first]));
const total = settings.commands.reduce((sum, { first, end }) => sum + end - first, 0);

function doneCommands(): number {
  return settings.commands.reduce((sum, { partition, first }) => sum + (positions.get(partition) ?? first) - first, 0);
}

const consumer = kafka.consumer({ groupId: `bench-${randomUUID()}`, readUncommitted: false });
await consumer.connect();
await consumer.subscribe({ topics: [settings.topic] });

let begin: { readonly at: number; readonly done: number } | undefined;
const watched = new Promise<number>((resolve, reject) => {
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer
    .run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        for (const { key, value } of batch.messages) {
          const partition = partitionOfKey.get(key?.toString() ?? '');
          const position = positionForm.exec(value?.toString('latin1', 0, headBytes) ?? '')?.[1];
          if (partition === undefined || position === undefined) continue;
          positions.set(partition, Number(position) + 1);
        }
        const done = doneCommands();
        const now = performance.now();
        if (done > 0) begin ??= { at: now, done };
        if (begin !== undefined && done >= total) resolve(((total - begin.done) * 1000) / (now - begin.at));
        await Promise.resolve();
      },
    })
    .catch(reject);
});
for (const { partition, high } of ends) consumer.seek({ topic: settings.topic, partition, offset: high });
console.log(JSON.stringify({ watching: true }));
console.log(JSON.stringify({ commandsPerSecond: await watched }));
process.exit(0);
