import { expect } from 'chai';
import { describe, it } from 'mocha';
import { partitionOfAccount } from '../../../src/lending-format/lending-topics.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { lendingServiceForSuite, partitionCount } from './lending-service.ts';

const reasonOf = ({ status, body }: HttpResponse): unknown => [status, (body as { errors?: unknown }).errors];
const taken = [400, [{ errorCode: 1072, errorReason: 'EXTERNAL_ID_ALREADY_EXISTS', errorSource: 'externalId' }]];

/** Two loans of one partition, and one of another. */
function idsByPartition(): readonly [string, string, string] {
  const ids = Array.from({ length: 20 }, (_, number) => `paid-${number}`);
  const [first = '', second = ''] = ids.filter((id) => partitionOfAccount(id, partitionCount) === 0);
  return [first, second, ids.find((id) => partitionOfAccount(id, partitionCount) === 1) ?? ''];
}

describe('the externalIds of transactions', () => {
  const suite = lendingServiceForSuite();
  const [first, second, elsewhere] = idsByPartition();
  const repay = (id: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    suite.service.post(`/loans/${id}/repayment-transactions`, { amount: 1, valueDate: '2011-02-01', ...body }, headers);

  it('belong to one transaction alone, whatever loan it is of, and also after a restart', async () => {
    for (const id of [first, second, elsewhere]) await suite.openActive(id);
    expect((await repay(first, { externalId: 'bank-1' })).status).to.equal(201);
    const refused = (): Promise<unknown[]> =>
      Promise.all([first, second, elsewhere].map(async (id) => reasonOf(await repay(id, { externalId: 'bank-1' }))));
    expect(await refused()).to.deep.equal([taken, taken, taken]);
    await suite.restart();
    expect(await refused()).to.deep.equal([taken, taken, taken]);
  });

  it('do not refuse the same request when it is repeated', async () => {
    const key = { 'Idempotency-Key': 'the same request again' };
    const paid = await repay(second, { externalId: 'bank-2' }, key);
    expect(paid.status, paid.text).to.equal(201);
    const again = await repay(second, { externalId: 'bank-2' }, key);
    expect([again.status, again.text]).to.deep.equal([201, paid.text]);
  });

  it('find their transactions, and are free when those are adjusted', async () => {
    const search = async (operator: string, value: string): Promise<unknown[]> => {
      const found = await suite.service.post('/loans/transactions:search', {
        filterCriteria: [{ field: 'externalId', operator, value }],
        sortingCriteria: { field: 'externalId', order: 'ASC' },
      });
      expect(found.status, found.text).to.equal(200);
      return (JSON.parse(found.text) as { id: string }[]).map(({ id }) => id);
    };
    expect(await search('EQUALS_CASE_SENSITIVE', 'bank-1')).to.deep.equal([`${first}-2`]);
    expect(await search('EQUALS_CASE_SENSITIVE', 'BANK-1')).to.deep.equal([]);
    expect(await search('EQUALS', 'BANK-1')).to.deep.equal([`${first}-2`]);
    expect(await search('STARTS_WITH', 'bank-')).to.deep.equal([`${first}-2`, `${second}-2`]);
    await suite.service.post(`/loans/transactions/${first}-2:adjust`, { notes: 'wrong loan' });
    expect((await repay(elsewhere, { externalId: 'bank-1' })).status).to.equal(201);
    expect(await search('EQUALS', 'bank-1')).to.have.members([`${first}-2`, `${elsewhere}-2`]);
    expect(reasonOf(await repay(first, { externalId: 'bank-1' }))).to.deep.equal(taken);
  });
});
