import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { administratorKey } from '../../../src/lending/organization.ts';
import { lendingServiceForSuite } from './lending-service.ts';

const officerKey = 'e'.repeat(32);

describe('the filters of GET /loans', () => {
  const suite = lendingServiceForSuite();
  const keys: Record<string, string> = {};

  before(async () => {
    const { service } = suite;
    for (const [path, id] of [
      ['/branches', 'north'],
      ['/branches', 'south'],
      ['/centres', 'market'],
    ] as const) {
      const assigned = path === '/centres' ? { assignedBranchKey: keys['north'] } : {};
      const made = await service.post(path, { id, name: id, ...assigned });
      expect(made.status, made.text).to.equal(201);
      keys[id] = String(made.body['encodedKey']);
    }
    for (const [id, facts] of [
      ['plain', {}],
      ['client', { accountHolderKey: 'c', accountHolderType: 'CLIENT', assignedBranchKey: keys['north'] }],
      ['group', { accountHolderKey: 'g', accountHolderType: 'GROUP', assignedCentreKey: keys['market'] }],
      ['own', { assignedUserKey: administratorKey, assignedBranchKey: keys['north'] }],
      ['officer', { assignedUserKey: officerKey, assignedBranchKey: keys['south'] }],
    ] as const) {
      const opened = await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000, ...facts });
      expect(opened.status, opened.text).to.equal(201);
    }
  });

  for (const [query, expected] of [
    ['accountHolderType=CLIENT', ['client']],
    ['accountHolderType=GROUP', ['group']],
    ['branchId=north', ['client', 'own']],
    ['branchId=south', ['officer']],
    ['branchId=nowhere', []],
    ['centreId=market', ['group']],
    ['creditOfficerUsername=admin', ['own']],
    [`creditOfficerUsername=${officerKey}`, ['officer']],
    ['creditOfficerUsername=nobody', []],
    ['branchId=north&creditOfficerUsername=admin&accountState=PENDING_APPROVAL', ['own']],
    ['branchId=north&limit=1&offset=1', ['own']],
    ['q=LI', ['client']],
    ['q=o', ['group', 'own', 'officer']],
    ['q=o&branchId=north', ['own']],
    ['q=%25', []],
    ['q=', ['plain', 'client', 'group', 'own', 'officer']],
  ] as const) {
    it(`${query}: ${expected.join(', ') || 'none'}`, async () => {
      const found = await suite.service.get(`/loans?${query}&paginationDetails=ON`);
      expect(found.status, found.text).to.equal(200);
      expect((JSON.parse(found.text) as { id: string }[]).map(({ id }) => id)).to.deep.equal(expected);
      if (!query.includes('limit')) expect(found.headers.get('items-total')).to.equal(String(expected.length));
    });
  }

  it('search by a part of the id in searches too, and not of transactions', async () => {
    const { service } = suite;
    const body = { sortingCriteria: { field: 'id', order: 'ASC' } };
    const found = await service.post('/loans:search?q=O&paginationDetails=ON&limit=2', body);
    expect((JSON.parse(found.text) as { id: string }[]).map(({ id }) => id)).to.deep.equal(['group', 'officer']);
    expect(found.headers.get('items-total')).to.equal('3');
    expect((await service.post('/loans/transactions:search?q=o', {})).status).to.equal(400);
  });

  it('refuse a part of an id that is too long', async () => {
    const { service } = suite;
    expect((await service.get(`/loans?q=${'x'.repeat(256)}`)).status).to.equal(200);
    expect((await service.get(`/loans?q=${'x'.repeat(257)}`)).status).to.equal(400);
    expect((await service.post(`/loans:search?q=${'x'.repeat(257)}`, {})).status).to.equal(400);
  });

  it('take an encodedKey in the place of an id', async () => {
    const found = await suite.service.get(`/loans?branchId=${keys['south'] ?? ''}`);
    expect((JSON.parse(found.text) as { id: string }[]).map(({ id }) => id)).to.deep.equal(['officer']);
  });
});
