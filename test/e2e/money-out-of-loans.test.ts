import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../src/admin/example-product.ts';
import type { App } from '../../src/app.ts';
import { partitionOfAccount } from '../../src/lending-format/lending-topics.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { createAppHere } from '../support/processes/service-here.ts';

/** A loan of 1000 over four months at ten percent a month, disbursed long ago, and so all due. */
const disbursedOn = '2024-01-15';

describe('money out of a loan over the lending API', () => {
  let folder: string;
  let app: App;
  let url: string;
  const post = (path: string, body: unknown = {}) => call(`${url}${path}`, 'POST', body);
  const get = async (path: string) => (await call(`${url}${path}`, 'GET')).body;
  const typesOf = async (loan: string): Promise<unknown[]> => {
    const { text } = await call(`${url}/loans/${loan}/transactions`, 'GET');
    return (JSON.parse(text) as { type: string }[]).map(({ type }) => type);
  };
  const stateOf = async (loan: string): Promise<unknown[]> => {
    const { accountState, accountSubState } = await get(`/loans/${loan}`);
    return [accountState, accountSubState].filter((part) => part !== undefined);
  };
  const expectStatus = ({ status, text }: HttpResponse, expected: number): void => {
    expect(status, text).to.equal(expected);
  };

  async function openLoan(id: string, productTypeKey = 'money-out'): Promise<void> {
    expectStatus(await post('/loans', { id, productTypeKey, loanAmount: 1000 }), 201);
    expectStatus(await post(`/loans/${id}:changeState`, { action: 'APPROVE' }), 200);
    expectStatus(await post(`/loans/${id}/disbursement-transactions`, { valueDate: disbursedOn }), 201);
  }

  before(async () => {
    folder = await temporaryFolder();
    app = await createAppHere(readConfig({ DATA_DIR: folder, PORT: '0' }), silentLogger);
    url = await app.start();
    expectStatus(await post('/loanproducts', annuityProduct('money-out')), 201);
    expectStatus(await post('/loanproducts', { ...annuityProduct('daily'), type: 'DYNAMIC_TERM_LOAN' }), 201);
  });

  after(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  it('shows what a pay-off costs, forgives a part of it and closes the loan', async () => {
    await openLoan('paid-off');
    expectStatus(await post('/loans/paid-off:applyInterest', { interestApplicationDate: '2024-03-15' }), 204);
    const preview = await post('/loans/paid-off:previewPayOffAmounts', { valueDate: '2030-01-01T00:00:00Z' });
    expectStatus(preview, 200);
    expect(preview.body).to.include({ principalBalance: 1000, interestBalance: 261.88, totalBalance: 1261.88 });
    const tooMuch = await post('/loans/paid-off:payOff', { payOffAdjustableAmounts: { feesPaid: 31 } });
    expectStatus(tooMuch, 400);
    expect(tooMuch.text).to.contain('PAY_OFF_INVALID_FEES_PAID');
    const paid = { notes: 'Prueba Pago Total', payOffAdjustableAmounts: { interestPaid: 61.88 } };
    const answer = await post('/loans/paid-off:payOff', paid);
    expectStatus(answer, 204);
    expect(answer.text).to.equal('');
    expect(await typesOf('paid-off')).to.deep.equal([
      'DISBURSEMENT',
      'INTEREST_APPLIED',
      'INTEREST_APPLIED',
      'INTEREST_DUE_REDUCED',
      'REPAYMENT',
    ]);
    expect(await stateOf('paid-off')).to.deep.equal(['CLOSED', 'REPAID']);
  });

  it('forgives penalties and interest, and takes that back', async () => {
    await openLoan('forgiven');
    expectStatus(await post('/loans/forgiven/penalty-transactions', { amount: 5, valueDate: '2024-03-01' }), 201);
    const before = await get('/loans/forgiven/balances');
    const reduced = await post('/loans/forgiven/penalty-reduction-transactions', { amount: 4 });
    expectStatus(reduced, 201);
    expect(reduced.body).to.include({ type: 'PENALTIES_DUE_REDUCED', amount: 4 });
    expect(await get('/loans/forgiven/balances')).to.include({ penaltyBalance: 1 });
    expectStatus(await post(`/loans/transactions/${String(reduced.body['id'])}:adjust`), 200);
    expect(await get('/loans/forgiven/balances')).to.deep.equal(before);
  });

  it('writes a loan off and takes that back', async () => {
    await openLoan('lost');
    const before = await get('/loans/lost/schedule');
    expectStatus(await post('/loans/lost:writeOff', { notes: 'Lost' }), 204);
    expect(await stateOf('lost')).to.deep.equal(['CLOSED', 'WRITTEN_OFF']);
    expect(await get('/loans/lost/balances')).to.include({ principalBalance: 0, interestBalance: 0 });
    expectStatus(await post('/loans/lost:undoWriteOff'), 204);
    expect(await stateOf('lost')).to.deep.equal(['ACTIVE']);
    expect(await get('/loans/lost/schedule')).to.deep.equal(before);
  });

  it('refunds a disbursement, names it in the transaction, and takes the refund back', async () => {
    await openLoan('refunded');
    const before = await get('/loans/refunded/schedule');
    const [{ encodedKey: linkedDisbursementKey } = expect.fail('no disbursement')] = (await get(
      '/loans/refunded/transactions',
    )) as unknown as { encodedKey: string }[];
    const refund = await post('/loans/refunded/refund-transactions', { amount: 100, linkedDisbursementKey });
    expectStatus(refund, 201);
    expect(refund.body).to.include({ type: 'REFUND', amount: 100, parentLoanTransactionKey: linkedDisbursementKey });
    expect(await get('/loans/refunded/balances')).to.include({ principalBalance: 900 });
    expectStatus(await post(`/loans/transactions/${String(refund.body['id'])}:adjust`), 200);
    expect(await get('/loans/refunded/schedule')).to.deep.equal(before);
  });

  it('terminates a loan, so that one installment asks for all of it, and takes that back', async () => {
    await openLoan('terminated', 'daily');
    const before = await get('/loans/terminated/schedule');
    const valueDate = '2024-01-20';
    expectStatus(await post('/loans/terminated:terminate', { valueDate, notes: 'Fraud' }), 204);
    expect(await stateOf('terminated')).to.deep.equal(['ACTIVE', 'TERMINATED']);
    const { installments } = (await get('/loans/terminated/schedule')) as { installments: { dueDate: string }[] };
    expect(installments.map(({ dueDate }) => dueDate.slice(0, 10))).to.deep.equal([valueDate]);
    const last = (await typesOf('terminated')).length;
    expectStatus(await post(`/loans/transactions/terminated-${last}:adjust`), 200);
    expect(await get('/loans/terminated/schedule')).to.deep.equal(before);
  });

  it('replaces a loan by one under other terms, and takes that back', async () => {
    await openLoan('replaced', 'daily');
    const before = await get('/loans/replaced/schedule');
    const balances = await get('/loans/replaced/balances');
    const loanAccount = {
      productTypeKey: 'daily',
      scheduleSettings: { repaymentInstallments: 12 },
      disbursementDetails: { firstRepaymentDate: '2090-01-15' },
    };
    const answer = await post('/loans/replaced:reschedule', { loanAccount, writeOffAmounts: { principal: 100 } });
    expectStatus(answer, 200);
    const { id } = answer.body as { id: string };
    const old = await get('/loans/replaced');
    expect(answer.body).to.include({ accountState: 'ACTIVE', originalAccountKey: old['encodedKey'] });
    expect(old).to.include({ accountSubState: 'RESCHEDULED', rescheduledAccountKey: answer.body['encodedKey'] });
    expect(await typesOf('replaced')).to.include.members(['WRITE_OFF', 'TRANSFER']);
    expect(await typesOf(id)).to.deep.equal(['DISBURSEMENT']);
    // Commands on the new account find it.
    expectStatus(await post(`/loans/${id}/repayment-transactions`, { amount: 5 }), 201);
    expectStatus(await post(`/loans/replaced:undoReschedule`), 400);
    expectStatus(await post(`/loans/transactions/${id}-2:adjust`), 200);
    expectStatus(await post(`/loans/replaced:undoRefinance`), 400);
    expectStatus(await post(`/loans/${id}:undoReschedule`, { notes: 'Wrong loan' }), 204);
    expect(await get('/loans/replaced/schedule')).to.deep.equal(before);
    expect(await get('/loans/replaced/balances')).to.deep.equal(balances);
    expect(await get('/loans/replaced')).not.to.have.property('rescheduledAccountKey');
    expect(await stateOf(id)).to.deep.equal(['CLOSED', 'WITHDRAWN']);
  });

  it('replaces a loan by a larger one, whose id the request may choose within the partition of the old one', async () => {
    await openLoan('grown', 'daily');
    const loanAccount = { productTypeKey: 'daily', disbursementDetails: { firstRepaymentDate: '2090-01-15' } };
    const partitionOf = (id: string) => partitionOfAccount(id, readConfig({}).lendingPartitions);
    const ids = Array.from({ length: 40 }, (_, index) => `grown-${index}`);
    const near = ids.find((id) => partitionOf(id) === partitionOf('grown')) ?? expect.fail('no id');
    const far = ids.find((id) => partitionOf(id) !== partitionOf('grown')) ?? expect.fail('no id');
    const refine = (id: string) =>
      post('/loans/grown:refinance', { loanAccount: { ...loanAccount, id }, topUpAmount: 500 });
    const elsewhere = await refine(far);
    expectStatus(elsewhere, 400);
    expect(elsewhere.text).to.contain('loanAccount.id').and.to.contain('partition');
    const { principalBalance, totalBalance } = (await get('/loans/grown/balances')) as Record<string, number>;
    expect(principalBalance).to.equal(1000);
    const answer = await refine(near);
    expectStatus(answer, 200);
    expect(answer.body).to.include({ id: near, accountState: 'ACTIVE' });
    expect(answer.body['loanAmount']).to.be.at.least((totalBalance ?? 1000) + 500);
    expect(await stateOf('grown')).to.deep.equal(['CLOSED', 'REFINANCED']);
    expectStatus(await post('/loans/grown:undoRefinance'), 204);
    expect(await stateOf('grown')).to.deep.equal(['ACTIVE']);
  });

  it('locks a loan with one transaction for each operation, and unlocks it', async () => {
    await openLoan('locked');
    const typesIn = ({ body }: HttpResponse) =>
      (body['loanTransactions'] as { type: string }[]).map(({ type }) => type);
    const locked = await post('/loans/locked/lock-transactions', { notes: 'Dispute' });
    expectStatus(locked, 201);
    expect(typesIn(locked)).to.deep.equal(['INTEREST_LOCKED', 'FEE_LOCKED', 'PENALTY_LOCKED']);
    expect(await stateOf('locked')).to.deep.equal(['ACTIVE', 'LOCKED']);
    expectStatus(await post('/loans/locked/penalty-transactions', { amount: 5 }), 400);
    expectStatus(await post('/loans/locked/repayment-transactions', { amount: 5 }), 201);
    expect(typesIn(await post('/loans/locked/unlock-transactions'))).to.have.length(3);
    expect(await stateOf('locked')).to.deep.equal(['ACTIVE']);
  });

  it('closes a loan by hand once nothing is owed, and opens it again', async () => {
    await openLoan('closed');
    expectStatus(await post('/loans/closed:changeState', { action: 'CLOSE' }), 400);
    expectStatus(await post('/loans/closed:payOff'), 204);
    expectStatus(await post('/loans/closed:changeState', { action: 'UNDO_CLOSE' }), 200);
    expect(await stateOf('closed')).to.deep.equal(['ACTIVE']);
    expectStatus(await post('/loans/closed:changeState', { action: 'CLOSE' }), 200);
    expect(await stateOf('closed')).to.deep.equal(['CLOSED', 'REPAID']);
  });
});
