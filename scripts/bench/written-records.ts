import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';

/** Reads the records written to topics. Prints for each topic their number and the size of their values. */
interface Settings {
  readonly brokers: readonly string[];
  readonly topics: readonly {
    readonly topic: string;
    /** By partition: the offset of the first record, and the offset after the last. */
    readonly firsts: readonly number[];
    readonly ends: readonly number[];
  }[];
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const kafka = new Kafka({ clientId: 'bench', brokers: [...settings.brokers], logLevel: logLevel.NOTHING });
const written = settings.topics.map(({ topic }) => ({ topic, records: 0, bytes: 0 }));

const unread = new Map<string, number>();
for (const { topic, firsts, ends } of settings.topics) {
  for (const [partition, end] of ends.entries()) {
    // The last entry of a partition is not a record: it marks that a transaction was committed.
    if (end > (firsts[partition] ?? 0)) unread.set(`${topic}/${partition}`, end - 1);
  }
}

const consumer = kafka.consumer({ groupId: `bench-${randomUUID()}`, readUncommitted: false });
await consumer.connect();
await consumer.subscribe({ topics: settings.topics.map(({ topic }) => topic) });
await new Promise<void>((resolve, reject) => {
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer
    .run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        const partitionName = `${batch.topic}/${batch.partition}`;
        const found = written.find(({ topic }) => topic === batch.topic);
        if (found === undefined || !unread.has(partitionName)) return;
        for (const { value } of batch.messages) {
          found.records += 1;
          found.bytes += value?.length ?? 0;
        }
        if (Number(batch.lastOffset()) + 1 >= (unread.get(partitionName) ?? 0)) unread.delete(partitionName);
        if (unread.size === 0) resolve();
        await Promise.resolve();
      },
    })
    .catch(reject);
  for (const { topic, firsts } of settings.topics) {
    for (const [partition, first] of firsts.entries()) {
      consumer.seek({ topic, partition, offset: String(first) });
    }
  }
});
console.log(JSON.stringify(written));
process.exit(0);
