import { expect } from 'chai';
import { describe, it } from 'mocha';
import { memoryOf } from '../../fuzz/fuzzed-service.ts';
import { operations } from '../../support/http/api-description.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { keyReportOf, memoryGrowthMaximum, runKeyCampaign, tooMuchGrowth } from './campaign.ts';
import { expectedOf, faultOf, permissionOf, permissions, roles, type Expected, type Sender } from './oracle.ts';

/** How many requests a test run sends; npm run campaign sends a million. */
const requests = 500;

/** The same requests in every run, so that only a change can make it fail. */
const seed = 20_261_126;

describe('requests with keys of every kind', () => {
  it('get only the answers that the documents allow', async function () {
    this.timeout(120_000);
    const folder = await temporaryFolder();
    const outcome = await runKeyCampaign({ folder, requests, seed });
    expect(outcome.faultCount, keyReportOf(outcome).join('\n')).to.equal(0);
    const given = [...outcome.answers.keys()];
    expect(given).to.include.members(['401: 401', '403: 403', '404: 404', 'served: 200']);
    expect(outcome.operations.size).to.equal(operations.length);
    await removeFolder(folder);
  });
});

describe('the memory of a campaign', () => {
  const measured = (cacheBytes: number, otherBytes: number): number =>
    memoryOf({
      stallMilliseconds: 0,
      residentBytes: 0,
      heapBytes: otherBytes + cacheBytes / 4,
      externalBytes: (cacheBytes * 3) / 4,
      cacheBytes,
    });
  const full = 128 * 1024 * 1024;

  it('may grow by a full cache of the log and by its limit, and not by a byte more', () => {
    expect(tooMuchGrowth([measured(0, 1_000), measured(full, 1_000 + memoryGrowthMaximum)])).to.equal(undefined);
    expect(tooMuchGrowth([measured(0, 1_000), measured(full, 1_001 + memoryGrowthMaximum)])).to.contain('grew');
    expect(tooMuchGrowth([measured(0, 1_000)])).to.equal(undefined);
  });
});

describe('the oracle of keys', () => {
  it('reads roles and permissions from the documents', () => {
    expect(permissions).to.include.members(['keys:manage', 'any-application', 'loan-commands:*']);
    expect([...roles.keys()]).to.include.members(['consumer', 'producer', 'officer', 'operator', 'auditor', 'admin']);
    expect(roles.get('admin')).to.deep.equal(permissions);
    expect([...roles.values()].flat().filter((name) => !permissions.includes(name))).to.deep.equal([]);
  });

  it('knows a documented permission for each operation', () => {
    const unknown = operations.filter(({ method, path }) => {
      const needed = permissionOf(method.toUpperCase(), path);
      return needed !== 'public' && needed !== 'any' && !permissions.includes(needed);
    });
    expect(unknown.map(({ operationId }) => operationId)).to.deep.equal([]);
  });

  const consumer: Sender = {
    name: 'c',
    kind: 'valid',
    application: 'shop',
    permissions: new Set(roles.get('consumer')),
  };
  const stranger: Sender = { ...consumer, kind: 'none' };
  const own = { name: 'x', owner: 'shop', isUnguarded: false };
  const foreign = { ...own, owner: 'bank' };
  const rows: [title: string, sender: Sender, permission: string, target: typeof own | undefined, Expected][] = [
    ['serves what needs no key', stranger, 'public', undefined, 'served'],
    ['refuses to serve without a key', stranger, 'events:read', own, 401],
    ['refuses what a role lacks', consumer, 'events:publish', own, 403],
    ['hides what belongs to others', consumer, 'events:read', foreign, 404],
    ['shows what others do not guard', consumer, 'events:read', { ...foreign, isUnguarded: true }, 'served'],
    ['serves what is the own', consumer, 'subscriptions:consume', own, 'served'],
  ];
  for (const [title, sender, permission, target, expected] of rows) {
    it(title, () => {
      expect(expectedOf(sender, permission, target)).to.equal(expected);
    });
  }

  it('finds an answer that is too much, a refusal that is too much, and a fault of the service', () => {
    const answers: [Expected, number][] = [
      [401, 200],
      [403, 404],
      [404, 403],
      ['served', 403],
      ['served', 500],
      ['served', 0],
    ];
    for (const [expected, status] of answers) expect(faultOf(expected, status)).to.be.a('string');
    expect([faultOf(404, 404), faultOf('served', 422)]).to.deep.equal([undefined, undefined]);
  });
});
