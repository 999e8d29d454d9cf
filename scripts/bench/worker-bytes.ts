import { join } from 'node:path';
import { accountsTopic, lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { openDatabase } from '../../src/sqlite.ts';

/** The number of the row that was appended last. Compaction changes and removes rows, and adds none. */
export function lastRow(folder: string): number {
  const connection = openDatabase(join(folder, 'log.db'), { readOnly: true });
  const { row } = connection.prepare('SELECT ifnull(max(id), 0) AS row FROM batch').get() as { readonly row: number };
  connection.close();
  return row;
}

/** The size of the rows that the worker appended after that one, as far as compaction has left them. Bytes. */
export function bytesWrittenByWorker(folder: string, afterRow: number): number {
  const topics = [...lendingEventTypeNames, accountsTopic];
  const connection = openDatabase(join(folder, 'log.db'), { readOnly: true });
  const { bytes } = connection
    .prepare(
      `SELECT total(body_bytes) AS bytes FROM batch JOIN partition ON partition.id = partition_id
       JOIN topic ON topic.id = topic_id WHERE batch.id > ? AND name IN (${topics.map(() => '?').join(', ')})`,
    )
    .get(afterRow, ...topics) as { readonly bytes: number };
  connection.close();
  return bytes;
}
