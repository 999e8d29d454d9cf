import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { encodeLoan } from '../../src/lending/changelog/stored-loan.ts';
import type { Loan, LoanTransaction } from '../../src/lending/loan.ts';
import { accountRecordKey, transactionRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { idempotencyRecordKey, writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import type { ChangelogCopy } from '../../src/accounts/changelog-copy.ts';
import { LoanView } from '../../src/accounts/loan-view.ts';
import { type CommittedState, LoanStore } from '../../src/worker/loan-store.ts';
import { decided, loanText, openLendingLog, startWorker } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { checkpointRecord } from '../accounts/stored-loans.ts';

const loanIds = ['L1', 'L2', 'L3'];
const never = new AbortController().signal;

describe('the loans of a partition', () => {
  let folder: string;
  let log: EventLog;
  let view: LoanView;

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
    view = await LoanView.open({
      dataFolder: folder,
      log,
      partitionCount: 1,
      clock: systemClock,
      logger: silentLogger,
    });
  });

  after(async () => {
    await view.close();
    await log.close();
    await removeFolder(folder);
  });

  it('are as they were last written, with the position of the last command', async () => {
    const store = await LoanStore.open(view, 0, never);
    expect(store.position).to.equal(loanIds.length * 2 + 1);
    for (const id of loanIds) {
      const loan = store.loanOf(id);
      expect(loan?.position.accountState).to.equal(id === 'L3' ? 'ACTIVE' : 'APPROVED');
      expect(loan === null ? null : encodeLoan(loan)).to.equal(await loanText(log, id));
    }
    expect(store.loanOf('L4')).to.equal(null);
  });

  it('have their transactions, by id and by encodedKey, and none of another loan', async () => {
    const store = await LoanStore.open(view, 0, never);
    const disbursement = store.transactionOf('L3', 'L3-1') ?? expect.fail();
    expect(disbursement.type).to.equal('DISBURSEMENT');
    expect(store.transactionOf('L3', disbursement.encodedKey)).to.deep.equal(disbursement);
    expect(store.transactionOf('L1', disbursement.encodedKey)).to.equal(undefined);
    expect(store.transactionOf('L1', 'L3-1')).to.equal(undefined);
    expect(store.transactionOf('L3', 'L3-2')).to.equal(undefined);
  });

  it('stay decoded up to the limit, and the least recently used are dropped first', async () => {
    const lengths = await Promise.all(loanIds.map(async (id) => (await loanText(log, id))?.length ?? 0));
    // Two loans take at most this much, and three more.
    const store = await LoanStore.open(view, 0, never, 5 * 2 * Math.max(...lengths));
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
    const refused = await LoanStore.open(view, 0, AbortSignal.abort()).catch((error: unknown) => error);
    if (refused instanceof LoanStore) expect(refused.position, 'the copy was faster').to.equal(7);
    else expect(isLendstreamError(refused, 'LOG_CLOSED')).to.equal(true);
  });

  describe('after a commit that the copy does not have yet', () => {
    let store: LoanStore;
    let copied: number | null;
    let waits: number;
    let requests: unknown[];
    let before: Loan;

    beforeEach(async () => {
      copied = 7;
      waits = 0;
      requests = [];
      const copy: ChangelogCopy = overriding<ChangelogCopy>(view, {
        checkpointPosition: () => copied,
        commandText: (_partition, commandId) => (commandId === 'old' ? writeIdempotencyRecord(remembered) : undefined),
        commandsDecidedUpTo: (...request) => {
          requests.push(request);
          return ['old', 'older'];
        },
        catchUpPartition: () => {
          waits += 1;
          return Promise.resolve();
        },
      });
      store = await LoanStore.open(copy, 0, never, 1);
      before = store.loanOf('L3') ?? expect.fail();
      expect(waits, 'when it was opened').to.equal(1);
      waits = 0;
    });

    const remembered = { digest: 'd', decidedAt: 1 };

    /** A commit that changes the loan, and nothing else unless the test says so. */
    function committed(position: number, loanName: string, more: Partial<CommittedState> = {}): CommittedState {
      const loan = { ...before, loanName };
      const records = new Map([[accountRecordKey('L3'), Buffer.from(encodeLoan(loan))]]);
      const loans = new Map([['L3', loan]]);
      return { checkpoint: { position, outcomes: [] }, loans, records, transactions: [], ...more };
    }

    it('have the state of the commit, also when they are no longer decoded', () => {
      store.apply(committed(8, 'first'));
      expect(store.position).to.equal(8);
      expect(store.loanOf('L3')?.loanName).to.equal('first');
      store.loanOf('L1');
      expect(store.loanOf('L3')?.loanName).to.equal('first');
    });

    it('have the state of the copy as soon as the copy has the commit', () => {
      store.apply(committed(8, 'first'));
      store.apply(committed(9, 'second'));
      copied = 8;
      store.apply({
        checkpoint: { position: 10, outcomes: [] },
        loans: new Map(),
        records: new Map(),
        transactions: [],
      });
      store.loanOf('L1');
      expect(store.loanOf('L3')?.loanName, 'of the second commit').to.equal('second');
      copied = 9;
      store.apply({
        checkpoint: { position: 11, outcomes: [] },
        loans: new Map(),
        records: new Map(),
        transactions: [],
      });
      store.loanOf('L1');
      expect(store.loanOf('L3')?.loanName, 'of the copy').to.equal(before.loanName);
    });

    it('have the state of the first commit of all, of which the copy has nothing', () => {
      copied = null;
      store.apply(committed(0, 'first'));
      store.loanOf('L1');
      expect(store.loanOf('L3')?.loanName).to.equal('first');
    });

    it('have the transactions of the commit, by id and by encodedKey', () => {
      const posted = store.transactionOf('L3', 'L3-1') ?? expect.fail();
      const next: LoanTransaction = { ...posted, id: 'L3-2', encodedKey: 'next' };
      const transactions: CommittedState['transactions'] = [
        ['L3', 'L3-2', next],
        ['L3', 'next', next],
      ];
      store.apply(committed(8, 'first', { transactions }));
      expect(store.transactionOf('L3', 'L3-2')).to.equal(next);
      expect(store.transactionOf('L3', 'next')).to.equal(next);
      copied = 8;
      store.apply(committed(9, 'second'));
      expect(store.transactionOf('L3', 'next')).to.equal(undefined);
      expect(transactionRecordKey('L3', 'next')).to.equal('loan/L3/transaction/next');
    });

    it('remember its commands and forget those that it deleted', () => {
      expect(store.commandsDecidedUpTo(5)).to.deep.equal(['old', 'older']);
      expect(requests, 'at most 500 for one commit').to.deep.equal([[0, 5, 500]]);
      expect(store.idempotencyRecord('old')).to.deep.equal(remembered);
      const records = new Map([
        [idempotencyRecordKey('old'), null],
        [idempotencyRecordKey('new'), Buffer.from(writeIdempotencyRecord({ digest: 'n', decidedAt: 2 }))],
      ]);
      store.apply(committed(8, 'first', { records }));
      expect(store.idempotencyRecord('old')).to.equal(undefined);
      expect(store.idempotencyRecord('new')).to.deep.equal({ digest: 'n', decidedAt: 2 });
      expect(store.commandsDecidedUpTo(5), 'the deleted one is not deleted again').to.deep.equal(['older']);
      const again = Buffer.from(writeIdempotencyRecord({ digest: 'o', decidedAt: 5 }));
      store.apply(committed(9, 'second', { records: new Map([[idempotencyRecordKey('older'), again]]) }));
      expect(store.commandsDecidedUpTo(4), 'the newer one is not old').to.deep.equal([]);
      expect(store.commandsDecidedUpTo(5)).to.deep.equal(['older']);
    });

    it('wait for the copy when it lacks more than 32 MiB', async () => {
      const key = 'k'.repeat(24);
      const records = new Map([
        [key, Buffer.alloc(32 * 1024 * 1024 - key.length - 1)],
        ['d', null],
      ]);
      store.apply(committed(8, 'first', { records }));
      await store.waitForCopy(never);
      expect(waits).to.equal(0);
      store.apply(committed(9, 'second', { records: new Map([['k', null]]) }));
      await store.waitForCopy(never);
      expect(waits).to.equal(1);
      copied = 9;
      await store.waitForCopy(never);
      await store.waitForCopy(never);
      expect(waits, 'not when the copy has it').to.equal(2);
      store.apply(committed(10, 'third'));
      await store.waitForCopy(never);
      expect(waits).to.equal(2);
    });
  });
});
