import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { encodeLoan } from '../../src/lending/codec/stored-loan.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { loansTopic } from '../../src/lending-format/lending-topics.ts';
import { LoanStore } from '../../src/worker/loan-store.ts';
import { decided, loanText, openLendingLog, startWorker } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const loanIds = ['L1', 'L2', 'L3'];
const never = new AbortController().signal;

describe('the loans of a partition', () => {
  let folder: string;
  let log: EventLog;

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
    ]);
    await running.stop();
  });

  after(async () => {
    await log.close();
    await removeFolder(folder);
  });

  it('are restored as they were last written, with the checkpoint', async () => {
    const store = await LoanStore.restore(log, 0, never);
    expect(store.size).to.equal(loanIds.length);
    expect(store.position).to.equal(loanIds.length * 2);
    for (const id of loanIds) {
      const loan = store.loanOf(id);
      expect(loan?.position.accountState).to.equal('APPROVED');
      expect(loan === null ? null : encodeLoan(loan)).to.equal(await loanText(log, id));
    }
    expect(store.loanOf('L4')).to.equal(null);
  });

  it('stay decoded up to the limit, and the least recently used are dropped first', async () => {
    const store = await LoanStore.restore(log, 0, never, 2);
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

  it('are removed when their key was deleted', async () => {
    await log.append([{ topic: loansTopic, partition: 0, records: [{ key: 'L2', value: null }] }]);
    expect((await LoanStore.restore(log, 0, never)).loanOf('L2')).to.equal(null);
  });

  it('are not awaited by a worker that is stopped', async () => {
    const refused = await LoanStore.restore(log, 0, AbortSignal.abort()).catch((error: unknown) => error);
    expect(isLendstreamError(refused, 'LOG_CLOSED')).to.equal(true);
  });
});
