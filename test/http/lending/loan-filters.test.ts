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
  ] as const) {
    it(`${query}: ${expected.join(', ') || 'none'}`, async () => {
      const found = await suite.service.get(`/loans?${query}&paginationDetails=ON`);
      expect(found.status, found.text).to.equal(200);
      expect((JSON.parse(found.text) as { id: string }[]).map(({ id }) => id)).to.deep.equal(expected);
      if (!query.includes('limit')) expect(found.headers.get('items-total')).to.equal(String(expected.length));
    });
  }

  it('take an encodedKey in the place of an id', async () => {
    const found = await suite.service.get(`/loans?branchId=${keys['south'] ?? ''}`);
    expect((JSON.parse(found.text) as { id: string }[]).map(({ id }) => id)).to.deep.equal(['officer']);
  });
});
