import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../errors.ts';
import { type Connection, openDatabase, withoutNul } from '../sqlite.ts';
import type { QueryRequest, QueryResponse, QueryThreadData } from './query-queue.ts';
import { type LoanQuery, loanQueryStatements } from './filter-and-sort.ts';
import { endWork, inTurn } from '../thread-turns.ts';
import { pagesOfAccount, unsealedPages } from './page-rows.ts';
import { DamagedText, unsealed } from './checksummed-text.ts';

/** The thread that reads pages and counts of loans, one after another, with a connection that cannot write. */

/** How many pages of the file the connection keeps in memory. Bytes. */
const cacheBytesMaximum = 16 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('This module runs as a worker thread.');
const { file, turn } = workerData as QueryThreadData;

interface OpenFile {
  readonly database: Connection;
  readonly stateOf: ReturnType<Connection['prepare']>;
  readonly pagesOf: ReturnType<Connection['prepare']>;
}

let opened: OpenFile | undefined;

function open(): OpenFile {
  const database = openDatabase(file, { mustExist: true });
  try {
    database.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cacheBytesMaximum / 1024};`);
    const stateOf = database.prepare('SELECT state FROM states WHERE loan_number = ?');
    return { database, stateOf, pagesOf: database.prepare(pagesOfAccount) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function page({ database, stateOf, pagesOf }: OpenFile, query: LoanQuery): string[][] {
  const { page: statement, values } = loanQueryStatements(query);
  const found = database.prepare(statement).all(...values.map(withoutNul), query.limit, query.offset) as {
    loan_number: number;
    loan_id: string;
  }[];
  return found.map(({ loan_number, loan_id }) => {
    const row = stateOf.get(loan_number) as { state: string } | undefined;
    if (row === undefined) throw new DamagedText(`The account ${loan_id} has no text`);
    return [unsealed(loan_id, row.state), ...unsealedPages(loan_id, pagesOf.all(loan_id))];
  });
}

function count({ database }: OpenFile, query: LoanQuery): number {
  const { count: statement, values } = loanQueryStatements(query);
  return (database.prepare(statement).get(...values.map(withoutNul)) as { total: number }).total;
}

/** Reads at one moment, although a page is read in two steps. */
function read(from: OpenFile, { name, query }: Exclude<QueryRequest, { name: 'close' }>): string[][] | number {
  from.database.exec('BEGIN');
  try {
    return name === 'page' ? page(from, query) : count(from, query);
  } finally {
    if (from.database.isTransaction) from.database.exec('ROLLBACK');
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
    response = { id, result: read(opened, request) };
  } catch (error) {
    const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
    response = {
      id,
      failure: { message: describeError(error), isDamagedText: error instanceof DamagedText, code, errcode },
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
