import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openDatabase } from '../../../src/sqlite.ts';

/**
 * How fast the store itself delivers its batches: one pass over a topic's rows with only SQLite and the checksum, in a
 * process of its own. Prints events per second.
 */
interface Settings {
  readonly folder: string;
  readonly topic: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const connection = openDatabase(join(settings.folder, 'log.db'), { returnArrays: true, readOnly: true });
const partitions = connection
  .prepare('SELECT partition.id FROM partition JOIN topic ON topic.id = topic_id WHERE name = ?')
  .all(settings.topic) as [number][];
/** Rows per step: the library's iterator costs more than reading a few rows at once. */
const rowsPerStep = 64;
const select = connection.prepare(
  `SELECT last_offset, record_count, body, checksum FROM batch
   WHERE partition_id = ? AND last_offset > ? ORDER BY last_offset LIMIT ${rowsPerStep}`,
);

const begin = performance.now();
let events = 0;
let damaged = 0;
for (const [partition] of partitions) {
  let position = -1;
  for (;;) {
    const rows = select.all(partition, position) as [number, number, Uint8Array, number][];
    for (const [lastOffset, count, body, checksum] of rows) {
      position = lastOffset;
      events += count;
      if (crc32(body) !== checksum) damaged += 1;
    }
    if (rows.length < rowsPerStep) break;
  }
}
const eventsPerSecond = (events * 1000) / (performance.now() - begin);
connection.close();
if (damaged > 0) throw new Error(`${damaged} batches do not match their checksum`);
console.log(JSON.stringify({ eventsPerSecond }));
