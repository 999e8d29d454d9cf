import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { AccountTables } from '../../src/accounts/account-tables.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { QueryQueue } from '../../src/accounts/query-queue.ts';
import type { SearchQuery } from '../../src/accounts/queries/search-query.ts';
import { type LoanRow, loanRow } from '../../src/accounts/account-rows.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { type StartedThreads, watchThreads } from '../support/started-threads.ts';
import { codeOf } from '../support/log-reading.ts';
import { loanRecord } from './stored-loans.ts';

const script = 'query-thread.js';
const everything: SearchQuery = { sorting: [], offset: 0, limit: 100 };

describe('queries of many loans', () => {
  let folder: string;
  let database: AccountTables;
  let queries: QueryQueue;
  let threads: StartedThreads;

  beforeEach(async () => {
    folder = await temporaryFolder();
    database = new AccountTables(join(folder, 'accounts.db'));
    queries = new QueryQueue(join(folder, 'accounts.db'));
    threads = watchThreads();
  });
  afterEach(async () => {
    threads.stop();
    await queries.stop();
    database.close();
    await removeFolder(folder);
  });

  function put(...ids: readonly string[]): void {
    apply(0, ids.map(rowOf));
  }

  function putDue(partition: number, id: string, nextBusinessDate: string | null): void {
    apply(partition, [{ ...rowOf(id), nextBusinessDate }]);
  }

  function rowOf(id: string): LoanRow {
    return loanRow(loanRecord({ id }).value?.toString() ?? '');
  }

  function apply(partition: number, rows: readonly LoanRow[]): void {
    const loans = new Map(rows.map((row) => [row.loanId, row]));
    const nothing = new Map<string, never>();
    database.apply({
      partition,
      nextOffset: 1,
      loans,
      products: nothing,
      pages: [],
      transactions: nothing,
      commands: nothing,
      commandOffset: undefined,
    });
  }

  it('return each change as soon as it was made, from one thread', async () => {
    expect(threads.count(script)).to.equal(0);
    for (const count of [1, 2, 3]) {
      put(`loan-${count}`);
      expect(await queries.countLoans(everything)).to.equal(count);
      expect((await queries.loans(everything)).items).to.have.length(count);
    }
    expect(threads.count(script)).to.equal(1);
  });

  it('count the accounts of each partition on which something falls due by a date', async () => {
    putDue(0, 'a', '2026-01-01');
    putDue(0, 'b', '2026-01-02');
    putDue(0, 'nothing falls due', null);
    putDue(1, 'c', '2026-01-02');
    const dates = ['', '2025-12-31', '2026-01-01', '2026-01-02'];
    expect(await queries.countDue(dates.map((date) => ({ partition: 0, date })))).to.deep.equal([0, 0, 1, 2]);
    expect(await queries.countDue(dates.map((date) => ({ partition: 1, date })))).to.deep.equal([0, 0, 0, 1]);
    expect(await queries.countDue([])).to.deep.equal([]);
  });

  it('work from the start of the thread on, although the file is removed then', async () => {
    put('a');
    await queries.start();
    await removeFolder(folder);
    expect(await queries.countLoans(everything)).to.equal(1);
    expect((await queries.loans(everything)).items).to.have.length(1);
  });

  it('that wait are answered before the thread ends, and a later one starts another', async () => {
    put('a');
    const waiting = queries.countLoans(everything);
    await queries.stop();
    expect(await waiting).to.equal(1);
    expect(await queries.countLoans(everything)).to.equal(1);
    expect(threads.count(script)).to.equal(2);
  });

  it('fail when the thread ends by itself, and the next one starts another', async () => {
    put('a');
    expect(await queries.countLoans(everything)).to.equal(1);
    // The thread is already ending when it is asked, so it cannot respond first.
    const ended = threads.end(script);
    const waiting = queries.countLoans(everything).catch((error: unknown) => error);
    await ended;
    const failure = await waiting;
    expect(isLendstreamError(failure, 'LOG_UNAVAILABLE')).to.equal(true);
    expect(String(failure)).to.contain('The thread that lists loans ended: its exit code is 1. Try again.');
    expect(await queries.countLoans(everything)).to.equal(1);
  });

  it('are refused when a thousand wait', async () => {
    const waiting = Array.from({ length: 1_000 }, () => queries.countLoans(everything));
    expect(await codeOf(queries.countLoans(everything))).to.equal('OVERLOADED');
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set([0]));
    expect(await queries.countLoans(everything)).to.equal(0);
  });
});
