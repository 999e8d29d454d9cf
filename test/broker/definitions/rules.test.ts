import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  annotationCharactersMaximum,
  annotationViolations,
  attributesMaximum,
  checkAuthorizationChange,
  countViolations,
  hasRole,
  keyedEntriesMaximum,
  labelCharactersMaximum,
  labelViolations,
  lengthViolations,
  nameCharactersMaximum,
  readAuthorization,
} from '../../../src/broker/definitions/rules.ts';
import type { FieldViolation } from '../../../src/errors.ts';

const lines = (violations: readonly FieldViolation[]): string[] =>
  violations.map(({ field, message }) => `${field}: ${message}`);

describe('the violations of annotation and label keys', () => {
  const bound = 'Key name should start and end with a letter or a digit';
  const cases: [key: string, ...messages: string[]][] = [
    ['simple'],
    ['example.org/a-b_c.d9'],
    ['a'.repeat(63)],
    ['a'.repeat(64), 'Key name cannot be more than 63 characters.'],
    [`${'p'.repeat(253)}/a`],
    [`${'p'.repeat(254)}/a`, 'Key prefix cannot be more than 253 characters.'],
    ['', 'Key cannot be empty', bound],
    ['-a', bound],
    ['a/', bound],
    ['a/b/c', bound],
    ['/a', 'Key name should be an optional lowercase domain name with path'],
    ['a_b/c', 'Key name should be an optional lowercase domain name with path'],
    ['Example.org/c', 'Key name should be an optional lowercase domain name with path'],
    ['a..b/-', 'Key name should be an optional lowercase domain name with path', bound],
  ];
  for (const [key, ...messages] of cases) {
    it(`of "${key.slice(0, 20)}" (${key.length}): ${messages.length === 0 ? 'none' : messages.join(', ')}`, () => {
      const expected = messages.map((message) => `labels[${key.slice(0, 253)}]: ${message}`);
      expect(lines(labelViolations({ [key]: null }))).to.deep.equal(expected);
      expect(annotationViolations({ [key]: 'x' })).to.have.length(messages.length);
    });
  }

  it('begin at one more than the maximum number of keys', () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x']));
    for (const violationsOf of [annotationViolations, labelViolations]) {
      expect(violationsOf(entries(keyedEntriesMaximum))).to.deep.equal([]);
      expect(violationsOf(entries(keyedEntriesMaximum + 1))).to.have.length(1);
      expect(violationsOf(null)).to.deep.equal([]);
    }
    expect(lines(labelViolations(entries(101)))).to.deep.equal(['labels: must contain at most 100 elements']);
  });
});

describe('the values of annotations and labels', () => {
  it('may have the maximum length and not one character more', () => {
    expect(annotationViolations({ a: 'ü'.repeat(annotationCharactersMaximum) })).to.deep.equal([]);
    expect(lines(annotationViolations({ a: 'ü'.repeat(annotationCharactersMaximum + 1) }))).to.deep.equal([
      'annotations[a]: must contain at most 1000 characters',
    ]);
    expect(labelViolations({ a: 'x'.repeat(labelCharactersMaximum) })).to.deep.equal([]);
    expect(lines(labelViolations({ a: 'x'.repeat(labelCharactersMaximum + 1) }))).to.deep.equal([
      'labels[a]: must contain at most 63 characters',
    ]);
  });

  for (const [value, isAllowed] of [
    ['', true],
    ['a', true],
    ['A-b_c.9', true],
    ['abc-', false],
    ['-abc', false],
    ['a b', false],
    ['ü', false],
    ['a\n', false],
  ] as const) {
    it(`of a label ${isAllowed ? 'may' : 'may not'} be ${JSON.stringify(value)}, and those of an annotation may`, () => {
      const expected = isAllowed ? [] : ['labels[a]: Should contain only allowed symbols'];
      expect(lines(labelViolations({ a: value }))).to.deep.equal(expected);
      expect(annotationViolations({ a: value })).to.deep.equal([]);
    });
  }
});

describe('texts and lists of definitions', () => {
  it('may have the maximum length and not one more', () => {
    expect(lengthViolations('a', 'x'.repeat(nameCharactersMaximum))).to.deep.equal([]);
    expect(lines(lengthViolations('a', 'x'.repeat(nameCharactersMaximum + 1)))).to.deep.equal([
      'a: must contain at most 255 characters',
    ]);
    expect(countViolations('a', [1, 2], 2)).to.deep.equal([]);
    expect(lines(countViolations('a', [1, 2, 3], 2))).to.deep.equal(['a: must contain at most 2 elements']);
  });
});

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
