import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { FieldValue } from '../../../src/lending/additional-fields.ts';
import type { RequestedLoan } from '../../../src/lending/commands.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import {
  isLoanChange,
  isRefused,
  readLoanChange,
  requestedLoan,
} from '../../../src/lending-format/loan-changes/loan-changes.ts';
import { writeAccount } from '../../../src/lending-format/response-bodies.ts';
import {
  type AskedCommand,
  approve,
  create,
  disburse,
  dynamicProduct,
  given,
  loanOf,
  product,
} from '../../lending/loan-fixtures.ts';

const fields: Record<string, FieldValue> = {
  assignedBranchKey: 'b',
  _risk: { score: '7', grade: 'A' },
  _assets: [
    { asset_type: 'Land', asset_age: '1' },
    { asset_type: 'Car', asset_age: '2' },
  ],
  disbursementDetails: { _disb: { purpose: 'CAR' } },
};
const loan = loanOf(
  given(
    { ...create(product()), notes: 'old', additionalFields: fields } as AskedCommand,
    approve,
    disburse('2011-01-23'),
  ),
);

function requested(of: Loan, payload: object): RequestedLoan | string[] {
  const change = readLoanChange(readExactObject(JSON.stringify(payload)), 'L1');
  const result = isLoanChange(change) ? requestedLoan(of, change) : change;
  return isRefused(result) ? result.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource}`) : result;
}
const patched = (...operations: object[]): RequestedLoan | string[] => requested(loan, { operations });
const fieldsAfter = (...operations: object[]): Readonly<Record<string, unknown>> => {
  const result = patched(...operations);
  if (Array.isArray(result)) throw new Error(result.join());
  return result.additionalFields ?? {};
};

describe('the patch of an account', () => {
  const pathForms: [title: string, operation: object, expected: object][] = [
    ['a field of a set', { op: 'ADD', path: '/_risk/score', value: 8 }, { score: '8', grade: 'A' }],
    ['a field in lower case', { op: 'replace', path: '/_risk/score', value: '8' }, { score: '8', grade: 'A' }],
    ['a path without a slash', { op: 'add', path: '_risk/score', value: true }, { score: 'TRUE', grade: 'A' }],
    ['a whole set', { op: 'add', path: '_risk', value: { other: 1.5 } }, { other: '1.5' }],
    ['a field that goes', { op: 'REMOVE', path: '/_risk/grade' }, { score: '7' }],
  ];
  for (const [title, operation, expected] of pathForms) {
    it(`sets ${title}`, () => expect(fieldsAfter(operation)['_risk']).to.deep.equal(expected));
  }

  it('makes a set that was not there, and removes one', () => {
    const added = fieldsAfter({ op: 'add', path: '_PaymentArrangement', value: { LinkedLoanAccount: 'VZFT418' } });
    expect(added['_PaymentArrangement']).to.deep.equal({ LinkedLoanAccount: 'VZFT418' });
    expect(fieldsAfter({ op: 'REMOVE', path: '/_risk' })).not.to.have.property('_risk');
    expect(fieldsAfter({ op: 'ADD', path: '/disbursementDetails/_disb/purpose', value: 'BOAT' })).to.deep.include({
      disbursementDetails: { _disb: { purpose: 'BOAT' } },
    });
  });

  it('with an index that no group has is INVALID_CUSTOM_FIELD_GROUP_INDEX: 2 of two groups, -1, x, 1.5', () => {
    for (const index of ['2', '-1', 'x', '1.5', '01', '-']) {
      const path = `/_assets/${index}/asset_age`;
      expect(patched({ op: 'ADD', path, value: '5' })).to.deep.equal([`INVALID_CUSTOM_FIELD_GROUP_INDEX ${path}`]);
    }
    expect(patched({ op: 'ADD', path: '/_risk/0/score', value: '5' })).to.deep.equal([
      'INVALID_CUSTOM_FIELD_GROUP_INDEX /_risk/0/score',
    ]);
    expect(patched({ op: 'ADD', path: '/_none/0/score', value: '5' })).to.deep.equal([
      'INVALID_CUSTOM_FIELD_GROUP_INDEX /_none/0/score',
    ]);
  });

  it('replaces a field of a group, a whole group, and removes one', () => {
    const groups = (operation: object): unknown => fieldsAfter(operation)['_assets'];
    const [land, car] = [
      { asset_type: 'Land', asset_age: '1' },
      { asset_type: 'Car', asset_age: '2' },
    ];
    expect(groups({ op: 'REPLACE', path: '/_assets/1/asset_age', value: '3' })).to.deep.equal([
      land,
      { ...car, asset_age: '3' },
    ]);
    expect(groups({ op: 'REPLACE', path: '/_assets/0', value: { asset_type: 'House' } })).to.deep.equal([
      { asset_type: 'House' },
      car,
    ]);
    expect(groups({ op: 'REMOVE', path: '/_assets/0' })).to.deep.equal([car]);
  });

  it('appends groups to a grouped set, one or more, and chooses no index for a new one', () => {
    const house = { asset_type: 'House' };
    for (const value of [[house], house]) {
      const groups = fieldsAfter({ op: 'ADD', path: '/_assets', value })['_assets'] as unknown[];
      expect(groups).to.have.length(3);
      expect(groups[2]).to.deep.equal(house);
    }
    expect(patched({ op: 'ADD', path: '/_assets/0', value: house })).to.deep.equal([
      'INVALID_CUSTOM_FIELD_GROUP_INDEX /_assets/0',
    ]);
  });

  it('with an empty value is refused with its path', () => {
    for (const value of ['', null]) {
      expect(patched({ op: 'ADD', path: '/_risk/score', value })).to.deep.equal(['INVALID_PARAMETERS /_risk/score']);
    }
    expect(patched({ op: 'ADD', path: '/_risk', value: { score: '' } })).to.deep.equal([
      'INVALID_PARAMETERS _risk.score',
    ]);
  });

  it('of what only other commands change is LOAN_ACCOUNT_FIELD_NOT_EDITABLE', () => {
    for (const path of ['/accountState', '/id', '/balances/principalDue', '/disbursementDetails/disbursementDate']) {
      expect(patched({ op: 'REPLACE', path, value: 'x' })).to.deep.equal([`LOAN_ACCOUNT_FIELD_NOT_EDITABLE ${path}`]);
    }
    expect(patched({ op: 'REPLACE', path: '/productTypeKey', value: 'x' })).to.deep.equal([
      'LOAN_ACCOUNT_FIELD_NOT_EDITABLE productTypeKey',
    ]);
  });

  it('is done whole or not at all', () => {
    const good = { op: 'ADD', path: '/_risk/score', value: 8 };
    expect(patched(good, { op: 'REMOVE', path: '/none' })).to.deep.equal(['INVALID_PARAMETERS /none']);
    expect(patched(good, { op: 'ADD', path: '/nome', value: 'x' })).to.deep.equal(['INVALID_PARAMETERS nome']);
  });
});

describe('the body of an account', () => {
  const opened = [product(), dynamicProduct()].flatMap((of) => {
    const asked = {
      ...create(of),
      notes: 'old',
      accountHolderKey: 'c',
      accountHolderType: 'CLIENT',
      additionalFields: fields,
    };
    return [[], [approve], [approve, disburse('2011-01-23')]].map((more) =>
      loanOf(given(asked as AskedCommand, ...more)),
    );
  });

  it('is taken back as an answer gave it, with and without details, and keeps all details', () => {
    for (const of of opened) {
      for (const detailsLevel of ['BASIC', 'FULL'] as const) {
        const result = requested(of, { account: JSON.parse(writeAccount(of, detailsLevel)) });
        if (Array.isArray(result)) throw new Error(result.join());
        const { additionalFields, notes, loanAmount } = result;
        expect(additionalFields).to.deep.equal(fields);
        expect([notes, loanAmount.toFixed()]).to.deep.equal(['old', '1000']);
      }
    }
  });

  it('cannot ask for another state or mean another account', () => {
    const body = JSON.parse(writeAccount(loan)) as object;
    for (const [name, value] of [
      ['accountState', 'CLOSED'],
      ['encodedKey', 'f'.repeat(32)],
      ['productTypeKey', 'other'],
    ] as const) {
      expect(requested(loan, { account: { ...body, [name]: value } })).to.deep.equal([
        `LOAN_ACCOUNT_FIELD_NOT_EDITABLE ${name}`,
      ]);
    }
    expect(requested(loan, { account: { ...body, id: 'L2' } })).to.deep.equal(['INVALID_PARAMETERS id']);
  });
});
