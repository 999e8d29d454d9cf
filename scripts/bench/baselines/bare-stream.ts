import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { openDatabase } from '../../../src/sqlite.ts';

/**
 * The most that a stream can deliver from the store: a thread reads the rows of a topic and compares their checksums,
 * and the main thread writes their bytes to an HTTP response. There are no partitions to choose from, no cursors, no
 * lines, no commits, and no reader but one. Prints its address; each request gets the whole topic.
 */
interface Settings {
  readonly folder: string;
  readonly topic: string;
}

/** How much is handed over at a time. The largest row fits, with a mebibyte of records. Bytes. */
const memoryBytes = 1_280 * 1024;
/** How many of them there are: one is written while the next ones are filled. */
const memoryCount = 3;
const rowsPerStep = 32;

/** A piece of memory with what the thread has put into it. */
interface Filled {
  readonly memory: ArrayBuffer;
  readonly bytes: number;
  readonly isLast: boolean;
}

function* bodiesOf({ folder, topic }: Settings): Generator<Uint8Array> {
  const connection = openDatabase(join(folder, 'log.db'), { returnArrays: true, readOnly: true });
  const partitions = connection
    .prepare('SELECT partition.id FROM partition JOIN topic ON topic.id = topic_id WHERE name = ?')
    .all(topic) as [number][];
  const select = connection.prepare(
    `SELECT last_offset, body, checksum FROM batch
     WHERE partition_id = ? AND last_offset > ? ORDER BY last_offset LIMIT ${rowsPerStep}`,
  );
  for (const [partition] of partitions) {
    for (let position = -1; ;) {
      const rows = select.all(partition, position) as [number, Uint8Array, number][];
      for (const [lastOffset, body, checksum] of rows) {
        position = lastOffset;
        if (crc32(body) !== checksum) throw new Error('A batch does not match its checksum');
        yield body;
      }
      if (rows.length < rowsPerStep) break;
    }
  }
  connection.close();
}

/** In the thread: fills each piece of memory that arrives, up to the end of the topic; null begins it again. */
function fillMemory(settings: Settings): void {
  let bodies = bodiesOf(settings);
  let next = bodies.next();
  parentPort?.on('message', (memory: ArrayBuffer | null) => {
    if (memory === null) {
      bodies = bodiesOf(settings);
      next = bodies.next();
      return;
    }
    const target = new Uint8Array(memory);
    let bytes = 0;
    while (next.done !== true && bytes + next.value.length <= memory.byteLength) {
      target.set(next.value, bytes);
      bytes += next.value.length;
      next = bodies.next();
    }
    parentPort?.postMessage({ memory, bytes, isLast: next.done === true } satisfies Filled, [memory]);
  });
}

/** In the main thread. One request at a time. */
function serve(settings: Settings): void {
  const thread = new Worker(new URL(import.meta.url), { workerData: settings });
  const fill = (memory: ArrayBuffer): void => thread.postMessage(memory, [memory]);
  const spare = Array.from({ length: memoryCount }, () => new ArrayBuffer(memoryBytes));
  let response: ServerResponse | undefined;
  thread.on('message', ({ memory, bytes, isLast }: Filled) => {
    const target = response;
    if (isLast) response = undefined;
    if (target === undefined) return spare.push(memory);
    return target.write(Buffer.from(memory, 0, bytes), () => {
      if (isLast) target.end();
      if (isLast || response === undefined) spare.push(memory);
      else fill(memory);
    });
  });
  const server = createServer((_request, opened) => {
    response = opened;
    thread.postMessage(null, []);
    for (const memory of spare.splice(0)) fill(memory);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no address');
    console.log(`http://127.0.0.1:${address.port}`);
  });
}

if (isMainThread) serve(JSON.parse(process.argv[2] ?? '{}') as Settings);
else fillMemory(workerData as Settings);
process.on('SIGTERM', () => process.exit(0));
