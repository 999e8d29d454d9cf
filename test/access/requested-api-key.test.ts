import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readApiKey, scopesMaximum } from '../../src/access/requested-api-key.ts';
import { commandTypes } from '../../src/lending-format/command-format.ts';
import { permissionOfCommand, permissionTexts, rolePermissions } from '../../src/access/permissions.ts';
import { outcomeOf } from '../support/thrown-errors.ts';

const now = Date.parse('2026-01-31T08:00:00Z');

const valid: Record<string, unknown> = { name: 'shop-consumer', owning_application: 'shop', scopes: ['consumer'] };

const manyScopes = [
  ...new Set([
    ...commandTypes.map((type) => permissionOfCommand(type)),
    ...Object.keys(permissionTexts),
    ...Object.keys(rolePermissions),
  ]),
];

describe('a requested API key', () => {
  const rows: [title: string, changes: Record<string, unknown>, outcome: string | RegExp][] = [
    ['with the shortest name', { name: 'a' }, 'accepted'],
    ['with the longest name', { name: 'a'.repeat(63) }, 'accepted'],
    ['with a longer name', { name: 'a'.repeat(64) }, /^422 Field "name"/],
    ['without a name', { name: undefined }, /^422 Field "name"/],
    ['with a name that begins with a sign', { name: '-a' }, /^422 Field "name"/],
    ['with capital letters in its name', { name: 'Shop' }, /^422 Field "name"/],
    ['with the name of a user', { name: 'user:alice' }, /^422 Field "name"/],
    ['with the name of a key of the settings', { name: 'environment-key-1' }, /^422 Field "name".*itself/],
    ['with the name of senders without a key', { name: 'unauthenticated' }, /^422 Field "name".*itself/],
    ['with the name of a part of the service', { name: 'lendstream-worker' }, /^422 Field "name".*itself/],
    ['with a name that is no text', { name: 7 }, /^400 Field "name" must be a string/],
    ['without an application', { owning_application: '' }, /^422 Field "owning_application"/],
    ['with the longest application', { owning_application: 'a'.repeat(255) }, 'accepted'],
    ['with a longer application', { owning_application: 'a'.repeat(256) }, /^422 Field "owning_application"/],
    ['without scopes', { scopes: [] }, /^422 Field "scopes"/],
    ['with scopes that are no list', { scopes: 'admin' }, /^400 Field "scopes"/],
    ['with an unknown scope', { scopes: ['everything'] }, /^422 Field "scopes".*everything/],
    ['with a command as scope', { scopes: ['loan-commands:REPAY'] }, 'accepted'],
    ['with an unknown command as scope', { scopes: ['loan-commands:STEAL'] }, /^422 Field "scopes"/],
    ['with a field of every object as scope', { scopes: ['constructor'] }, /^422 Field "scopes"/],
    ['with the most scopes', { scopes: manyScopes.slice(0, scopesMaximum) }, 'accepted'],
    ['with one scope more', { scopes: manyScopes.slice(0, scopesMaximum + 1) }, /^422 Field "scopes".*at most 50/],
    ['that expires in a millisecond', { expires_at: '2026-01-31T08:00:00.001Z' }, 'accepted'],
    ['that expires now', { expires_at: '2026-01-31T08:00:00Z' }, /^422 Field "expires_at"/],
    ['that expires without a zone', { expires_at: '2027-01-31T08:00:00' }, /^422 Field "expires_at"/],
    ['that expires on no day', { expires_at: '2027-02-30T08:00:00Z' }, /^422 Field "expires_at"/],
    ['that expires at a number', { expires_at: 7 }, /^400 Field "expires_at"/],
    ['that does not expire', { expires_at: null }, 'accepted'],
    ['for the longest subject', { certificate_subject: 'a'.repeat(1_024) }, 'accepted'],
    ['for a longer subject', { certificate_subject: 'a'.repeat(1_025) }, /^422 Field "certificate_subject"/],
    ['for a subject that is no text', { certificate_subject: 7 }, /^400 Field "certificate_subject"/],
  ];
  for (const [title, changes, expected] of rows) {
    it(`${title} is ${expected === 'accepted' ? 'accepted' : 'refused'}`, () => {
      const outcome = outcomeOf(() => readApiKey({ ...valid, ...changes }, now));
      if (typeof expected === 'string') expect(outcome).to.equal(expected);
      else expect(outcome).to.match(expected);
    });
  }

  it('has sorted scopes without repeats, and its end in UTC', () => {
    const body = { ...valid, scopes: ['producer', 'consumer', 'producer'], expires_at: '2026-02-01T00:00:00+01:00' };
    expect(readApiKey(body, now)).to.deep.equal({
      name: 'shop-consumer',
      owning_application: 'shop',
      scopes: ['consumer', 'producer'],
      expires_at: '2026-01-31T23:00:00.000Z',
      certificate_subject: null,
      limits: {},
    });
  });
});
