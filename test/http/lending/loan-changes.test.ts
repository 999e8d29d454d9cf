import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type HttpResponse, call } from '../../support/http/client.ts';
import { lendingServiceForSuite } from './lending-service.ts';

describe('changing loans over HTTP', () => {
  const running = lendingServiceForSuite();
  const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${running.service.url}${path}`, method, body);
  const account = async (id: string): Promise<Record<string, unknown>> =>
    (await running.service.get(`/loans/${id}?detailsLevel=FULL`)).body;
  const open = async (body: object): Promise<HttpResponse> =>
    await running.service.post('/loans', { productTypeKey: 'annuity', loanAmount: 1000, ...body });

  it('patches custom fields of an active loan, and refuses its amount', async () => {
    await running.openActive('patched');
    const patch = (operations: unknown): Promise<HttpResponse> => send('PATCH', '/loans/patched', operations);
    expect((await patch([{ op: 'ADD', path: '/_risk/score', value: 7 }])).status).to.equal(204);
    expect((await account('patched'))['_risk']).to.deep.equal({ score: '7' });
    expect((await running.service.get('/loans/patched')).body).not.to.have.property('_risk');
    expect(
      (await patch([{ op: 'add', path: '_PaymentArrangement', value: { LinkedLoanAccount: 'VZFT418' } }])).status,
    ).to.equal(204);
    const refused = await patch([{ op: 'REPLACE', path: '/loanAmount', value: 2000 }]);
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('LOAN_ACCOUNT_FIELD_NOT_EDITABLE').and.contain('"loanAmount"');
    expect(
      (await patch([{ op: 'ADD', path: '/_assets', value: [{ asset_age: '1' }, { asset_age: '2' }] }])).status,
    ).to.equal(204);
    const index = await patch([{ op: 'ADD', path: '/_assets/2/asset_age', value: '5' }]);
    expect(index.status).to.equal(400);
    expect(index.body['errors']).to.deep.include({
      errorCode: 1071,
      errorReason: 'INVALID_CUSTOM_FIELD_GROUP_INDEX',
      errorSource: '/_assets/2/asset_age',
    });
  });

  it('takes an account back as it gave it, before and after approval, and changes terms before', async () => {
    const opened = await open({ id: 'put', accountHolderKey: 'c', accountHolderType: 'CLIENT', _set: { a: 'x' } });
    expect(opened.status, opened.text).to.equal(201);
    expect(opened.body['_set']).to.deep.equal({ a: 'x' });
    for (const action of [undefined, 'APPROVE']) {
      if (action !== undefined) await running.service.post('/loans/put:changeState', { action });
      const before = await account('put');
      const answer = await send('PUT', '/loans/put', before);
      expect(answer.status, answer.text).to.equal(200);
      const dates = ['lastModifiedDate', 'lastAccountAppraisalDate'];
      const without = (body: Record<string, unknown>): object =>
        Object.fromEntries(Object.entries(body).filter(([name]) => !dates.includes(name)));
      expect(without(await account('put'))).to.deep.equal(without(before));
      const bigger = await send('PUT', '/loans/put', { ...before, loanAmount: 1000.01 });
      expect(bigger.status, bigger.text).to.equal(action === undefined ? 200 : 400);
      if (action === undefined) await send('PUT', '/loans/put', before);
    }
  });

  it('deletes a loan before its approval, whose id is free again, and none afterwards', async () => {
    await open({ id: 'gone' });
    expect((await send('DELETE', '/loans/gone')).status).to.equal(204);
    expect((await running.service.get('/loans/gone')).status).to.equal(404);
    expect((await send('DELETE', '/loans/gone')).status).to.equal(404);
    const again = await open({ id: 'gone', loanAmount: 2000 });
    expect(again.status, again.text).to.equal(201);
    expect((await account('gone'))['loanAmount']).to.equal(2000);
    const refused = await send('DELETE', '/loans/patched');
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('INVALID_ACCOUNT_STATE');
  });

  it('tells a consumer of each change', async () => {
    const { text } = await running.service.get('/loans/patched/events');
    expect(text).to.contain('"event_type":"loan_account_changed"').and.contain('"_risk":{"score":"7"}');
  });
});
