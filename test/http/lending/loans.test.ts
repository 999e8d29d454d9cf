import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpResponse } from '../../support/http/client.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, startLendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

interface Installment {
  readonly principal: { readonly amount: { readonly expected: number } };
}

/**
 * The service of a group of tests, on a separate folder; `restart` stops it and starts another one on the same data.
 */
function useService(): { readonly current: LendingService; readonly folder: string; restart(): Promise<void> } {
  let service: LendingService | undefined;
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
  });
  after(async () => {
    await service?.stop();
    await removeFolder(folder);
  });
  return {
    get current() {
      if (service === undefined) throw new Error('The service has not been started.');
      return service;
    },
    get folder() {
      return folder;
    },
    async restart() {
      await service?.stop();
      service = await startLendingService(folder);
    },
  };
}

async function openLoan(service: LendingService, id: string, facts: Json = {}): Promise<void> {
  const created = await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000, ...facts });
  expect(created.status, created.text).to.equal(201);
}

async function openActiveLoan(service: LendingService, id: string): Promise<void> {
  await openLoan(service, id);
  expect((await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' })).status).to.equal(200);
  const disbursed = await service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' });
  expect(disbursed.status, disbursed.text).to.equal(201);
}

async function createProduct(service: LendingService): Promise<void> {
  const created = await service.post('/loanproducts', annuityProduct('annuity'));
  expect(created.status, created.text).to.equal(201);
}

const listed = (response: HttpResponse): Json[] => JSON.parse(response.text) as Json[];
const idsOf = (response: HttpResponse): unknown[] => listed(response).map(({ id }) => id);

describe('the lending API', () => {
  describe('over the lifetime of the published annuity loan', () => {
    const service = useService();
    const post = (path: string, body: unknown) => service.current.post(path, body);
    const get = (path: string) => service.current.get(path);
    let repaymentKey = '';

    it('creates the product', async () => {
      const created = await post('/loanproducts', annuityProduct('annuity'));
      expect(created.status, created.text).to.equal(201);
      expect(created.body).to.include({ id: 'annuity', type: 'FIXED_TERM_LOAN' });
      const read = await get('/loanproducts/annuity');
      expect(read.text).to.equal(created.text);
      expect((await get(`/loanproducts/${String(created.body['encodedKey'])}`)).text).to.equal(created.text);
      expect(idsOf(await get('/loanproducts'))).to.deep.equal(['annuity']);
    });

    it('opens the account and returns it by id and by encodedKey alike', async () => {
      const created = await post('/loans', { id: 'dbei-1000.4', productTypeKey: 'annuity', loanAmount: 1000 });
      expect(created.status, created.text).to.equal(201);
      expect(created.body).to.include({ id: 'dbei-1000.4', accountState: 'PENDING_APPROVAL' });
      expect(created.text).to.match(/"loanAmount":1000\.00[,}]/);
      const byId = await get('/loans/dbei-1000.4?detailsLevel=FULL');
      const byKey = await get(`/loans/${String(created.body['encodedKey'])}`);
      expect(byId.text).to.equal(created.text);
      expect(byKey.text).to.equal(created.text);
    });

    it('approves it', async () => {
      const approved = await post('/loans/dbei-1000.4:changeState', { action: 'APPROVE' });
      expect(approved.status, approved.text).to.equal(200);
      expect(approved.body['accountState']).to.equal('APPROVED');
    });

    it('disburses it', async () => {
      const disbursed = await post('/loans/dbei-1000.4/disbursement-transactions', { valueDate: '2011-01-23' });
      expect(disbursed.status, disbursed.text).to.equal(201);
      expect(disbursed.body['type']).to.equal('DISBURSEMENT');
      expect(disbursed.text).to.match(/"amount":1000\.00[,}]/);
      const { installments } = (await get('/loans/dbei-1000.4/schedule')).body as { installments: Installment[] };
      expect(installments.map(({ principal }) => principal.amount.expected)).to.deep.equal([
        215.47, 237.02, 260.72, 286.79,
      ]);
    });

    it('charges a fee of 50', async () => {
      const charged = await post('/loans/dbei-1000.4/fee-transactions', { amount: 50, installmentNumber: 1 });
      expect(charged.status, charged.text).to.equal(201);
      expect((await get('/loans/dbei-1000.4/balances')).text).to.match(/"feesBalance":50\.00[,}]/);
    });

    it('accepts a repayment, by the encodedKey of the loan too', async () => {
      const { encodedKey } = (await get('/loans/dbei-1000.4')).body;
      const repaid = await post(`/loans/${String(encodedKey)}/repayment-transactions`, { amount: 315.47 });
      expect(repaid.status, repaid.text).to.equal(201);
      expect(repaid.body['type']).to.equal('REPAYMENT');
      repaymentKey = String(repaid.body['encodedKey']);
    });

    it('undoes the repayment', async () => {
      const adjusted = await post(`/loans/transactions/${repaymentKey}:adjust`, { notes: 'wrong account' });
      expect(adjusted.status, adjusted.text).to.equal(200);
      expect(adjusted.body).to.include({ type: 'REPAYMENT_ADJUSTMENT', originalTransactionKey: repaymentKey });
      expect((await get('/loans/dbei-1000.4/balances')).body['principalBalance']).to.equal(1000);
    });

    it('accepts it again, with numbers exactly as they were sent', async () => {
      const repaid = await post('/loans/dbei-1000.4/repayment-transactions', '{"amount": 315.50}');
      expect(repaid.status, repaid.text).to.equal(201);
      expect(repaid.text).to.match(/"amount":315\.50[,}]/);
    });

    it('undoes a transaction by its id too', async () => {
      const [last] = listed(await get('/loans/dbei-1000.4/transactions')).toReversed();
      const adjusted = await post(`/loans/transactions/${String(last?.['id'])}:adjust`, undefined);
      expect(adjusted.status, adjusted.text).to.equal(200);
    });

    it('lists every transaction, oldest first, in pages', async () => {
      const all = await get('/loans/dbei-1000.4/transactions?paginationDetails=ON');
      expect(listed(all).map(({ type }) => type)).to.deep.equal([
        'DISBURSEMENT',
        'FEE_CHARGED',
        'REPAYMENT',
        'REPAYMENT_ADJUSTMENT',
        'REPAYMENT',
        'REPAYMENT_ADJUSTMENT',
      ]);
      expect(all.headers.get('items-total')).to.equal('6');
      const page = await get('/loans/dbei-1000.4/transactions?offset=1&limit=2');
      expect(listed(page)).to.deep.equal(listed(all).slice(1, 3));
    });

    it('refuses a repayment beyond the balance without any change', async () => {
      const before = await get('/loans/dbei-1000.4/balances');
      const refused = await post('/loans/dbei-1000.4/repayment-transactions', { amount: 100_000 });
      expect(refused.status).to.equal(400);
      expect(refused.text).to.equal(
        '{"errors":[{"errorCode":110,"errorReason":"EXCESS_REPAYMENT_ERROR","errorSource":"amount"}]}',
      );
      expect((await get('/loans/dbei-1000.4/balances')).text).to.equal(before.text);
    });

    const refusals: [string, string, unknown, string, string | null][] = [
      ['a negative loan', '/loans', { productTypeKey: 'annuity', loanAmount: -1 }, 'INVALID_AMOUNT', 'loanAmount'],
      ['a loan of zero', '/loans', { productTypeKey: 'annuity', loanAmount: 0 }, 'INVALID_AMOUNT', 'loanAmount'],
      ['half a cent', '/loans', { productTypeKey: 'annuity', loanAmount: 0.005 }, 'INVALID_AMOUNT', 'loanAmount'],
      [
        'an unknown product',
        '/loans',
        { productTypeKey: 'none', loanAmount: 1 },
        'LOAN_PRODUCT_MISMATCH',
        'productTypeKey',
      ],
      [
        'a taken id',
        '/loans',
        { id: 'dbei-1000.4', productTypeKey: 'annuity', loanAmount: 1 },
        'LOAN_ACCOUNT_ID_ALREADY_IN_USE',
        'id',
      ],
      [
        'a second approval',
        '/loans/dbei-1000.4:changeState',
        { action: 'APPROVE' },
        'INVALID_STATE_TRANSITION',
        'action',
      ],
      ['a negative repayment', '/loans/dbei-1000.4/repayment-transactions', { amount: -1 }, 'INVALID_AMOUNT', 'amount'],
      [
        'a fee on an unknown installment',
        '/loans/dbei-1000.4/fee-transactions',
        { amount: 1, installmentNumber: 9 },
        'INVALID_REPAYMENT_NUMBER',
        'installmentNumber',
      ],
      ['a penalty of zero', '/loans/dbei-1000.4/penalty-transactions', { amount: 0 }, 'INVALID_AMOUNT', 'amount'],
      [
        'an overpayment beyond the principal',
        '/loans/dbei-1000.4/principal-overpayment-transactions',
        { amount: 5000 },
        'EXCESS_REPAYMENT_ERROR',
        'amount',
      ],
    ];
    for (const [sentence, path, body, reason, source] of refusals) {
      it(`refuses ${sentence} with ${reason}`, async () => {
        const response = await post(path, body);
        expect(response.status, response.text).to.equal(400);
        const [error] = response.body['errors'] as Json[];
        expect(error).to.include({ errorReason: reason, errorSource: source });
      });
    }

    it('refuses to undo an undone transaction', async () => {
      const response = await post(`/loans/transactions/${repaymentKey}:adjust`, {});
      expect(response.status).to.equal(400);
      expect(response.text).to.include('TRANSACTION_ALREADY_ADJUSTED');
    });

    it('charges a penalty', async () => {
      const charged = await post('/loans/dbei-1000.4/penalty-transactions', { amount: 12.5 });
      expect(charged.status, charged.text).to.equal(201);
      expect((await get('/loans/dbei-1000.4/balances')).text).to.match(/"penaltyBalance":12\.50[,}]/);
    });

    it('returns 404 for a loan that does not exist', async () => {
      const response = await post('/loans/none/repayment-transactions', { amount: 1 });
      expect(response.status).to.equal(404);
      expect((response.body['errors'] as Json[])[0]?.['errorReason']).to.equal('INVALID_LOAN_ACCOUNT_ID');
    });

    it('refuses a second product with the same id', async () => {
      const product = await post('/loanproducts', annuityProduct('annuity'));
      expect(product.status).to.equal(400);
    });

    it('generates ids for a loan and a product without one', async () => {
      const loan = await post('/loans', { productTypeKey: 'annuity', loanAmount: 1 });
      expect(loan.status, loan.text).to.equal(201);
      expect((await get(`/loans/${String(loan.body['id'])}`)).text).to.equal(loan.text);
      const { id: _, ...unnamed } = annuityProduct('annuity');
      const product = await post('/loanproducts', unnamed);
      expect(product.status, product.text).to.equal(201);
      expect((await get(`/loanproducts/${String(product.body['id'])}`)).text).to.equal(product.text);
    });

    it('returns the same after a restart without the copy', async () => {
      const paths = ['', '/schedule', '/balances', '/transactions'].map((path) => `/loans/dbei-1000.4${path}`);
      const before = await Promise.all(paths.map(async (path) => (await get(path)).text));
      await service.current.stop();
      for (const suffix of ['', '-wal', '-shm'])
        await rm(join(service.folder, `accounts.db${suffix}`), { force: true });
      await service.restart();
      const afterwards = await Promise.all(paths.map(async (path) => (await get(path)).text));
      expect(afterwards).to.deep.equal(before);
    });
  });

  describe('a preview that cannot be made', () => {
    const service = useService();

    it('is refused with the reason', async () => {
      const fee = { id: 'dear', name: 'Dear', trigger: 'DISBURSEMENT', amount: 1000.01, feeApplication: 'REQUIRED' };
      const dear = { ...annuityProduct('dear'), feesSettings: { fees: [fee] } };
      expect((await service.current.post('/loanproducts', dear)).status).to.equal(201);
      const opened = { id: 'dear', productTypeKey: 'dear', loanAmount: 1000 };
      expect((await service.current.post('/loans', opened)).status).to.equal(201);
      const response = await service.current.get('/loans/dear/schedule');
      expect([response.status, response.body]).to.deep.equal([
        400,
        { errors: [{ errorCode: 129, errorReason: 'DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT', errorSource: 'fees' }] },
      ]);
    });
  });

  describe('listing loans', () => {
    const service = useService();
    const get = (query: string) => service.current.get(`/loans${query}`);

    before(async () => {
      await createProduct(service.current);
      await openLoan(service.current, 'b', { loanAmount: 300, accountHolderKey: 'ann' });
      await openLoan(service.current, 'c', { loanAmount: 1000, accountHolderKey: 'bob' });
      await openLoan(service.current, 'a', { loanAmount: 20.5, accountHolderKey: 'ann' });
      await service.current.post('/loans/c:changeState', { action: 'APPROVE' });
    });

    const rows: [string, string[]][] = [
      ['', ['b', 'c', 'a']],
      ['?sortBy=id', ['a', 'b', 'c']],
      ['?sortBy=id:DESC', ['c', 'b', 'a']],
      ['?sortBy=loanAmount:ASC', ['a', 'b', 'c']],
      ['?sortBy=accountHolderKey:DESC,id:DESC', ['c', 'b', 'a']],
      ['?accountState=APPROVED', ['c']],
      ['?accountState=ACTIVE_IN_ARREARS', []],
      ['?accountHolderId=ann', ['b', 'a']],
      ['?productTypeKey=annuity&accountHolderId=bob', ['c']],
      ['?productTypeKey=other', []],
      ['?limit=2', ['b', 'c']],
      ['?limit=2&offset=2', ['a']],
      ['?offset=3', []],
      ['?detailsLevel=BASIC', ['b', 'c', 'a']],
    ];
    for (const [query, expected] of rows) {
      it(`returns for GET /loans${query} ${expected.join(', ') || 'nothing'}`, async () => {
        const response = await get(query);
        expect(response.status, response.text).to.equal(200);
        expect(idsOf(response)).to.deep.equal(expected);
        expect(response.headers.get('items-total')).to.equal(null);
      });
    }

    const unknown: readonly (readonly [path: string, query: string, sources: readonly string[]])[] = [
      ['', 'accountHolderType=PERSON', ['accountHolderType']],
      ['', 'branchId=', ['branchId']],
      ['', 'accountstate=CLOSED', ['accountstate']],
      ['', 'accountState=CLOSED&accountState=ACTIVE', ['accountState']],
      ['', '__proto__=1', ['__proto__']],
      ['/a', 'fields=id', ['fields']],
      ['/a/schedule', 'from=2026-01-01', ['from']],
      ['/a/balances', 'detailsLevel=FULL', ['detailsLevel']],
      ['/a/transactions', 'type=REPAYMENT', ['type']],
      ['/a/events', 'limit=1', ['limit']],
    ];
    for (const [path, query, sources] of unknown) {
      it(`refuses GET /loans${path}?${query}, and names what is unknown`, async () => {
        const response = await get(`${path}?${query}`);
        expect(response.status, response.text).to.equal(400);
        expect(
          (response.body['errors'] as Json[]).map(({ errorReason, errorSource }) => [errorReason, errorSource]),
        ).to.deep.equal(sources.map((source) => ['INVALID_PARAMETERS', source]));
      });
    }

    it('accepts the details level wherever the lending API has one, and sorts products', async () => {
      const { current } = service;
      for (const path of ['/loans', '/loans/a', '/loans/a/schedule', '/loans/a/transactions', '/loanproducts']) {
        expect((await current.get(`${path}?detailsLevel=FULL`)).status, path).to.equal(200);
        expect((await current.get(`${path}?detailsLevel=ALL`)).status, path).to.equal(400);
      }
      await current.post('/loanproducts', { ...annuityProduct('zero'), name: 'A name before the other' });
      const products = async (query: string) => idsOf(await current.get(`/loanproducts?${query}`));
      expect(await products('')).to.deep.equal(['annuity', 'zero']);
      expect(await products('sortBy=id:DESC')).to.deep.equal(['zero', 'annuity']);
      expect(await products('offset=0&limit=200&detailsLevel=FULL&sortBy=name:ASC,id:ASC')).to.deep.equal([
        'zero',
        'annuity',
      ]);
      for (const query of ['sortBy=nothing', 'branchId=1']) {
        const refused = await current.get(`/loanproducts?${query}`);
        expect([refused.status, (refused.body['errors'] as Json[])[0]?.['errorSource']]).to.deep.equal([
          400,
          query.split('=')[0],
        ]);
      }
    });

    it('describes the page on request', async () => {
      const response = await get('?limit=2&paginationDetails=ON');
      expect(idsOf(response)).to.deep.equal(['b', 'c']);
      expect(['items-limit', 'items-offset', 'items-total'].map((name) => response.headers.get(name))).to.deep.equal([
        '2',
        '0',
        '3',
      ]);
    });

    it('returns the same at every level of detail', async () => {
      for (const path of ['/loans', '/loans/a', '/loans/a/schedule', '/loanproducts', '/loanproducts/annuity']) {
        const [plain, basic, full] = await Promise.all(
          ['', '?detailsLevel=BASIC', '?detailsLevel=FULL'].map((query) => service.current.get(`${path}${query}`)),
        );
        expect([basic?.text, full?.text], path).to.deep.equal([plain?.text, plain?.text]);
      }
    });

    it('returns each loan as it is returned alone', async () => {
      const [first] = listed(await get('?sortBy=id'));
      expect(first).to.deep.equal((await service.current.get('/loans/a')).body);
    });
  });

  describe('lists of more than a page', () => {
    const service = useService();
    const count = 51;

    before(async () => {
      await createProduct(service.current);
      await openActiveLoan(service.current, 'long');
      for (let number = 2; number <= count; number += 1) {
        await openLoan(service.current, `loan-${number}`);
        await service.current.post('/loanproducts', annuityProduct(`product-${number}`));
        const charged = await service.current.post('/loans/long/penalty-transactions', {
          amount: 0.01,
          valueDate: '2011-01-24',
        });
        expect(charged.status, charged.text).to.equal(201);
      }
    });

    const headers = (response: HttpResponse) =>
      ['items-total', 'items-limit', 'items-offset'].map((name) => response.headers.get(name));
    const pages: readonly (readonly [query: string, items: number, headers: readonly string[]])[] = [
      ['', 50, ['51', '50', '0']],
      ['offset=1', 50, ['51', '50', '1']],
      ['offset=50', 1, ['51', '50', '50']],
      ['offset=51', 0, ['51', '50', '51']],
      ['offset=999999999999999', 0, ['51', '50', '999999999999999']],
      ['limit=1', 1, ['51', '1', '0']],
      ['limit=51', 51, ['51', '51', '0']],
      ['limit=1000', 51, ['51', '1000', '0']],
      ['limit=1000&offset=50', 1, ['51', '1000', '50']],
    ];
    for (const path of ['/loans', '/loanproducts', '/loans/long/transactions']) {
      for (const [query, items, pagination] of pages) {
        it(`return ${items} of ${count} of ${path} for ${query === '' ? 'no limit' : query}`, async () => {
          const all = listed(await service.current.get(`${path}?limit=1000`));
          expect(all).to.have.length(count);
          const page = await service.current.get(`${path}?${query}&paginationDetails=ON`);
          expect([page.status, headers(page)], page.text).to.deep.equal([200, pagination]);
          const offset = Number(pagination[2]);
          expect(listed(page)).to.deep.equal(all.slice(offset, offset + items));
          const silent = await service.current.get(`${path}?${query}&paginationDetails=OFF`);
          expect([silent.text, headers(silent)]).to.deep.equal([page.text, [null, null, null]]);
        });
      }

      for (const [query, reason] of [
        ['limit=1001', 'OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE'],
        ['limit=0', 'INVALID_PAGINATION_LIMIT_VALUE'],
        ['offset=-1', 'INVALID_PAGINATION_OFFSET_VALUE'],
        ['offset=1000000000000000', 'INVALID_PAGINATION_OFFSET_VALUE'],
      ] as const) {
        it(`refuse ${query} of ${path}`, async () => {
          const response = await service.current.get(`${path}?${query}`);
          expect([response.status, (response.body['errors'] as Json[])[0]?.['errorReason']]).to.deep.equal([
            400,
            reason,
          ]);
        });
      }
    }
  });

  describe('the toggles', () => {
    const service = useService();

    it('are off and were never switched at first', async () => {
      const response = await service.current.get('/toggles');
      expect(listed(response)).to.deep.equal(
        ['ALLOW_NON_SCHEDULED_FEES', 'PRINCIPAL_OVERPAYMENT', 'fixInstallmentTaxOnPenalty'].map((name) => ({
          name,
          enabled: false,
          switchedAt: null,
        })),
      );
    });

    it('show when they were switched, and stay switched after a restart', async () => {
      const begun = Date.now();
      const switched = await service.current.put('/toggles/PRINCIPAL_OVERPAYMENT', { enabled: true });
      expect(switched.status).to.equal(200);
      expect(switched.body).to.include({ name: 'PRINCIPAL_OVERPAYMENT', enabled: true });
      expect(Date.parse(String(switched.body['switchedAt']))).to.be.within(begun, Date.now());
      await service.restart();
      expect((await service.current.get('/toggles/PRINCIPAL_OVERPAYMENT')).body).to.deep.equal(switched.body);
    });

    it('determine the names in responses', async () => {
      await createProduct(service.current);
      await openActiveLoan(service.current, 'toggled');
      const names = async () => Object.keys((await service.current.get('/loans/toggled/balances')).body);
      expect(await names())
        .to.include('feesDue')
        .and.not.include('scheduledFeesDue');
      await service.current.put('/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: true });
      expect(await names())
        .to.include('scheduledFeesDue')
        .and.not.include('feesDue');
    });
  });
});
