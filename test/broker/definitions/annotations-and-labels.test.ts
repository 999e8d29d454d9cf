import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  annotationCharactersMaximum,
  annotationViolations,
  keyedEntriesMaximum,
  labelCharactersMaximum,
  labelViolations,
  type KeyedTexts,
} from '../../../src/broker/definitions/annotations-and-labels.ts';
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
      expect(annotationViolations({ [key]: 'x' }, [])).to.have.length(messages.length);
    });
  }

  it('begin at one more than the maximum number of keys', () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x']));
    const ofAnnotations = (texts: KeyedTexts | null) => annotationViolations(texts, []);
    for (const violationsOf of [ofAnnotations, labelViolations]) {
      expect(violationsOf(entries(keyedEntriesMaximum))).to.deep.equal([]);
      expect(violationsOf(entries(keyedEntriesMaximum + 1))).to.have.length(1);
      expect(violationsOf(null)).to.deep.equal([]);
    }
    expect(lines(labelViolations(entries(101)))).to.deep.equal(['labels: must contain at most 100 elements']);
  });
});

describe('the values of annotations and labels', () => {
  it('may have the maximum length and not one character more', () => {
    expect(annotationViolations({ a: 'ü'.repeat(annotationCharactersMaximum) }, [])).to.deep.equal([]);
    expect(lines(annotationViolations({ a: 'ü'.repeat(annotationCharactersMaximum + 1) }, []))).to.deep.equal([
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
      expect(annotationViolations({ a: value }, [])).to.deep.equal([]);
    });
  }
});

describe('an annotation with the prefix of this product', () => {
  const known = ['lendstream/one-setting', 'lendstream/another-setting'];
  const violationsOf = (key: string): string[] => lines(annotationViolations({ [key]: '1' }, known));

  it('has a meaning, or is refused with those that have one', () => {
    expect(violationsOf('lendstream/one-setting')).to.deep.equal([]);
    expect(violationsOf('lendstream/one-settings')).to.deep.equal([
      'annotations[lendstream/one-settings]: is not known: with the prefix lendstream/ there is lendstream/one-setting, lendstream/another-setting',
    ]);
  });

  it('is not one whose prefix only begins alike, or that has none', () => {
    for (const key of ['lendstream.example.org/setting', 'lendstream', 'other/lendstream']) {
      expect(violationsOf(key), key).to.deep.equal([]);
    }
  });
});
