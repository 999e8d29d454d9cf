import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { AdditionalFields } from '../../../src/lending/additional-fields.ts';
import type { RequestedLoan } from '../../../src/lending/commands.ts';
import type {
  FieldDefinition,
  FieldDefinitions,
  FieldSetDefinition,
} from '../../../src/lending/custom-fields/definitions.ts';
import {
  accountFieldBytesMaximum,
  transactionFieldBytesMaximum,
} from '../../../src/lending/custom-fields/field-bytes.ts';
import { refusalsOfCustomFields } from '../../../src/lending/custom-fields/field-rules.ts';
import { withGroupIndexes } from '../../../src/lending/custom-fields/field-sets.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import {
  type AskedCommand,
  type Story,
  applyFee,
  approve,
  create,
  disburse,
  dynamicProduct,
  given,
  loanOf,
  money,
  nothingYet,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';
import { aField, defined } from './field-definitions.ts';

const loans: FieldSetDefinition = { id: '_loan', availableFor: 'LOAN_ACCOUNT', fieldSetType: 'STANDARD' };
const groups: FieldSetDefinition = { id: '_rows', availableFor: 'LOAN_ACCOUNT', fieldSetType: 'GROUPED' };
const cars: FieldSetDefinition = { id: '_car', availableFor: 'ASSET', fieldSetType: 'STANDARD' };
const payments: FieldSetDefinition = { id: '_pay', availableFor: 'TRANSACTION_TYPE', fieldSetType: 'STANDARD' };
const channels: FieldSetDefinition = { id: '_channel', availableFor: 'TRANSACTION_CHANNEL', fieldSetType: 'STANDARD' };
const required = [{ objectNames: null, isRequired: true }];
const definitions = defined(
  [loans, groups, cars, payments, channels],
  [
    aField('_loan', 'purpose', { limits: { maxLength: 5 } }),
    aField('_loan', 'score', { type: 'NUMBER' }),
    aField('_loan', 'old', { isActive: false }),
    aField('_loan', 'elsewhere', { usage: [{ objectNames: ['another'], isRequired: true }] }),
    aField('_rows', 'day', { type: 'DATE' }),
    aField('_car', 'age', { type: 'NUMBER' }),
    aField('_pay', 'reason', { usage: [{ objectNames: ['REPAYMENT'], isRequired: false }] }),
    aField('_channel', 'card', { usage: [{ objectNames: ['k', 'card'], isRequired: false }] }),
  ],
);
const needing = (setId: string, id: string): FieldDefinitions =>
  defined([loans, groups, payments], [aField(setId, id, { usage: required }), aField(setId, 'other')]);

const secured = product({ allowCollateral: true } as Parameters<typeof product>[0]);
const under = (customFields: FieldDefinitions, story: Story = nothingYet): Story => ({ ...story, customFields });
const opened = (additionalFields: AdditionalFields, customFields = definitions): Story =>
  when(under(customFields), { ...create(product()), additionalFields } as AskedCommand);
const active = (additionalFields: AdditionalFields = {}, of = product()): Story =>
  given({ ...create(of), additionalFields } as AskedCommand, approve, disburse('2011-01-23'));
const changed = (story: Story, additionalFields: AdditionalFields): Story => {
  const requested: RequestedLoan = { loanAmount: money(1000), additionalFields };
  return when(story, { type: 'UPDATE_LOAN', requested });
};

describe('custom fields of an account', () => {
  it('are all taken while no set is defined', () => {
    expect(reasons(opened({ _any: { thing: 'x' }, _rows: { no: 'group' } }, defined([])))).to.deep.equal([]);
  });

  it('are taken as they are defined, on the account, its groups and its securities', () => {
    const fields = { _loan: { purpose: 'CAR', score: '7.50' }, _rows: [{ day: '2026-01-31' }, { day: '2026-02-28' }] };
    expect(loanOf(opened(fields)).additionalFields).to.deep.equal(fields);
    const asset = { assetName: 'Car', amount: money(1), _car: { age: '3' } };
    const command = { ...create(secured), type: 'CREATE_LOAN', additionalFields: { assets: [asset] } } as never;
    expect(refusalsOfCustomFields(null, command, definitions)).to.deep.equal([]);
  });

  const refused: [title: string, fields: AdditionalFields, expected: string[]][] = [
    ['a set that is not defined', { _none: { a: '1' } }, ['INVALID_CUSTOM_FIELD_SET_ID _none']],
    ['a field that is not defined', { _loan: { none: '1' } }, ['INVALID_CUSTOM_FIELD_ID _loan.none']],
    ['a set of something else', { _pay: { reason: 'x' } }, ['CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY _pay']],
    [
      'a field of another product',
      { _loan: { elsewhere: 'x' } },
      ['CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY _loan.elsewhere'],
    ],
    ['an inactive field', { _loan: { old: 'x' } }, ['CUSTOM_FIELD_DEACTIVATED _loan.old']],
    ['a value of another type', { _loan: { score: 'x' } }, ['INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE _loan.score']],
    [
      'a value of a group',
      { _rows: [{ day: '2026-01-01' }, { day: 'x' }] },
      ['INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE _rows[1].day'],
    ],
    ['a list of a set that is not grouped', { _loan: [{ score: '1' }] }, ['INVALID_CUSTOM_FIELD_GROUP_INDEX _loan']],
    ['an object of a grouped set', { _rows: { day: '2026-01-01' } }, ['INVALID_CUSTOM_FIELD_GROUP_INDEX _rows']],
    [
      'every fault of several',
      { _loan: { purpose: 'HOUSES', score: '' }, _none: {} },
      [
        'INVALID_FIELD_LENGTH _loan.purpose',
        'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE _loan.score',
        'INVALID_CUSTOM_FIELD_SET_ID _none',
      ],
    ],
    [
      'those of the disbursement',
      { disbursementDetails: { _loan: { score: '1' } } },
      ['CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY disbursementDetails._loan'],
    ],
  ];
  for (const [title, fields, expected] of refused) {
    it(`are refused with their path: ${title}`, () => expect(reasons(opened(fields))).to.deep.equal(expected));
  }

  it('of a security are refused with its path', () => {
    const asset = { assetName: 'Car', amount: money(1), _car: { age: 'old' } };
    const command = {
      ...create(secured),
      additionalFields: { assets: [{ assetName: 'x', amount: money(1) }, asset] },
    } as never;
    expect(refusalsOfCustomFields(null, command, definitions)).to.deep.equal([
      { errorReason: 'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE', errorSource: 'assets[1]._car.age' },
    ]);
  });

  it('are missing where they are required: with the set and without it, and in each group', () => {
    const missing = ['REQUIRED_CUSTOM_FIELD_MISSING _loan.need'];
    const needed = needing('_loan', 'need');
    expect(reasons(opened({}, needed))).to.deep.equal(missing);
    expect(reasons(opened({ _loan: { other: 'x' } }, needed))).to.deep.equal(missing);
    expect(reasons(opened({ _loan: { need: 'x' } }, needed))).to.deep.equal([]);
    const inGroups = needing('_rows', 'need');
    expect(reasons(opened({}, inGroups))).to.deep.equal([]);
    expect(reasons(opened({ _rows: [{ need: 'x' }, { other: 'y' }] }, inGroups))).to.deep.equal([
      'REQUIRED_CUSTOM_FIELD_MISSING _rows[1].need',
    ]);
  });

  it('may not lose a value that is required, and accounts without it can be changed', () => {
    const needed = needing('_loan', 'need');
    const story = under(needed, active({ _loan: { need: 'x', other: 'y' } }));
    for (const fields of [{ _loan: { other: 'y' } }, {}]) {
      expect(reasons(changed(story, fields))).to.deep.equal(['REQUIRED_CUSTOM_FIELD_MISSING _loan.need']);
    }
    const without = under(needed, active({ _loan: { other: 'y' } }));
    expect(reasons(changed(without, { _loan: { other: 'z' } }))).to.deep.equal([]);
  });

  it('may stay as they are when their definitions change, and go, but not change', () => {
    const values = {
      _none: { a: '1' },
      _loan: { old: 'x', score: 'x', none: 'y' },
      _rows: [{ day: 'x' }, { day: 'y' }],
    };
    const story = under(definitions, active(values));
    expect(reasons(changed(story, { ...values, _loan: { ...values._loan, purpose: 'CAR' } }))).to.deep.equal([]);
    expect(reasons(changed(story, { _rows: [{ day: 'y' }] }))).to.deep.equal([]);
    expect(reasons(changed(story, { ...values, _loan: { ...values._loan, old: 'z' } }))).to.deep.equal([
      'CUSTOM_FIELD_DEACTIVATED _loan.old',
    ]);
  });

  it('that depend on each other are checked when either changes', () => {
    const options = [{ forValue: 'BMW', values: ['i3'] }];
    const make: FieldDefinition = aField('_loan', 'make');
    const model = aField('_loan', 'model', { type: 'SELECTION', dependsOn: 'make', selectionOptions: options });
    const story = under(defined([loans], [make, model]), active({ _loan: { make: 'BMW', model: 'i3' } }));
    expect(reasons(changed(story, { _loan: { make: 'VW', model: 'i3' } }))).to.deep.equal([
      'INVALID_DEPENDENT_CUSTOM_FIELD_VALUE _loan.model',
    ]);
    expect(reasons(changed(story, { _loan: { model: 'i3' } }))).to.deep.equal([
      'DEPENDENT_CUSTOM_FIELD_VALUE_REQUIRED _loan.model',
    ]);
  });

  it('change on an active account of every type, and show as they were set', () => {
    const value = fc.string({ minLength: 1, maxLength: 5 });
    const day = fc.constantFrom('2026-01-31', '2024-02-29', '1999-12-31');
    const fields = fc.record({
      _loan: fc.record({ purpose: value }),
      _rows: fc.array(fc.record({ day }), { minLength: 1, maxLength: 3 }),
    });
    const stories = [product(), dynamicProduct()].map((of) => under(definitions, active({}, of)));
    fc.assert(
      fc.property(fields, fc.nat(1), (wanted, index) => {
        const story = changed(stories[index] ?? nothingYet, wanted);
        expect(reasons(story)).to.deep.equal([]);
        expect(accountOf(loanOf(story))).to.deep.include(withGroupIndexes(wanted));
        expect(loanOf(changed(story, wanted)).additionalFields).to.deep.equal(loanOf(story).additionalFields);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('custom fields of a transaction', () => {
  const story = under(definitions, active());
  const repaid = (additionalFields: AdditionalFields, more: object = {}, of = story): string[] =>
    reasons(when(of, repay(10, '2011-02-01', { additionalFields, ...more })));

  it('are those of its type', () => {
    expect(repaid({ _pay: { reason: 'salary' } })).to.deep.equal([]);
    expect(
      reasons(when(story, applyFee(5, { installmentNumber: 1, additionalFields: { _pay: { reason: 'x' } } }))),
    ).to.deep.equal(['CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY _pay.reason']);
    expect(repaid({ _loan: { purpose: 'x' } })).to.deep.equal(['CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY _loan']);
  });

  it('and those of its channel, by its id or its key', () => {
    const fields = { _channel: { card: '1' } };
    for (const transactionDetails of [{ transactionChannelId: 'card' }, { transactionChannelKey: 'k' }]) {
      expect(repaid(fields, { transactionDetails })).to.deep.equal([]);
    }
    expect(repaid(fields)).to.deep.equal(['CUSTOM_FIELDS_NEED_CHANNEL_PROVIDED _channel']);
    expect(repaid(fields, { transactionDetails: { transactionChannelId: 'cash' } })).to.deep.equal([
      'CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY _channel.card',
    ]);
  });

  it('are missing where they are required, but not when the end of a day posts it', () => {
    const needed = under(needing('_pay', 'need'), active());
    expect(repaid({}, {}, needed)).to.deep.equal(['REQUIRED_CUSTOM_FIELD_MISSING _pay.need']);
    expect(repaid({}, { isSystemPosted: true }, needed)).to.deep.equal([]);
  });

  it('are not checked again when the transaction is posted again', () => {
    const before = when(
      under(definitions, active()),
      repay(10, '2011-02-10', { additionalFields: { _pay: { reason: 'x' } } }),
    );
    const now = under(defined([loans]), before);
    expect(reasons(when(now, repay(5, '2011-02-01')))).to.deep.equal([]);
  });
});

describe('the limit of the bytes of custom fields', () => {
  /** A set of as many bytes. */
  const setOf = (bytes: number): AdditionalFields => ({ _a: { b: 'x'.repeat(bytes - 3) } });

  it('of an account is met at the byte', () => {
    expect(reasons(opened(setOf(accountFieldBytesMaximum), defined([])))).to.deep.equal([]);
    expect(reasons(opened(setOf(accountFieldBytesMaximum + 1), defined([])))).to.deep.equal([
      'MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED _a',
    ]);
  });

  it('of an account that has more lets it shrink and stay, but not grow', () => {
    const story = under(defined([]), active(setOf(accountFieldBytesMaximum + 10)));
    for (const [more, expected] of [
      [9, []],
      [10, []],
      [11, ['MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED _a']],
    ] as const) {
      expect(reasons(changed(story, setOf(accountFieldBytesMaximum + more)))).to.deep.equal(expected);
    }
  });

  it('of a transaction is met at the byte', () => {
    const story = under(defined([]), active());
    const repaid = (bytes: number): string[] =>
      reasons(when(story, repay(10, '2011-02-01', { additionalFields: setOf(bytes) })));
    expect(repaid(transactionFieldBytesMaximum)).to.deep.equal([]);
    expect(repaid(transactionFieldBytesMaximum + 1)).to.deep.equal(['MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED _a']);
  });
});
