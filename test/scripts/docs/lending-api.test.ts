import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContractOperation, type DescribedApi, lendingApiDocument } from '../../../scripts/docs/lending-api.ts';
import { tableRows } from '../../../scripts/docs/markdown.ts';
import { packageRoot } from '../../../src/package-root.ts';

const target = join(packageRoot, 'docs/lending-api.md');
const servers = [{ url: '/' }, { url: '/api' }];
const succeeding = { responses: { '200': {} } };

const api: DescribedApi = {
  components: { parameters: { Limit: { name: 'limit', in: 'query' } } },
  paths: {
    '/loans': {
      servers,
      get: {
        ...succeeding,
        summary: 'List',
        parameters: [{ $ref: '#/components/parameters/Limit' }, { name: 'id', in: 'path' }],
      },
      post: { ...succeeding, summary: 'Open' },
    },
    '/loans/{id}': { servers, parameters: [{ name: 'level', in: 'query' }], get: { ...succeeding, summary: 'Show' } },
    '/rates': { servers, post: { summary: 'Refused', responses: { '400': {} } } },
    '/own': { servers, get: { ...succeeding, summary: 'Our own' } },
    '/events': { get: { ...succeeding, summary: 'Not of lending' } },
  },
};

/** The row of each operation, without its name. */
async function rowsOf(contract: readonly ContractOperation[]): Promise<Record<string, string[]>> {
  const rows = tableRows(await lendingApiDocument(api, contract, target));
  return Object.fromEntries(rows.map(([name = '', ...cells]) => [name, cells]));
}

describe('the page about the lending API beside its original', () => {
  const operation = (method: string, path: string, more: object = {}): ContractOperation => ({
    area: 'Loans',
    method,
    path,
    query: [],
    ...more,
  });

  it('says of each operation whether it is here, partly here or refused', async () => {
    const rows = await rowsOf([
      operation('GET', '/loans', { query: ['limit', 'branchId'] }),
      operation('POST', '/loans', { missing: 'No tranches.', reason: 'Never shown.' }),
      operation('GET', '/loans/{loanAccountId}', { query: ['level'], reason: 'Never shown.' }),
      operation('PUT', '/loans/{loanAccountId}', { missing: 'Never shown.', reason: 'Loans are patched.' }),
      operation('POST', '/rates', { reason: 'Rates are fixed.' }),
    ]);
    expect(rows).to.deep.include({
      '`GET /loans`': ['partly here', 'The parameters `branchId` are refused.'],
      '`POST /loans`': ['partly here', 'No tranches.'],
      '`GET /loans/{loanAccountId}`': ['here', ''],
      '`PUT /loans/{loanAccountId}`': ['refused', 'Loans are patched.'],
      '`POST /rates`': ['refused', 'Rates are fixed.'],
    });
  });

  it('lists the operations of lending that the original does not have', async () => {
    const rows = await rowsOf([operation('GET', '/loans')]);
    expect(rows['`GET /own`']).to.deep.equal(['Our own']);
    expect(rows).to.not.have.property('`GET /events`');
  });
});

describe('the list of operations of the original', () => {
  const contract = JSON.parse(
    readFileSync(join(packageRoot, 'scripts/docs/contract-operations.json'), 'utf8'),
  ) as ContractOperation[];

  it('has each operation once, and remarks that are sentences', () => {
    const names = contract.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).to.equal(names.length);
    const remarks = contract.flatMap(({ missing, reason }) => [missing ?? [], reason ?? []].flat());
    for (const remark of remarks) expect(remark).to.match(/^[A-Z`].*\.$/);
  });
});
