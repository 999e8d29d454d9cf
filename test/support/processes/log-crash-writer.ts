import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { silentLogger } from '../../../src/logger.ts';

/**
 * Appends until it is killed, and prints each batch when it has been acknowledged, as `partition:name`. Batches are in
 * partitions 0 and 1 (plain appends) and, under the same name, in 2 and 3 (one transaction over both). Arguments: data
 * folder, name of the round.
 */
const [dataFolder = '', round = ''] = process.argv.slice(2);
const topic = 'crash';
const recordsPerBatch = 7;
const callers = 4;

const log = await EmbeddedLog.open({ dataFolder, logger: silentLogger });
if ((await log.listTopics()).length === 0) {
  await log.createTopic({ name: topic, partitionCount: 4, cleanupPolicy: 'delete', retentionMilliseconds: Infinity });
}
process.stdout.write('ready\n');

await Promise.all([...Array.from({ length: callers }, (_, caller) => appendForever(caller)), commitForever()]);

function recordsOf(name: string): { key: string; value: Buffer }[] {
  return Array.from({ length: recordsPerBatch }, (_, index) => ({
    key: name,
    value: Buffer.from(JSON.stringify({ name, index, padding: 'x'.repeat(200) })),
  }));
}

async function appendForever(caller: number): Promise<never> {
  for (let number = 0; ; number += 1) {
    const partition = caller % 2;
    const name = `${round}-${caller}-${number}`;
    const [result] = await log.append([{ topic, partition, records: recordsOf(name) }]);
    if (result?.outcome !== 'appended') throw result?.error ?? new Error('no answer');
    process.stdout.write(`${partition}:${name}\n`);
  }
}

async function commitForever(): Promise<never> {
  const writer = await log.openWriter('crash-writer');
  for (let number = 0; ; number += 1) {
    const name = `${round}-transaction-${number}`;
    await writer.append([2, 3].map((partition) => ({ topic, partition, records: recordsOf(name) })));
    await writer.commit();
    process.stdout.write(`2:${name}\n3:${name}\n`);
  }
}
