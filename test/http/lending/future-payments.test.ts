import { expect } from 'chai';
import { describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { systemClock } from '../../../src/clock.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { overriding } from '../../support/stepping-log.ts';
import { lendingServiceForSuite } from './lending-service.ts';

type Json = Record<string, unknown>;

const reasonOf = ({ status, body }: HttpResponse): unknown => {
  const [error] = (body as { errors?: Json[] }).errors ?? [];
  return [status, error?.['errorReason'], error?.['errorSource']];
};

describe('repayments dated ahead over HTTP', () => {
  const suite = lendingServiceForSuite();

  /** Runs the service on this day from now on. */
  const startOn = (day: string): Promise<void> =>
    suite.restart(true, { clock: overriding(systemClock, { now: () => Date.parse(`${day}T12:00:00Z`) }) });
  const close = async (businessDate: string): Promise<void> => {
    const { status, text } = await suite.service.post('/organization:endOfDay', { businessDate });
    expect(status, text).to.equal(200);
  };
  const repay = (id: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    suite.service.post(`/loans/${id}/repayment-transactions`, body, headers);
  const open = async (id: string, futurePaymentsAcceptance: string): Promise<void> => {
    const created = await suite.service.post('/loanproducts', {
      ...annuityProduct(`product-of-${id}`),
      paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance } },
    });
    expect(created.status, created.text).to.equal(201);
    await suite.service.post('/loans', { id, productTypeKey: `product-of-${id}`, loanAmount: 1000 });
    await suite.service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
    const disbursed = await suite.service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' });
    expect(disbursed.status, disbursed.text).to.equal(201);
  };
  const accountOf = async (id: string): Promise<Json> => (await suite.service.get(`/loans/${id}`)).body;
  const transactionOf = async (id: string): Promise<Json> =>
    (await suite.service.get(`/loans/transactions/${id}?detailsLevel=FULL`)).body;

  it('are refused where the product does not accept them', async () => {
    await startOn('2011-02-01');
    await open('never', 'NO_FUTURE_PAYMENTS');
    const refused = await repay('never', { amount: 10, valueDate: '2011-02-02' });
    expect(reasonOf(refused)).to.deep.equal([400, 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR', 'valueDate']);
  });

  it('wait, are shown, and are posted by the end of their day under the same key', async () => {
    await open('ahead', 'ACCEPT_FUTURE_PAYMENTS');
    const key = { 'Idempotency-Key': 'the payment of February' };
    const body = { amount: 315.47, valueDate: '2011-02-23', notes: 'salary', externalId: 'february' };
    const sent = await repay('ahead', body, key);
    expect(sent.status, sent.text).to.equal(201);
    expect(sent.body).to.include({ id: 'ahead-2', amount: 315.47, type: 'REPAYMENT', notes: 'salary' });
    expect(sent.body['valueDate']).to.equal('2011-02-23T00:00:00Z');
    expect(sent.body['affectedAmounts']).to.include({ principalAmount: 0, interestAmount: 0 });
    const again = await repay('ahead', body, key);
    expect([again.status, again.text]).to.deep.equal([201, sent.text]);
    const { encodedKey } = sent.body;
    const waiting = [{ encodedKey, amount: 315.47, valueDate: '2011-02-23T00:00:00Z' }];
    expect((await accountOf('ahead'))['futurePayments']).to.deep.equal(waiting);
    expect(await transactionOf('ahead-2')).to.deep.equal(sent.body);
    const { body: balances } = await suite.service.get('/loans/ahead/balances');
    expect(balances['principalBalance']).to.equal(1000);

    const listed = await suite.service.get('/loans/ahead/transactions?detailsLevel=FULL');
    expect((JSON.parse(listed.text) as Json[]).at(-1)).to.deep.equal(sent.body);
    const forged = await repay('ahead', { ...body, externalId: 'other', futurePaymentKey: encodedKey });
    expect(reasonOf(forged)).to.deep.equal([400, 'INVALID_PARAMETERS', 'futurePaymentKey']);

    // The account as it is shown is a request that changes nothing.
    const { body: shown } = await suite.service.get('/loans/ahead?detailsLevel=FULL');
    const put = await suite.service.put('/loans/ahead', shown);
    expect(put.status, put.text).to.be.lessThan(300);
    const { lastModifiedDate: _, lastAccountAppraisalDate: __, ...same } = await accountOf('ahead');
    expect(shown).to.deep.include(same);

    await startOn('2011-02-24');
    expect((await accountOf('ahead'))['futurePayments']).to.deep.equal(waiting);
    await close('2011-02-22');
    expect((await accountOf('ahead'))['futurePayments']).to.deep.equal(waiting);
    await close('2011-02-23');
    const account = await accountOf('ahead');
    expect(account['futurePayments']).to.equal(undefined);
    expect(account).to.include({ daysLate: 0, accountState: 'ACTIVE' });
    const posted = await transactionOf('ahead-2');
    expect(posted).to.deep.include({ encodedKey, externalId: 'february', creationDate: sent.body['creationDate'] });
    expect(posted['affectedAmounts']).to.deep.include({ principalAmount: 215.47, interestAmount: 100 });
    expect(posted['userKey']).to.equal(sent.body['userKey']);
    const later = await repay('ahead', body, key);
    expect([later.status, later.body['id']]).to.deep.equal([201, 'ahead-2']);
  });

  it('are taken back before their day, by key, and are free to be sent again', async () => {
    await open('taken-back', 'ACCEPT_OVERPAYMENTS');
    const sent = await repay('taken-back', { amount: 10, valueDate: '2011-03-01', externalId: 'march' });
    expect(sent.status, sent.text).to.equal(201);
    const taken = await repay('taken-back', { amount: 10, valueDate: '2011-03-02', externalId: 'march' });
    expect(reasonOf(taken)).to.deep.equal([400, 'EXTERNAL_ID_ALREADY_EXISTS', 'externalId']);
    const path = `/loans/transactions/${String(sent.body['encodedKey'])}:adjust`;
    const back = await suite.service.post(path, { notes: 'changed my mind' });
    expect(back.status, back.text).to.equal(200);
    expect(back.body).to.include({ type: 'REPAYMENT_ADJUSTMENT', amount: -10, notes: 'changed my mind' });
    expect((await accountOf('taken-back'))['futurePayments']).to.equal(undefined);
    expect(await transactionOf('taken-back-2')).to.include({ adjustmentTransactionKey: back.body['encodedKey'] });
    expect(reasonOf(await suite.service.post(path, {}))).to.deep.equal([
      400,
      'TRANSACTION_ALREADY_ADJUSTED',
      'transactionId',
    ]);
    expect((await repay('taken-back', { amount: 10, valueDate: '2011-03-02', externalId: 'march' })).status).to.equal(
      201,
    );
  });

  it('say why they were not posted', async () => {
    await open('too-much', 'ACCEPT_OVERPAYMENTS');
    const sent = await repay('too-much', { amount: 5000, valueDate: '2011-02-25' });
    expect(sent.status, sent.text).to.equal(201);
    await startOn('2011-02-26');
    await close('2011-02-25');
    const { adjustmentTransactionKey } = await transactionOf('too-much-2');
    const adjustment = await transactionOf(String(adjustmentTransactionKey));
    expect(adjustment).to.include({ type: 'REPAYMENT_ADJUSTMENT', notes: 'EXCESS_REPAYMENT_ERROR' });
    expect(adjustment['userKey']).to.equal(undefined);
    expect((await accountOf('too-much'))['futurePayments']).to.equal(undefined);
  });
});
