import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, startLendingService } from './lending-service.ts';

/** How many items a search of this service looks at one by one; of others 25,000. */
const examinedItemsMaximum = 4;

describe('a search that looks at items one by one', () => {
  let folder: string;
  let service: LendingService;

  const ok = (status: number, { status: found, text }: HttpResponse): void => {
    expect(found, text).to.equal(status);
  };
  /** A loan of the product, paid out, with one transaction and one page of installments. */
  const open = async (id: string, productTypeKey = 'annuity'): Promise<void> => {
    ok(201, await service.post('/loans', { id, productTypeKey, loanAmount: 1000 }));
    ok(200, await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' }));
    ok(201, await service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' }));
  };

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder, true, { examinedItemsMaximum });
    for (const id of ['annuity', 'other']) ok(201, await service.post('/loanproducts', annuityProduct(id)));
  });
  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const about = (field: string, operator: string, value: unknown): object => ({
    filterCriteria: [{ field, operator, value }],
  });
  const inProduct = { field: 'productTypeKey', operator: 'EQUALS' };
  /** Each looks at every loan, or transaction, that meets what the tables can check. */
  const searches: readonly (readonly [what: string, send: () => Promise<HttpResponse>])[] = [
    ['a criterion', () => service.post('/loans:search', about('totalDue', 'MORE_THAN', 99))],
    ['an order', () => service.post('/loans:search', { sortingCriteria: { field: 'totalDue', order: 'ASC' } })],
    ['a count', () => service.post('/loans:search?limit=1&paginationDetails=ON', about('totalDue', 'LESS_THAN', 99))],
    ['a filter of GET /loans', () => service.get('/loans?branchId=none')],
    ['transactions', () => service.post('/loans/transactions:search', about('amount', 'EQUALS', 1))],
    [
      'the order of transactions',
      () => service.post('/loans/transactions:search', { sortingCriteria: { field: 'amount' } }),
    ],
    ['installments', () => service.get('/installments?dueFrom=2011-02-01&dueTo=2011-02-28&installmentState=PAID')],
    ['a count of installments', () => service.get('/installments?limit=1&paginationDetails=ON')],
  ];

  it('looks at as many as its limit', async () => {
    for (let number = 1; number <= examinedItemsMaximum; number += 1) await open(`loan-${number}`);
    for (const [what, send] of searches) expect((await send()).status, what).to.equal(200);
  });

  it('is refused with one more, and not when a criterion leaves fewer', async () => {
    await open('one-more', 'other');
    for (const [what, send] of searches) {
      const refused = await send();
      expect(refused.status, what).to.equal(422);
      const [error, ...others] = refused.body['errors'] as Record<string, unknown>[];
      expect(others).to.deep.equal([]);
      expect(error, what).to.include({ errorCode: 4, errorReason: 'INVALID_PARAMETERS' });
      expect(error?.['errorSource'], what).to.match(
        /^The search would look at more than 4 (items one by one|accounts)\. /,
      );
    }
    const { body } = await service.get('/loanproducts/annuity');
    const fewer = {
      filterCriteria: [
        { ...inProduct, value: body['encodedKey'] },
        { field: 'totalDue', operator: 'LESS_THAN', value: 99 },
      ],
    };
    const found = await service.post('/loans:search', fewer);
    ok(200, found);
    expect(found.body).to.have.length(examinedItemsMaximum);
    expect((await service.get('/loans?branchId=none&productTypeKey=other')).body).to.deep.equal([]);
    expect((await service.get('/installments?productTypeKey=other')).body).to.have.length(4);
    // What the tables answer has no such limit.
    expect((await service.post('/loans:search', {})).body).to.have.length(examinedItemsMaximum + 1);
  });
});
