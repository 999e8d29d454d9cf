import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { Condition, FieldKind } from '../../../src/accounts/queries/conditions.ts';
import { loanFields } from '../../../src/accounts/queries/loan-fields.ts';
import {
  criteriaMaximum,
  criterionValuesMaximum,
  fits,
  operatorNames,
  readCriteria,
} from '../../../src/accounts/queries/search-criteria.ts';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';

/** A field of each kind, and a value of it. */
const fields: Readonly<Record<FieldKind, readonly [field: string, value: string]>> = {
  text: ['loanName', 'Boat'],
  key: ['accountHolderKey', 'ann'],
  number: ['loanAmount', '7'],
  instant: ['creationDate', '2026-11-20'],
  day: ['firstRepaymentDate', '2026-11-20'],
  flag: ['wasRefinanced', 'true'],
};

const withoutValue = ['TODAY', 'THIS_WEEK', 'THIS_MONTH', 'THIS_YEAR', 'EMPTY', 'NOT_EMPTY'];

/** The conditions that are read, and the paths that are refused. */
function read(body: object): {
  readonly conditions: readonly Condition[];
  readonly refused: readonly (string | null)[];
  readonly reasons: readonly string[];
} {
  const refusals: Parameters<typeof readCriteria>[3] = [];
  const time = { zone: 'UTC', now: Date.parse('2026-11-20T12:00:00Z') };
  const { conditions } = readCriteria(readExactObject(JSON.stringify(body)), loanFields, time, refusals);
  const reasons = refusals.map(({ errorReason }) => errorReason);
  return { conditions, refused: refusals.map(({ errorSource }) => errorSource), reasons };
}

const criterion = (field: string, operator: string, rest: object = {}): object => ({
  filterCriteria: [{ field, operator, ...rest }],
});

describe('the criteria of a search', () => {
  for (const operator of operatorNames) {
    it(`take ${operator} for the kinds of field that it fits, and for no other one`, () => {
      for (const [kind, [field, sample]] of Object.entries(fields)) {
        const value = operator === 'LAST_DAYS' ? '7' : sample;
        const values = operator === 'IN' ? { values: [value] } : withoutValue.includes(operator) ? {} : { value };
        const { conditions, refused } = read(
          criterion(field, operator, operator === 'BETWEEN' ? { ...values, secondValue: value } : values),
        );
        const isFit = fits(operator, kind as FieldKind);
        expect(refused, field).to.deep.equal(isFit ? [] : ['filterCriteria[0].operator']);
        expect(conditions).to.have.length(isFit ? 1 : 0);
      }
    });
  }

  it('take operators in lower case, numbers and booleans as they are, and null as absent', () => {
    expect(
      read(criterion('loanAmount', 'more_than', { value: 7.5, secondValue: null, values: [] })).refused,
    ).to.deep.equal([]);
    expect(read(criterion('wasRefinanced', 'equals', { value: false })).refused).to.deep.equal([]);
    expect(read({ filterCriteria: null, sortingCriteria: null }).refused).to.deep.equal([]);
    expect(read(criterion('accountState', 'IN', { values: ['CLOSED', 'CLOSED_WRITTEN_OFF'] })).refused).to.deep.equal(
      [],
    );
  });

  it('keep every digit of a number', () => {
    const [exact, other] = ['123456789012.345', '123456789012.346'].map(
      (value) => read(criterion('loanAmount', 'EQUALS', { value })).conditions,
    );
    expect(exact).to.not.deep.equal(other);
    expect(exact).to.deep.equal(read(criterion('loanAmount', 'EQUALS', { value: '123456789012.34500' })).conditions);
  });

  it('have limits', () => {
    const many = (count: number): object[] =>
      Array.from({ length: count }, () => ({ field: 'id', operator: 'NOT_EMPTY' }));
    expect(read({ filterCriteria: many(criteriaMaximum) }).conditions).to.have.length(criteriaMaximum);
    const tooMany = read({ filterCriteria: many(criteriaMaximum + 1) });
    expect(tooMany).to.deep.include({ refused: ['filterCriteria'], reasons: ['MAX_NUMBER_OF_FILTERS_REACHED'] });
    const values = (count: number): object => ({ values: Array(count).fill('x') as string[] });
    expect(read(criterion('id', 'IN', values(criterionValuesMaximum))).refused).to.deep.equal([]);
    expect(read(criterion('id', 'IN', values(criterionValuesMaximum + 1))).refused).to.deep.equal([
      'filterCriteria[0].values',
    ]);
    const rows: [string, string, string, boolean][] = [
      ['id', 'EQUALS', 'x'.repeat(256), true],
      ['id', 'EQUALS', 'x'.repeat(257), false],
      ['creationDate', 'LAST_DAYS', '36500', true],
      ['creationDate', 'LAST_DAYS', '36501', false],
      ['creationDate', 'LAST_DAYS', '-1', false],
      ['loanAmount', 'EQUALS', '0.12345678901234', true],
      ['loanAmount', 'EQUALS', '0.0000000000000000000001', false],
      ['loanAmount', 'EQUALS', '1e15', false],
      ['loanAmount', 'EQUALS', 'Infinity', false],
      [`_${'s'.repeat(64)}.${'f'.repeat(64)}`, 'EQUALS', 'x', true],
    ];
    for (const [field, operator, value, isTaken] of rows) {
      const refused = isTaken ? [] : ['filterCriteria[0].value'];
      expect(read(criterion(field, operator, { value })).refused, value).to.deep.equal(refused);
    }
    expect(read(criterion(`_${'s'.repeat(65)}.f`, 'EMPTY')).refused).to.deep.equal(['filterCriteria[0].field']);
  });
});
