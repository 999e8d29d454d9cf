import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../errors.ts';
import { type Connection, openDatabase } from '../sqlite.ts';
import type { QueryRequest, QueryResponse, QueryThreadData } from './query-queue.ts';
import { endWork, inTurn } from '../thread-turns.ts';
import { DamagedText } from './checksummed-text.ts';
import { SearchTooWide } from './queries/search-query.ts';
import { type Query, type Results, Searches } from './queries/searches.ts';

/** The thread that searches, one search after another, with a connection that cannot write. */

/** How many pages of the file the connection keeps in memory. Bytes. */
const cacheBytesMaximum = 16 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('This module runs as a worker thread.');
const { file, turn } = workerData as QueryThreadData;

interface OpenFile {
  readonly database: Connection;
  readonly searches: Searches;
}

let opened: OpenFile | undefined;

function open(): OpenFile {
  const database = openDatabase(file, { mustExist: true });
  try {
    database.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cacheBytesMaximum / 1024};`);
    return { database, searches: new Searches(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Reads at one moment, although a page is read in several steps. */
function read({ database, searches }: OpenFile, query: Query): Results[keyof Results] {
  database.exec('BEGIN');
  try {
    return searches.resultOf(query);
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function serve(request: QueryRequest): void {
  if (request.name === 'close') {
    opened?.database.close();
    port?.close();
    return;
  }
  const { id } = request;
  let response: QueryResponse;
  try {
    opened ??= open();
    response = { id, result: read(opened, request.query) };
  } catch (error) {
    const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
    response = {
      id,
      failure: {
        message: describeError(error),
        isDamagedText: error instanceof DamagedText,
        isTooWide: error instanceof SearchTooWide,
        code,
        errcode,
      },
    };
  }
  port?.postMessage(response);
}

try {
  // Not with the first query: the file can be removed before it, and what is open remains readable.
  opened = open();
} catch {
  // The first query tries again, and has the failure as its own.
}
port.on('message', (request: QueryRequest) => inTurn(turn, () => serve(request)));
port.postMessage({ started: true } satisfies QueryResponse);
endWork(turn);
