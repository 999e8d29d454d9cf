import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPermission, rolePermissions } from '../../../src/access/permissions.ts';
import { findOperations } from '../../../src/http/access/operation-lookup.ts';
import { operations } from '../../../src/http/access/operation-permissions.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

const description = JSON.parse(readFileSync(join(packageRoot, 'schemas/openapi.json'), 'utf8')) as Description;

const described = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) =>
    operationId === undefined ? [] : [`${operationId} ${method.toUpperCase()} ${path}`],
  ),
);

describe('the table of operations', () => {
  it('has every operation of the API description, and no other', () => {
    const listed = operations.map(({ id, method, path }) => `${id} ${method} ${path}`);
    expect(listed.toSorted()).to.deep.equal(described.toSorted());
  });

  it('names only permissions that exist', () => {
    const named = operations.map(({ permission }) => permission);
    const unknown = named.filter((name) => name !== 'public' && name !== 'authenticated' && !isPermission(name));
    expect(unknown).to.deep.equal([]);
  });

  it('has an access for every operation on one event type or subscription', () => {
    const onOne = operations.filter(({ path }) => /\/(event-types\/\{name\}|subscriptions\/\{id\})/.test(path));
    expect(onOne.filter(({ access }) => access === undefined).map(({ id }) => id)).to.deep.equal([]);
  });

  it('finds each operation by its own path', () => {
    for (const { id, method, path } of operations) {
      const ids = findOperations(method, path.replaceAll(/\{\w+\}/g, 'x')).map(({ operation }) => operation.id);
      expect(ids, `${method} ${path}`).to.include(id);
    }
  });

  const rows: [title: string, method: string, path: string, ids: readonly string[]][] = [
    ['with a slash at the end', 'GET', '/subscriptions/', ['listSubscriptions']],
    ['of the lending API below /api', 'POST', '/api/loans/L1/repayment-transactions', ['repayLoan']],
    ['of a HEAD request as those of GET', 'HEAD', '/event-types/x', ['getEventType']],
    ['of an action on a loan', 'POST', '/loans/L1:changeState', ['changeLoanState']],
    ['of an action on all loans', 'POST', '/loans:search', ['searchLoans']],
    ['of a loan whose id looks like an action', 'GET', '/loans/L1:changeState', ['getLoan']],
    ['of no path with an empty part', 'GET', '/event-types//events', []],
    ['of no method that the path does not have', 'DELETE', '/subscriptions', []],
    ['of no path in another letter case', 'GET', '/Subscriptions', []],
    ['of no path that goes on', 'GET', '/subscriptions/x/cursors/more', []],
  ];
  for (const [title, method, path, ids] of rows) {
    it(`finds the operations ${title}`, () => {
      expect(findOperations(method, path).map(({ operation }) => operation.id)).to.deep.equal(ids);
    });
  }

  it('decodes the values of a path', () => {
    const [found] = findOperations('GET', '/event-types/a%2Fb/events');
    expect([found?.operation.id, found?.values]).to.deep.equal(['readEvents', ['a/b']]);
  });
});

describe('the routes of a running service', function () {
  this.timeout(60_000);
  const administrator = 'the-key-of-an-administrator';
  let folder: string;
  let service: ServiceHere;
  const keys = new Map<string, string>();

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { API_KEYS: administrator });
    for (const role of Object.keys(rolePermissions)) {
      const wanted = { name: `key-of-${role}`, owning_application: 'no-application', scopes: [role] };
      const { body } = await call(`${service.url}/api-keys`, 'POST', wanted, { apikey: administrator });
      keys.set(role, String(body['key']));
    }
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  /** What the table says, without the definitions that a path names: unknown ones are refused with 404. */
  for (const [role, granted] of Object.entries(rolePermissions)) {
    it(`refuse a ${role} exactly what the table does not give it`, async () => {
      const permissions = new Set<string>(granted);
      const isGranted = (permission: string): boolean =>
        permission === 'public' ||
        permission === 'authenticated' ||
        permissions.has(permission) ||
        (permission.startsWith('loan-commands:') && permissions.has('loan-commands:*'));
      for (const { id, method, path, permission } of operations) {
        const url = `${service.url}${path.replaceAll(/\{\w+\}/g, 'unknown')}`;
        const { status, text } = await call(url, method, undefined, { apikey: keys.get(role) ?? '' });
        const isRefused = status === 403 && /This needs the permission/.test(text);
        expect(isRefused, `${id}: ${status} ${text.slice(0, 200)}`).to.equal(!isGranted(permission));
        expect(status, `${id}: ${text}`).to.not.be.within(500, 500);
      }
    });
  }

  it('refuse an officer a path that is not in the table', async () => {
    for (const path of ['/storages', '/event-types/x/timelines', '/nowhere', '/api/nowhere']) {
      const officer = await call(`${service.url}${path}`, 'GET', undefined, { apikey: keys.get('officer') ?? '' });
      expect(officer.status, path).to.equal(403);
    }
  });
});
