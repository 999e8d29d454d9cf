import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { lendingServiceForSuite } from './lending-service.ts';

type Json = Record<string, unknown>;

const itemsOf = (response: HttpResponse): Json[] => {
  expect(response.status, response.text).to.equal(200);
  return JSON.parse(response.text) as Json[];
};
const idsOf = (response: HttpResponse): unknown[] => itemsOf(response).map(({ id }) => id);

describe('searching', function () {
  this.timeout(60_000);
  const suite = lendingServiceForSuite();
  const post = (path: string, body?: unknown): Promise<HttpResponse> => suite.service.post(path, body);
  const get = (path: string): Promise<HttpResponse> => suite.service.get(path);
  const criterion = (field: string, operator: string, rest: Json = {}): Json => ({
    filterCriteria: [{ field, operator, ...rest }],
  });
  const byId = { sortingCriteria: { field: 'id', order: 'ASC' } };

  before(async () => {
    for (const id of ['L-1', 'L-2']) await suite.openActive(id);
    const holder = { accountHolderKey: "o'neil", accountHolderType: 'CLIENT', loanName: 'Boot Ä' };
    await post('/loans', { id: 'L-3', productTypeKey: 'annuity', loanAmount: 300, ...holder });
    const repaid = await post('/loans/L-1/repayment-transactions', { amount: '315.47', valueDate: '2011-02-23' });
    expect(repaid.status, repaid.text).to.equal(201);
    const second = await post('/loans/L-2/repayment-transactions', { amount: 100, valueDate: '2011-02-23' });
    await post(`/loans/transactions/${String(second.body['id'])}:adjust`, { notes: 'twice' });
  });

  it('finds the loans of a holder in some states, as a payment connector asks', async () => {
    const body = {
      filterCriteria: [
        { field: 'accountHolderId', operator: 'EQUALS', value: "o'neil" },
        { field: 'accountState', operator: 'IN', values: ['PENDING_APPROVAL', 'ACTIVE_IN_ARREARS'] },
      ],
    };
    expect(idsOf(await post('/loans:search?detailsLevel=FULL', body))).to.deep.equal(['L-3']);
    expect(
      idsOf(
        await post('/loans:search', {
          filterCriteria: [body.filterCriteria[0], { field: 'accountState', operator: 'in', values: ['ACTIVE'] }],
        }),
      ),
    ).to.deep.equal([]);
  });

  it('finds what was modified since, sorted by id, as an extractor asks', async () => {
    const query = 'offset=0&limit=220&detailsLevel=FULL&paginationDetails=OFF';
    const found = await post(`/loans:search?${query}`, {
      sortingCriteria: { field: 'id', order: 'ASC' },
      filterCriteria: [
        { field: 'lastModifiedDate', operator: 'AFTER', value: '2020-01-01T00:00:00.000000Z' },
        { field: 'lastModifiedDate', operator: 'BEFORE', value: '2099-01-01T00:00:00.000000Z' },
      ],
    });
    expect(idsOf(found)).to.deep.equal(['L-1', 'L-2', 'L-3']);
    expect(found.headers.get('Items-Total')).to.equal(null);
    const appraised = criterion('lastAccountAppraisalDate', 'AFTER', { value: '2020-01-01T00:00:00Z' });
    expect(idsOf(await post('/loans:search', { ...appraised, ...byId }))).to.deep.equal(['L-1', 'L-2', 'L-3']);
  });

  it('finds repayments that were not adjusted, the latest first', async () => {
    const found = await post('/loans/transactions:search?limit=10', {
      filterCriteria: [
        { field: 'type', operator: 'IN', values: ['REPAYMENT'] },
        { field: 'adjustmentTransactionKey', operator: 'EMPTY' },
      ],
      sortingCriteria: { field: 'creationDate', order: 'DESC' },
    });
    expect(idsOf(found)).to.deep.equal(['L-1-2']);
  });

  it('returns each account exactly as it is returned alone', async () => {
    for (const id of ['L-1', 'L-3']) {
      const found = await post('/loans:search', criterion('id', 'EQUALS', { value: id }));
      expect(found.text).to.equal(`[${(await get(`/loans/${id}`)).text}]`);
    }
  });

  it('finds by what an account shows, balances and schedule included', async () => {
    const rows: [Json, string[]][] = [
      [criterion('balances.principalPaid', 'MORE_THAN', { value: '0' }), ['L-1']],
      [criterion('balances.principalBalance', 'BETWEEN', { value: 1, secondValue: 999.99 }), ['L-1']],
      [criterion('totalBalance', 'LESS_THAN', { value: 10_000 }), ['L-1', 'L-2', 'L-3']],
      [criterion('loanAmount', 'BETWEEN', { value: 300, secondValue: '1000.00' }), ['L-1', 'L-2', 'L-3']],
      [criterion('loanAmount', 'DIFFERENT_THAN', { value: '1e3' }), ['L-3']],
      [criterion('firstRepaymentDate', 'ON', { value: '2011-02-23' }), ['L-1', 'L-2']],
      [criterion('disbursementDetails.disbursementDate', 'ON', { value: '2011-01-23T00:00:00+01:00' }), ['L-1', 'L-2']],
      [criterion('lastPaymentDate', 'NOT_EMPTY'), ['L-1']],
      [criterion('lastPaymentAmount', 'EQUALS', { value: 315.47 }), ['L-1']],
      [criterion('lastPaymentAmount', 'EMPTY'), ['L-2', 'L-3']],
      [criterion('taxPaid', 'EQUALS', { value: 0 }), ['L-1', 'L-2', 'L-3']],
      [criterion('taxDue', 'MORE_THAN', { value: 0 }), []],
      [criterion('loanName', 'EQUALS', { value: 'BOOT ä' }), ['L-3']],
      [criterion('loanName', 'EQUALS_CASE_SENSITIVE', { value: 'BOOT ä' }), []],
      [criterion('loanName', 'STARTS_WITH', { value: 'boot' }), ['L-3']],
      [criterion('id', 'STARTS_WITH', { value: 'l-' }), ['L-1', 'L-2', 'L-3']],
      [criterion('id', 'STARTS_WITH_CASE_SENSITIVE', { value: 'l-' }), []],
      [criterion('creationDate', 'TODAY'), ['L-1', 'L-2', 'L-3']],
      [criterion('creationDate', 'LAST_DAYS', { value: 1 }), ['L-1', 'L-2', 'L-3']],
      [criterion('recipient', 'EMPTY', { value: '' }), ['L-1', 'L-2', 'L-3']],
      [criterion('accountHolderKey', 'EMPTY'), ['L-1', 'L-2']],
    ];
    for (const [body, expected] of rows) {
      expect(idsOf(await post('/loans:search', { ...body, ...byId })), JSON.stringify(body)).to.deep.equal(expected);
    }
  });

  it('sorts by what an account shows, and by id where that is equal', async () => {
    const sorted = async (field: string, order: string): Promise<unknown[]> =>
      idsOf(await post('/loans:search', { sortingCriteria: { field, order } }));
    expect(await sorted('balances.principalPaid', 'DESC')).to.deep.equal(['L-1', 'L-2', 'L-3']);
    expect(await sorted('balances.principalPaid', 'ASC')).to.deep.equal(['L-2', 'L-3', 'L-1']);
    expect(await sorted('loanAmount', 'ASC')).to.deep.equal(['L-3', 'L-1', 'L-2']);
    expect(await sorted('loanAmount', 'DESC')).to.deep.equal(['L-1', 'L-2', 'L-3']);
  });

  it('refuses what it cannot read, each with its path', async () => {
    const refusals: [unknown, ...string[]][] = [
      [criterion('colour', 'EQUALS', { value: 'red' }), 'filterCriteria[0].field'],
      [criterion("id' OR '1'='1", 'EQUALS', { value: 'red' }), 'filterCriteria[0].field'],
      [criterion('constructor', 'EQUALS', { value: 'red' }), 'filterCriteria[0].field'],
      [criterion('id', 'LIKE', { value: '%' }), 'filterCriteria[0].operator'],
      [criterion('loanAmount', 'STARTS_WITH', { value: '1' }), 'filterCriteria[0].operator'],
      [criterion('loanAmount', 'BETWEEN', { value: 1 }), 'filterCriteria[0].secondValue'],
      [criterion('loanAmount', 'EQUALS', { value: '1,5' }), 'filterCriteria[0].value'],
      [criterion('id', 'EQUALS'), 'filterCriteria[0].value'],
      [criterion('id', 'EQUALS', { value: 'a', secondValue: 'b' }), 'filterCriteria[0].secondValue'],
      [criterion('accountState', 'IN', { values: ['ACTIVE', 'OPEN'] }), 'filterCriteria[0].values[1]'],
      [criterion('creationDate', 'AFTER', { value: '2026-02-30' }), 'filterCriteria[0].value'],
      [criterion('creationDate', 'AFTER', { value: '20.11.2026' }), 'filterCriteria[0].value'],
      [
        { filterCriteria: [{ field: 'a', operator: 'b', valeu: 1 }] },
        'filterCriteria[0].valeu',
        'filterCriteria[0].field',
        'filterCriteria[0].operator',
      ],
      [{ sortingCriteria: { field: 'id', order: 'UP' } }, 'sortingCriteria.order'],
      [{ filterCriteria: 'id' }, 'filterCriteria'],
      [{ filters: [] }, 'filters'],
    ];
    for (const [body, ...paths] of refusals) {
      const refused = await post('/loans:search', body);
      expect(refused.status, JSON.stringify(body)).to.equal(400);
      const errors = refused.body['errors'] as Json[];
      expect(errors.map(({ errorReason, errorSource }) => [errorReason, errorSource])).to.deep.equal(
        paths.map((path) => ['INVALID_PARAMETERS', path]),
      );
    }
    const named: [Json, number, string, string][] = [
      [
        { sortingCriteria: { field: 'colour', order: 'ASC' } },
        1121,
        'INVALID_SORTING_SELECTION',
        'sortingCriteria.field',
      ],
      [
        { filterCriteria: Array.from({ length: 51 }, () => ({ field: 'id' })) },
        1120,
        'MAX_NUMBER_OF_FILTERS_REACHED',
        'filterCriteria',
      ],
    ];
    for (const [body, errorCode, errorReason, errorSource] of named) {
      const refused = await post('/loans:search', body);
      expect([refused.status, refused.body['errors']]).to.deep.equal([400, [{ errorCode, errorReason, errorSource }]]);
    }
  });

  it('treats what a client sends as values, never as SQL', async () => {
    const [quote, comment] = ["' OR 1=1 --", 'x"; DROP TABLE loans; --'];
    for (const value of [quote, comment, 'a\u0000b', '\\']) {
      for (const operator of ['EQUALS', 'STARTS_WITH']) {
        expect(idsOf(await post('/loans:search', criterion('loanName', operator, { value })))).to.deep.equal([]);
      }
    }
    expect(idsOf(await post('/loans:search', criterion('_set.x', 'EQUALS', { value: quote })))).to.deep.equal([]);
    expect((await post('/loans:search', criterion(`_set.x') --`, 'EMPTY'))).status).to.equal(400);
    const cursor = Buffer.from(JSON.stringify(['id', false, null, quote])).toString('base64url');
    expect(idsOf(await post(`/loans:search?cursor=${cursor}`, byId))).to.deep.equal(['L-1', 'L-2', 'L-3']);
    expect(idsOf(await post('/loans:search', byId))).to.have.length(3);
  });

  it('pages by offset up to its limits, with details on request', async () => {
    const page = (query: string): Promise<HttpResponse> => post(`/loans:search?${query}`, byId);
    expect(idsOf(await page('limit=1&offset=1'))).to.deep.equal(['L-2']);
    expect(idsOf(await page('limit=1000'))).to.deep.equal(['L-1', 'L-2', 'L-3']);
    expect(idsOf(await page('offset=3'))).to.deep.equal([]);
    expect((await page('limit=0')).body['errors']).to.deep.include({
      errorCode: 13,
      errorReason: 'INVALID_PAGINATION_LIMIT_VALUE',
      errorSource: 'limit',
    });
    expect((await page('limit=1001')).status).to.equal(400);
    expect((await page('colour=red')).status).to.equal(400);
    const detailed = await post(
      '/loans:search?limit=1&offset=1&paginationDetails=ON',
      criterion('totalPaid', 'EQUALS', { value: 0 }),
    );
    expect(idsOf(detailed)).to.have.length(1);
    const headers = ['Items-Limit', 'Items-Offset', 'Items-Total'].map((name) => detailed.headers.get(name));
    expect(headers).to.deep.equal(['1', '1', '2']);
  });

  it('shows each account once by cursor, while accounts are changed and opened', async () => {
    for (const sorting of [byId, {}, { sortingCriteria: { field: 'balances.principalPaid', order: 'DESC' } }]) {
      const seen: unknown[] = [];
      let cursor: string | null = '_';
      for (let round = 0; cursor !== ''; round += 1) {
        const page: HttpResponse = await post(`/loans:search?limit=1&cursor=${cursor}`, {
          ...criterion('id', 'STARTS_WITH', { value: 'L-' }),
          ...sorting,
        });
        seen.push(...idsOf(page));
        cursor = page.headers.get('Items-Next-Cursor');
        await post('/loans/L-3:changeState', { action: round === 0 ? 'APPROVE' : 'UNDO_APPROVE' });
        await post('/loans', { productTypeKey: 'annuity', loanAmount: 1 });
      }
      expect(seen, JSON.stringify(sorting)).to.have.members(['L-1', 'L-2', 'L-3']);
    }
    const first = await post('/loans:search?limit=1&cursor=EMPTY', byId);
    const next = String(first.headers.get('Items-Next-Cursor'));
    const refused = [`cursor=${next}x%00`, 'cursor=', `cursor=${next}&offset=1`].map((query) =>
      post(`/loans:search?${query}`, byId),
    );
    expect((await Promise.all(refused)).map(({ status }) => status)).to.deep.equal([400, 400, 400]);
    const elsewhere = [
      post(`/loans:search?cursor=${next}`, {}),
      post(`/loans/transactions:search?cursor=${next}`, byId),
    ];
    expect((await Promise.all(elsewhere)).map(({ status }) => status)).to.deep.equal([400, 400]);
  });

  it('finds transactions by their own fields and by those of their account', async () => {
    const found = async (body: Json): Promise<unknown[]> =>
      idsOf(await post('/loans/transactions:search', { ...body, ...byId }));
    const { encodedKey } = (await get('/loans/L-1')).body;
    expect(await found(criterion('parentAccountKey', 'EQUALS', { value: encodedKey }))).to.deep.equal([
      'L-1-1',
      'L-1-2',
    ]);
    expect(await found(criterion('parentAccountID', 'EQUALS', { value: 'l-2' }))).to.deep.equal([
      'L-2-1',
      'L-2-2',
      'L-2-3',
    ]);
    expect(await found(criterion('PARENT_ACCOUNT_HOLDER_KEY', 'NOT_EMPTY'))).to.deep.equal([]);
    expect(await found(criterion('parentAccountHolderKey', 'EMPTY'))).to.have.length(5);
    expect(await found(criterion('productID', 'EQUALS', { value: 'annuity' }))).to.have.length(5);
    expect(await found(criterion('amount', 'LESS_THAN', { value: 0 }))).to.deep.equal(['L-2-3']);
    expect(await found(criterion('wasAdjusted', 'EQUALS', { value: true }))).to.deep.equal(['L-2-2']);
    expect(await found(criterion('originalTransactionID', 'EQUALS', { value: 'L-2-2' }))).to.deep.equal(['L-2-3']);
    expect(await found(criterion('affectedAmounts.interestAmount', 'EQUALS', { value: '100.00' }))).to.deep.equal([
      'L-1-2',
      'L-2-2',
    ]);
    expect(
      await found(criterion('valueDate', 'BETWEEN', { value: '2011-01-23', secondValue: '2011-01-31' })),
    ).to.deep.equal(['L-1-1', 'L-2-1']);
    expect(await found(criterion('id', 'EQUALS', { value: 'L-1-2' }))).to.deep.equal(['L-1-2']);
  });

  it('returns a transaction by id and by encodedKey as the list and the search return it', async () => {
    const listed = await get('/loans/L-1/transactions');
    const alone = await get('/loans/transactions/L-1-2');
    expect(alone.status).to.equal(200);
    expect(listed.text).to.contain(alone.text);
    expect((await get(`/loans/transactions/${String(alone.body['encodedKey'])}`)).text).to.equal(alone.text);
    const searched = await post('/loans/transactions:search', criterion('id', 'EQUALS', { value: 'L-1-2' }));
    expect(searched.text).to.equal(`[${alone.text}]`);
    expect((await get('/loans/transactions/L-1-9')).status).to.equal(404);
    const pages: unknown[] = [];
    for (let cursor: string | null = '_'; cursor !== '';) {
      const page: HttpResponse = await post(`/loans/transactions:search?limit=2&cursor=${cursor}`);
      pages.push(...idsOf(page));
      cursor = page.headers.get('Items-Next-Cursor');
    }
    expect(pages).to.have.members(['L-1-1', 'L-1-2', 'L-2-1', 'L-2-2', 'L-2-3']);
  });

  it('finds the installments of all loans by their due dates, as their schedules have them', async () => {
    const schedule = JSON.parse((await get('/loans/L-1/schedule')).text) as { installments: Json[] };
    const { encodedKey } = (await get('/loans/L-1')).body;
    const march = itemsOf(await get('/installments?dueFrom=2011-03-01&dueTo=2011-03-31'));
    expect(march).to.have.length(2);
    expect(march[0]).to.deep.equal(schedule.installments[1]);
    expect(march[0]?.['parentAccountKey']).to.equal(encodedKey);
    const numbersOf = async (query: string): Promise<unknown[]> =>
      itemsOf(await get(`/installments?${query}`)).map(({ number }) => number);
    expect(await numbersOf('installmentState=PAID')).to.deep.equal(['1']);
    expect(await numbersOf('dueFrom=2011-03-23T00:00:00%2B01:00&limit=4&offset=1')).to.deep.equal(['3', '4', '2', '3']);
    expect(await numbersOf('dueTo=2011-02-22')).to.deep.equal([]);
    expect(await numbersOf('accountState=CLOSED')).to.deep.equal([]);
    expect(await numbersOf('productTypeKey=annuity&limit=1&offset=7')).to.deep.equal(['4']);
    expect(await numbersOf('productTypeKey=other')).to.deep.equal([]);
    const detailed = await get('/installments?paginationDetails=ON&limit=3');
    expect(detailed.headers.get('Items-Total')).to.equal('8');
    for (const query of ['dueFrom=soon', 'dueTo=2011-02-30', 'installmentState=OPEN', 'colour=red', 'limit=0']) {
      expect((await get(`/installments?${query}`)).status, query).to.equal(400);
    }
  });

  it('finds by custom fields, and shows them with all details as the account alone does', async () => {
    const sets = { _risk: { score: '7' }, disbursementDetails: { _disb: { purpose: 'CAR' } } };
    const opened = await post('/loans', { id: 'S-1', productTypeKey: 'annuity', loanAmount: 1, ...sets });
    expect(opened.status, opened.text).to.equal(201);
    for (const [field, value] of [
      ['_risk.score', 7],
      ['_disb.purpose', 'car'],
    ] as const) {
      for (const detailsLevel of ['BASIC', 'FULL']) {
        const found = await post(`/loans:search?detailsLevel=${detailsLevel}`, criterion(field, 'EQUALS', { value }));
        expect(found.text).to.equal(`[${(await get(`/loans/S-1?detailsLevel=${detailsLevel}`)).text}]`);
        expect(found.text.includes('_risk')).to.equal(detailsLevel === 'FULL');
      }
    }
  });

  it('returns accounts of both types, at both levels of detail, exactly as they are returned alone', async () => {
    for (const type of ['FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN']) {
      const product = { ...annuityProduct(type), type };
      expect((await post('/loanproducts', product)).status).to.equal(201);
      const opened = { id: `T-${type}`, productTypeKey: type, loanAmount: 1000, _risk: { score: '7' } };
      expect((await post('/loans', opened)).status).to.equal(201);
      expect((await post(`/loans/${opened.id}:changeState`, { action: 'APPROVE' })).status).to.equal(200);
      const disbursed = await post(`/loans/${opened.id}/disbursement-transactions`, { valueDate: '2011-01-23' });
      expect(disbursed.status, disbursed.text).to.equal(201);
      const texts = new Set<string>();
      for (const query of ['', '?detailsLevel=BASIC', '?detailsLevel=FULL']) {
        const { text } = await get(`/loans/${opened.id}${query}`);
        const { encodedKey } = JSON.parse(text) as Json;
        for (const [field, value] of [
          ['id', opened.id],
          ['encodedKey', encodedKey],
        ] as const) {
          const found = await post(`/loans:search${query}`, criterion(field, 'EQUALS', { value }));
          expect(found.text, `${type}${query} by ${field}`).to.equal(`[${text}]`);
        }
        texts.add(text);
      }
      expect(texts.size).to.equal(2);
    }
  });
});
