import { join } from 'node:path';
import { accountsTopic, lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { openDatabase } from '../../src/sqlite.ts';

/** The size of the rows that the worker wrote so far. Bytes. */
export function bytesWrittenByWorker(folder: string): number {
  const topics = [...lendingEventTypeNames, accountsTopic];
  const connection = openDatabase(join(folder, 'log.db'), { readOnly: true });
  const { bytes } = connection
    .prepare(
      `SELECT total(body_bytes) AS bytes FROM batch JOIN partition ON partition.id = partition_id
       JOIN topic ON topic.id = topic_id WHERE name IN (${topics.map(() => '?').join(', ')})`,
    )
    .get(...topics) as { readonly bytes: number };
  connection.close();
  return bytes;
}
