import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { eventBatch } from '../events.ts';

/**
 * Fills a log without a service, as appends of one event and of many, until it has the wanted size. The commits do not
 * wait for the disk, which changes nothing in the files. Prints how many events it appended.
 */
interface Settings {
  readonly folder: string;
  /** The topics to fill, which exist, with all their partitions. */
  readonly topic: string;
  readonly partitionCount: number;
  readonly bytes: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { folder, topic, partitionCount } = settings;
const eventBytes = 1_000;
/** One append in so many has a single event, as from a producer that sends events one by one. */
const appendsPerSingleEvent = 2;
const eventBatches = Array.from({ length: 16 }, (_, seed) =>
  eventBatch(seed, eventBytes).map(({ account, json }): LogRecord => ({ key: account, value: Buffer.from(json) })),
);

const log = await EmbeddedLog.open({ dataFolder: folder, logger: silentLogger, syncsToDisk: false });
let events = 0;
let turn = 0;
await Promise.all(
  Array.from({ length: partitionCount }, async (_, partition) => {
    while (events * eventBytes < settings.bytes) {
      turn += 1;
      const batch = eventBatches[turn % eventBatches.length] ?? [];
      const records = turn % appendsPerSingleEvent === 0 ? batch.slice(0, 1) : [...batch, ...batch];
      events += records.length;
      const [result] = await log.append([{ topic, partition, records }]);
      if (result?.outcome === 'failed') throw result.error;
    }
  }),
);
await log.close();
console.log(JSON.stringify({ events }));
