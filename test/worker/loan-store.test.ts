import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { EventLog, Offset } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError, isLendstreamError } from '../../src/errors.ts';
import type { Loan } from '../../src/lending/loan.ts';
import { encodeAccount } from '../../src/lending-format/account-pages.ts';
import { accountRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import type { AccountsForWorker } from '../../src/accounts/accounts-for-worker.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { DecodedLoans, decodedBytesPerCharacter } from '../../src/worker/decoded-loans.ts';
import { type CommittedLoan, LoanStore } from '../../src/worker/loan-store.ts';
import { decided, loanText, openLendingLog, startWorker } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { checkpointRecord } from '../accounts/stored-loans.ts';

const loanIds = ['L1', 'L2', 'L3'];
const textOf = (loan: Loan): string => encodeAccount(loan).text;
const never = new AbortController().signal;

describe('the loans of a partition', () => {
  let folder: string;
  let log: EventLog;
  let accounts: AccountsCopy;

  before(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    const running = await startWorker(log, { commandsPerCommitMaximum: 2 });
    await decided(log, [
      richProduct('P', 'DYNAMIC_TERM_LOAN'),
      ...loanIds.map(
        (id) => ({ type: 'CREATE_LOAN', id, payload: { productTypeKey: 'P', loanAmount: 1000 } }) as const,
      ),
      ...loanIds.map((id) => ({ type: 'CHANGE_STATE', id, payload: { action: 'APPROVE' } }) as const),
      { type: 'DISBURSE', id: 'L3', payload: { valueDate: '2011-01-23' } },
    ]);
    await running.stop();
    accounts = await openFilledCopy({
      dataFolder: folder,
      log,
      partitionCount: 1,
      clock: systemClock,
      logger: silentLogger,
    });
  });

  after(async () => {
    await accounts.close();
    await log.close();
    await removeFolder(folder);
  });

  it('are found by the days on which their rows are due', async () => {
    const store = await LoanStore.open(accounts, 0, never);
    const dueOn = (day: string): string[] =>
      store.loansWithRowsDue({ day, isAllAfter: false }, undefined, 10).map(({ loanId }) => loanId);
    const dueAfter = (day: string): string[] =>
      store.loansWithRowsDue({ day, isAllAfter: true }, undefined, 10).map(({ loanId }) => loanId);
    expect(dueOn('2011-03-23')).to.deep.equal(['L3']);
    // The day lies between two rows of the account.
    expect(dueOn('2011-03-24')).to.deep.equal([]);
    expect(dueAfter('2011-05-22')).to.deep.equal(['L3']);
    expect(dueAfter('2011-05-23')).to.deep.equal([]);
    expect(store.lastDueDate()).to.equal('2011-05-23');
    const [found = expect.fail('no account')] = store.loansWithRowsDue(
      { day: '2011-03-23', isAllAfter: false },
      undefined,
      10,
    );
    expect(store.loansWithRowsDue({ day: '2011-03-23', isAllAfter: false }, found, 10)).to.deep.equal([]);
  });

  it('are as they were last written, with the position of the last command', async () => {
    const store = await LoanStore.open(accounts, 0, never);
    expect(store.position).to.equal(loanIds.length * 2 + 1);
    for (const id of loanIds) {
      const loan = store.loanOf(id);
      expect(loan?.position.accountState).to.equal(id === 'L3' ? 'ACTIVE' : 'APPROVED');
      expect(loan === null ? null : textOf(loan)).to.equal(await loanText(log, id));
    }
    expect(store.loanOf('L4')).to.equal(null);
  });

  it('have their transactions, by id and by encodedKey, and none of another loan', async () => {
    const store = await LoanStore.open(accounts, 0, never);
    const disbursement = store.transactionOf('L3', 'L3-1') ?? expect.fail();
    expect(disbursement.type).to.equal('DISBURSEMENT');
    expect(store.transactionOf('L3', disbursement.encodedKey)).to.deep.equal(disbursement);
    expect(store.transactionOf('L1', disbursement.encodedKey)).to.equal(undefined);
    expect(store.transactionOf('L1', 'L3-1')).to.equal(undefined);
    expect(store.transactionOf('L3', 'L3-2')).to.equal(undefined);
  });

  it('stay decoded up to the limit, and the least recently used are dropped first', async () => {
    const lengths = loanIds.map((id) => accounts.accountText(id)?.length ?? 0);
    // Two loans take at most this much, and three more.
    const bytesMaximum = decodedBytesPerCharacter * 2 * Math.max(...lengths);
    const store = await LoanStore.open(accounts, 0, never, new DecodedLoans(bytesMaximum));
    const first = store.loanOf('L1');
    expect(store.loanOf('L1'), 'still decoded').to.equal(first);
    store.loanOf('L2');
    store.loanOf('L1');
    store.loanOf('L3');
    expect(store.loanOf('L1'), 'used lately').to.equal(first);
    store.loanOf('L2');
    store.loanOf('L3');
    const again = store.loanOf('L1');
    expect(again, 'decoded anew').to.not.equal(first);
    expect(again).to.deep.equal(first);
  });

  it('are not awaited by a worker that is stopped', async () => {
    await log.append([{ topic: accountsTopic, partition: 0, records: [checkpointRecord(0, 7, [])] }]);
    const refused = await LoanStore.open(accounts, 0, AbortSignal.abort()).catch((error: unknown) => error);
    if (refused instanceof LoanStore) expect(refused.position, 'the copy was faster').to.equal(7);
    else expect(isLendstreamError(refused, 'LOG_CLOSED')).to.equal(true);
  });

  describe('after a commit', () => {
    const remembered = { digest: 'd', decidedAt: 1 };
    let store: LoanStore;
    let before: Loan;
    let end: Offset;
    /** The calls of the copy; a commit begins a new list. */
    let calls: unknown[][];
    let requests: unknown[];
    const note = (call: unknown): void => void calls.at(-1)?.push(call);

    beforeEach(async () => {
      calls = [[]];
      requests = [];
      const copy: AccountsForWorker = overriding<AccountsForWorker>(accounts, {
        holdBack: (partition) => {
          calls.push([`hold ${partition} back`]);
          return () => note('release');
        },
        applyOwnCommit: ({ partition, from, nextOffset }) => {
          note([partition, from, nextOffset]);
          if (nextOffset === lost) return false;
          if (nextOffset === damaging) throw new LendstreamError('LOG_UNAVAILABLE', 'It is being rebuilt.');
          if (nextOffset === impossible) throw new Error('It cannot be.');
          return true;
        },
        catchUpPartition: async (partition, signal) => {
          end = await accounts.catchUpPartition(partition, signal);
          note('catch up');
          return end;
        },
        commandsDecidedUpTo: (...request) => {
          requests.push(request);
          return ['old', 'older'];
        },
        commandText: () => writeIdempotencyRecord(remembered),
      });
      store = await LoanStore.open(copy, 0, never);
      before = store.loanOf('L3') ?? expect.fail();
      calls = [];
    });

    const [lost, damaging, impossible] = [1_001, 1_002, 1_003];

    /** Commits a new name of the loan. */
    function commit(position: number, nextOffset: Offset | undefined, loanName = 'new'): Promise<void> {
      const loan = { ...before, loanName };
      const records = new Map([[accountRecordKey('L3'), textOf(loan)]]);
      const state = {
        checkpoint: { position, outcomes: [] },
        loans: new Map([['L3', { loan, textLength: 1_000 }]]),
        records,
      };
      const elsewhere = { topic: accountsTopic, partition: 1, nextOffset: 5 };
      const committed = { topic: accountsTopic, partition: 0 };
      return store.commit(state, () => {
        note('write');
        return Promise.resolve([elsewhere, ...(nextOffset === undefined ? [] : [{ ...committed, nextOffset }])]);
      });
    }

    it('have its state, and the copy has it from the end of what this worker knew', async () => {
      await commit(8, 500);
      await store.waitForCopy(never);
      await commit(9, 600);
      await store.waitForCopy(never);
      expect(calls).to.deep.equal([
        ['hold 0 back', 'write', [0, end, 500], 'release'],
        ['hold 0 back', 'write', [0, 500, 600], 'release'],
      ]);
      expect(store.position).to.equal(9);
      expect(store.loanOf('L3')?.loanName).to.equal('new');
    });

    const rows: [what: string, nextOffset: Offset | undefined, applied: boolean][] = [
      ['lacks earlier records', lost, true],
      ['is being rebuilt', damaging, true],
      ['would have to take a commit of which the log knows no end', undefined, false],
    ];
    for (const [what, nextOffset, applied] of rows) {
      it(`wait until the copy has it from the log when the copy ${what}`, async () => {
        await commit(8, nextOffset);
        await store.waitForCopy(never);
        await store.waitForCopy(never);
        expect(store.position).to.equal(8);
        await commit(9, 700);
        expect(calls).to.deep.equal([
          ['hold 0 back', 'write', ...(applied ? [[0, end, nextOffset]] : []), 'release', 'catch up'],
          ['hold 0 back', 'write', [0, end, 700], 'release'],
        ]);
      });
    }

    it('stay as they were when it failed, and the copy continues with the log', async () => {
      const state = {
        checkpoint: { position: 8, outcomes: [] },
        loans: new Map<string, CommittedLoan>(),
        records: new Map(),
      };
      const failure = new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
      expect(await store.commit(state, () => Promise.reject(failure)).catch((error: unknown) => error)).to.equal(
        failure,
      );
      expect(store.position).to.not.equal(8);
      const bug: unknown = await commit(8, impossible).catch((error: unknown) => error);
      expect(bug).to.be.an('error').with.property('message', 'It cannot be.');
      expect(calls).to.deep.equal([
        ['hold 0 back', 'release'],
        ['hold 0 back', 'write', [0, end, impossible], 'release'],
      ]);
    });

    it('are with the commands that the copy remembers, of which one commit forgets at most 500', () => {
      expect(store.idempotencyRecord('old')).to.deep.equal(remembered);
      expect(store.commandsDecidedUpTo(5)).to.deep.equal(['old', 'older']);
      expect(requests).to.deep.equal([[0, 5, 500]]);
    });
  });
});
