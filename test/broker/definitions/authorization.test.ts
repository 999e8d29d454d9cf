import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  attributesMaximum,
  checkAuthorizationChange,
  hasRole,
  readAuthorization,
} from '../../../src/broker/definitions/authorization.ts';
import type { FieldViolation } from '../../../src/errors.ts';

const lines = (violations: readonly FieldViolation[]): string[] =>
  violations.map(({ field, message }) => `${field}: ${message}`);

describe('authorization', () => {
  const somebody = { data_type: 'user', value: 'x' };
  const roles = ['admins', 'readers'] as const;
  const read = (authorization: Record<string, unknown> | null) => {
    const violations: FieldViolation[] = [];
    return { authorization: readAuthorization(authorization, roles, violations), lines: lines(violations) };
  };

  it('is stored without unknown fields', () => {
    const sent = { admins: [{ ...somebody, extra: 'x'.repeat(9) }], readers: [somebody], writers: [somebody], more: 1 };
    expect(read(sent)).to.deep.equal({ authorization: { admins: [somebody], readers: [somebody] }, lines: [] });
    expect(read(null)).to.deep.equal({ authorization: null, lines: [] });
  });

  it('needs for each role a list of attributes', () => {
    for (const admins of [undefined, null, [], {}, 'all', 7]) {
      expect(read({ admins, readers: [somebody] }).lines, JSON.stringify(admins)).to.deep.equal([
        'authorization.admins: must contain at least one attribute',
      ]);
    }
    for (const wrong of [null, 'x', {}, { data_type: 'user' }, { value: 'x' }, { data_type: 1, value: 'x' }]) {
      expect(read({ admins: [somebody, wrong], readers: [somebody] }).lines, JSON.stringify(wrong)).to.deep.equal([
        'authorization.admins: must consist of attributes with data_type and value',
      ]);
    }
  });

  it('may have the maximum number of attributes in each role and not one more', () => {
    const many = (count: number) => Array.from({ length: count }, () => somebody);
    expect(read({ admins: many(attributesMaximum), readers: [somebody] }).lines).to.deep.equal([]);
    expect(read({ admins: many(attributesMaximum + 1), readers: [somebody] }).lines).to.deep.equal([
      'authorization.admins: must contain at most 100 elements',
    ]);
  });

  it('may have names of the maximum length and not one character more', () => {
    const longest = { data_type: 'x'.repeat(255), value: 'y'.repeat(255) };
    expect(read({ admins: [longest], readers: [longest] }).lines).to.deep.equal([]);
    const longer = { data_type: 'x'.repeat(256), value: 'y'.repeat(256) };
    expect(read({ admins: [somebody, longer], readers: [longest] }).lines).to.deep.equal([
      'authorization.admins[1].data_type: must contain at most 255 characters',
      'authorization.admins[1].value: must contain at most 255 characters',
    ]);
  });

  it('can be checked for a role', () => {
    const { authorization } = read({ admins: [somebody], readers: [{ data_type: 'user', value: 'y' }] });
    expect(hasRole(authorization, 'admins', somebody)).to.equal(true);
    expect(hasRole(authorization, 'readers', somebody)).to.equal(false);
    const several = { admins: [{ data_type: 'user', value: 'y' }, somebody, { data_type: 'team', value: 'x' }] };
    expect(hasRole(several, 'admins', somebody)).to.equal(true);
    expect(hasRole(several, 'admins', { data_type: 'team', value: 'y' })).to.equal(false);
    expect(hasRole({ admins: [{ data_type: 'user' }, null] }, 'admins', somebody)).to.equal(false);
    expect(hasRole(null, 'admins', somebody)).to.equal(false);
    expect(hasRole({ admins: 'kept before it was checked' }, 'admins', somebody)).to.equal(false);
  });

  it('cannot be removed once it is set', () => {
    expect(() => checkAuthorizationChange({}, null)).to.throw('not possible due to existing one');
    for (const [current, wanted] of [
      [null, null],
      [null, {}],
      [{}, {}],
    ] as const) {
      checkAuthorizationChange(current, wanted);
    }
  });
});
