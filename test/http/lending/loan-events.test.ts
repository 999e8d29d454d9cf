import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { eventually } from '../../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, partitionCount, startLendingService } from './lending-service.ts';

interface LoanEvents {
  readonly items: readonly {
    readonly sequence?: number;
    readonly loanAccountId: string;
    readonly metadata: { readonly event_type: string };
  }[];
  readonly complete: boolean;
}

describe('the events of a loan', () => {
  let folder = '';
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    await post('/loanproducts', annuityProduct('annuity'));
    for (const id of ['first', 'second']) {
      await post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      await post(`/loans/${id}:changeState`, { action: 'APPROVE' });
    }
    // Refused: more than the amount owed.
    expect((await service.post('/loans/first/repayment-transactions', { amount: 9_999 })).status).to.equal(400);
    await post('/loans/first/disbursement-transactions', { valueDate: '2011-01-23' });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function post(path: string, body: unknown): Promise<void> {
    const response = await service.post(path, body);
    expect(response.status, response.text).to.be.oneOf([200, 201]);
  }

  it('are listed in the order of the loan, over all event types, without those of other loans', async () => {
    const { items, complete } = (await service.get('/loans/first/events')).body as unknown as LoanEvents;
    const sequences = items.flatMap(({ sequence }) => (sequence === undefined ? [] : [sequence]));
    expect(sequences.length).to.be.greaterThan(4);
    expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
    expect(new Set(items.map(({ loanAccountId }) => loanAccountId))).to.deep.equal(new Set(['first']));
    expect(complete).to.equal(true);
  });

  it('show a refused command at its position', async () => {
    const { items } = (await service.get('/loans/first/events')).body as unknown as LoanEvents;
    const types = items.map(({ metadata }) => metadata.event_type);
    expect(types.indexOf('command_rejected')).to.be.greaterThan(types.indexOf('loan_state_changed'));
    expect(types.indexOf('command_rejected')).to.be.lessThan(types.indexOf('loan_transaction_posted'));
  });

  it('keep the digits of their amounts', async () => {
    expect((await service.get('/loans/first/events')).text).to.match(/"amount":1000\.00[,}]/);
  });

  it('are also found by the encodedKey', async () => {
    const key = String((await service.get('/loans/first')).body['encodedKey']);
    expect((await service.get(`/loans/${key}/events`)).text).to.equal((await service.get('/loans/first/events')).text);
  });

  it('have the place in a trace of the request that caused them, also where a later worker decided it', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { traceparent, 'X-Flow-Id': 'flow-of-a-trace' };
    const body = { id: 'traced', productTypeKey: 'annuity', loanAmount: 1000 };
    expect((await service.post('/loans', body, headers)).status).to.equal(201);
    await service.stopWorker();
    const path = '/loans/traced:changeState';
    const pending = await service.post(path, { action: 'APPROVE' }, { ...headers, Prefer: 'wait=0' });
    expect(pending.status).to.equal(202);
    await service.startWorker();
    await eventually(async () => (await service.get('/loans/traced')).body['accountState'] === 'APPROVED');
    const tooMuch = { amount: 9_999 };
    expect((await service.post('/loans/traced/repayment-transactions', tooMuch, headers)).status).to.equal(400);
    expect((await service.post('/loans/traced:changeState', { action: 'UNDO_APPROVE' })).status).to.equal(200);
    const { items } = (await service.get('/loans/traced/events')).body as unknown as LoanEvents;
    const untraced = items.slice(-1);
    for (const { metadata } of items.slice(0, -1)) {
      expect(metadata).to.deep.include({ span_ctx: { traceparent }, flow_id: 'flow-of-a-trace' });
    }
    expect(items.map(({ metadata }) => metadata.event_type)).to.include('command_rejected');
    expect(untraced.map(({ metadata }) => 'span_ctx' in metadata)).to.deep.equal([false]);
  });

  it('are not found for an unknown loan', async () => {
    const response = await service.get('/loans/missing/events');
    expect(response.status).to.equal(404);
    expect(response.body).to.have.property('errors');
    expect((await service.post('/loans/first/events', {})).status).to.equal(405);
  });
});

describe('the events of a loan that are far back in the log', () => {
  let folder = '';
  let service: LendingService | undefined;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    await service?.stop();
    await removeFolder(folder);
  });

  /** A loan whose first event is followed by many events of another loan in the same partition. */
  async function buried(scannedBytesMaximum?: number): Promise<LoanEvents> {
    service = await startLendingService(folder, true, scannedBytesMaximum === undefined ? {} : { scannedBytesMaximum });
    await service.post('/loanproducts', annuityProduct('annuity'));
    await service.post('/loans', { id: 'first', productTypeKey: 'annuity', loanAmount: 1000 });
    const records = Array.from({ length: 10_000 }, () => ({ key: 'other', value: Buffer.from('{"sequence":1}') }));
    const partition = hashPartition(['first'], partitionCount);
    await service.log.append([{ topic: 'loan_state_changed', partition, records }]);
    return (await service.get('/loans/first/events')).body as unknown as LoanEvents;
  }

  it('are read up to a limit, and the response reports that', async () => {
    expect(await buried(1_000)).to.deep.equal({ items: [], complete: false });
  });

  it('are found within the limit of the service', async () => {
    const { items, complete } = await buried();
    expect([items.map(({ sequence }) => sequence), complete]).to.deep.equal([[1], true]);
  });
});
