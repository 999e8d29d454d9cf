import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../errors.ts';
import { type Connection, openDatabase } from '../sqlite.ts';
import type { QueryRequest, QueryResponse, QueryThreadData } from './query-queue.ts';
import { endWork, inTurn } from '../thread-turns.ts';
import { DamagedText } from './checksummed-text.ts';
import { SearchTooWide } from './queries/search-query.ts';
import type { Query, Results, Searches } from './queries/searches.ts';

/**
 * The thread that searches, one search after another, with a connection that cannot write. It loads what searches with
 * the first query: that is a fifth of the program, and most of the work of a start that no query follows.
 */

/** How many pages of the file the connection keeps in memory. Bytes. */
const cacheBytesMaximum = 16 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('This module runs as a worker thread.');
const { file, turn, examinedItemsMaximum } = workerData as QueryThreadData;

let database: Connection | undefined;
let searches: Searches | undefined;

function open(): Connection {
  const opened = openDatabase(file, { mustExist: true });
  try {
    opened.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cacheBytesMaximum / 1024};`);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** Reads at one moment, although a page is read in several steps. */
function read(Searching: typeof Searches, query: Query): Results[keyof Results] {
  database ??= open();
  searches ??= new Searching(database, examinedItemsMaximum);
  database.exec('BEGIN');
  try {
    return searches.resultOf(query);
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

async function serve(request: QueryRequest): Promise<void> {
  if (request.name === 'close') return inTurn(turn, close);
  const module = await import('./queries/searches.ts');
  inTurn(turn, () => respond(module.Searches, request.id, request.query));
}

function close(): void {
  database?.close();
  // The file is closed when nothing refers to the statements of its connection.
  database = undefined;
  searches = undefined;
  port?.close();
}

function respond(Searching: typeof Searches, id: number, query: Query): void {
  let response: QueryResponse;
  try {
    response = { id, result: read(Searching, query) };
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
  database = open();
} catch {
  // The first query tries again, and has the failure as its own.
}
let served = Promise.resolve();
port.on('message', (request: QueryRequest) => {
  served = served.then(() => serve(request));
});
port.postMessage({ started: true } satisfies QueryResponse);
endWork(turn);
