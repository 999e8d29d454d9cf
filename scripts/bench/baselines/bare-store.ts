import type { ServerResponse } from 'node:http';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../../src/sqlite.ts';
import { serveBodies, type Publication } from './bodies-server.ts';

/**
 * The most that publishing into the store can reach: the bare server, which appends to a SQLite file instead of a plain
 * one, in a thread, and twice the bytes, since enriched events have about that. There is no validation, no enrichment
 * but those bytes, and no partitions. Prints its address.
 */
const path = process.argv[2] ?? 'bare.db';
/** As the page size and the largest write-ahead log of the service. Bytes. */
const [pageBytes, checkpointBytes] = [8 * 1024, 64 * 1024 * 1024];

/** In the thread: one durable transaction for each message. */
function store(file: string): void {
  const connection = openDatabase(file);
  connection.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = ${checkpointBytes / pageBytes};
    CREATE TABLE batch (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;`);
  const insert = connection.prepare('INSERT INTO batch (body) VALUES (?)');
  // Holds the connection, too: the library closes one that nothing refers to, and its statements fail then.
  parentPort?.on('close', () => connection.close());
  parentPort?.on('message', (body: ArrayBuffer) => {
    insert.run(new Uint8Array(body));
    parentPort?.postMessage(null, []);
  });
}

/** In the main thread: one transaction is under way at a time, and everything that arrives during it makes the next. */
function serve(): void {
  const thread = new Worker(new URL(import.meta.url), { workerData: path });
  let waiting: Publication[] = [];
  let stored: ServerResponse[] | undefined;
  const storeWaiting = (): void => {
    if (stored !== undefined || waiting.length === 0) return;
    const bodies = waiting.map(({ body }) => body);
    stored = waiting.map(({ response }) => response);
    waiting = [];
    const { buffer } = new Uint8Array(Buffer.concat([...bodies, ...bodies]));
    thread.postMessage(buffer, [buffer]);
  };
  thread.on('message', () => {
    for (const response of stored ?? []) response.end();
    stored = undefined;
    storeWaiting();
  });
  serveBodies((publication) => {
    waiting.push(publication);
    storeWaiting();
  });
}

if (isMainThread) serve();
else store(workerData as string);
