import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  type CustomFieldFields,
  type FieldReferences,
  isFieldId,
  isFieldSetId,
  readCustomFieldFields,
  readFieldSetFields,
  valueFor,
} from '../../../src/lending-format/custom-fields/custom-field-payload.ts';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import { readDefinition } from '../../../src/lending-format/payloads/definition-payload.ts';

const displaySettings = { displayName: 'Shown' };
const noBranch = (): boolean => false;
const option = (...values: string[]) => ({
  availableOptions: values.map((value) => ({ value, selectionKey: `key-${value}` })),
});

function references(more: Partial<FieldReferences> = {}): FieldReferences {
  return {
    set: { id: '_s', availableFor: 'LOAN_ACCOUNT' },
    namesOfProduct: (idOrKey) => (idOrKey === 'house' ? ['house', 'k'] : undefined),
    namesOfChannel: (idOrKey) => (idOrKey === 'cash' ? ['cash', 'c'] : undefined),
    selection: (idOrKey) =>
      idOrKey === 'make' ? make : idOrKey === 'text' ? { ...make, type: 'FREE_TEXT' } : undefined,
    dependsOnThis: () => false,
    ...more,
  };
}

/** What a field is read as, or what is refused of it. */
function field(body: object, more: Partial<FieldReferences> = {}): CustomFieldFields | (string | null)[] {
  const exact = readExactObject(JSON.stringify({ id: 'f', displaySettings, ...body }));
  const read = readDefinition(
    exact,
    undefined,
    (reader) => readCustomFieldFields(reader, references(more)),
    noBranch,
    isFieldId,
  );
  return 'refusals' in read ? read.refusals.map(({ errorSource }) => errorSource) : read.fields;
}

function set(body: object, before?: ReturnType<typeof readFieldSetFields>): unknown {
  const exact = readExactObject(JSON.stringify({ id: '_s', displaySettings, ...body }));
  const read = readDefinition(exact, undefined, (reader) => readFieldSetFields(reader, before), noBranch, isFieldSetId);
  return 'refusals' in read ? read.refusals.map(({ errorSource }) => errorSource) : read.fields;
}

const make: CustomFieldFields = {
  setId: '_s',
  availableFor: 'LOAN_ACCOUNT',
  type: 'SELECTION',
  state: 'ACTIVE',
  displaySettings: { displayName: 'Make', fieldSize: 'SHORT', position: 0 },
  usage: [],
  valueValidationSettings: {},
  selectionOptions: [option('BMW', 'VW')],
};

describe('the ids of custom fields', () => {
  it('of a set begin with an underscore, and can stand in a path', () => {
    for (const id of ['_a', '_Loan-Details_2', `_${'x'.repeat(64)}`]) expect(isFieldSetId(id), id).to.equal(true);
    for (const id of [undefined, '', '_', 'a', '_a b', '_a.b', '_a/b', '__proto__', `_${'x'.repeat(65)}`]) {
      expect(isFieldSetId(id), id).to.equal(false);
    }
  });

  it('of a field are no encodedKey and no index of a group', () => {
    for (const id of ['a', 'asset_age', 'x'.repeat(64)]) expect(isFieldId(id), id).to.equal(true);
    for (const id of [undefined, '', 'a b', 'a.b', '_index', '__proto__', 'a'.repeat(32), 'x'.repeat(65)]) {
      expect(isFieldId(id), id).to.equal(false);
    }
  });
});

describe('a requested set of custom fields', () => {
  it('is no grouped one by default, and may be sent back as it was answered', () => {
    const answered = { encodedKey: 'k', creationDate: 'x', customFields: [{ id: 'f' }] };
    const display = { ...displaySettings, position: 2, builtIn: false };
    expect(set({ availableFor: 'ASSET', displaySettings: display, ...answered })).to.deep.equal({
      availableFor: 'ASSET',
      fieldSetType: 'STANDARD',
      displaySettings: { displayName: 'Shown', position: 2 },
    });
  });

  it('stays what it is for, and grouped or not, once it has fields', () => {
    const before = {
      availableFor: 'ASSET',
      fieldSetType: 'GROUPED',
      displaySettings: { displayName: 'x', position: 0 },
    } as const;
    expect(set({ availableFor: 'LOAN_ACCOUNT', fieldSetType: 'STANDARD' }, before)).to.deep.equal([
      'availableFor',
      'fieldSetType',
    ]);
    expect(set({ availableFor: 'ASSET' }, before)).to.have.property('fieldSetType', 'GROUPED');
  });

  it('is refused with the path of each fault', () => {
    expect(set({ id: 's', availableFor: 'CLIENT', displaySettings: { builtIn: true }, more: 1 })).to.have.members([
      'id',
      'availableFor',
      'displaySettings.builtIn',
      'displaySettings.displayName',
      'more',
    ]);
  });
});

describe('a requested custom field', () => {
  it('is an active one of its set that may stand everywhere by default', () => {
    expect(field({ type: 'DATE' })).to.deep.equal({
      setId: '_s',
      availableFor: 'LOAN_ACCOUNT',
      type: 'DATE',
      state: 'ACTIVE',
      displaySettings: { displayName: 'Shown', fieldSize: 'SHORT', position: 0 },
      usage: [],
      valueValidationSettings: {},
      selectionOptions: [],
    });
  });

  it('knows the id and the key of what it is used for', () => {
    const usage = (objectKey: string, availableFor: 'LOAN_ACCOUNT' | 'TRANSACTION_CHANNEL' | 'TRANSACTION_TYPE') => {
      const read = field(
        { type: 'DATE', usage: [{ objectKey, required: 'true' }] },
        { set: { id: '_s', availableFor } },
      );
      return Array.isArray(read) ? read : read.usage;
    };
    const found = (objectKey: string, ...objectNames: string[]) => [
      { objectKey, objectNames, required: true, default: false },
    ];
    expect(usage('house', 'LOAN_ACCOUNT')).to.deep.equal(found('house', 'house', 'k'));
    expect(usage('cash', 'TRANSACTION_CHANNEL')).to.deep.equal(found('cash', 'cash', 'c'));
    expect(usage('REPAYMENT', 'TRANSACTION_TYPE')).to.deep.equal(found('REPAYMENT', 'REPAYMENT'));
    for (const kind of ['LOAN_ACCOUNT', 'TRANSACTION_CHANNEL', 'TRANSACTION_TYPE'] as const) {
      expect(usage('unknown', kind)).to.deep.equal(['usage[0].objectKey']);
    }
    expect(field({ type: 'DATE', usage: [{ required: true }] })).to.have.deep.property('usage', [
      { required: true, default: false },
    ]);
  });

  const refused: [title: string, body: object, expected: string[], more?: Partial<FieldReferences>][] = [
    ['without a type', {}, ['type']],
    ['of something else than its set', { type: 'DATE', availableFor: 'ASSET' }, ['availableFor']],
    ['of another type than before', { type: 'DATE' }, ['type'], { before: make }],
    [
      'that must be unique',
      { type: 'FREE_TEXT', valueValidationSettings: { unique: true } },
      ['valueValidationSettings.unique'],
    ],
    [
      'with a pattern that is no text',
      { type: 'DATE', valueValidationSettings: { validationPattern: '#' } },
      ['valueValidationSettings.validationPattern'],
    ],
    [
      'with lengths of a number',
      { type: 'NUMBER', valueValidationSettings: { maxLength: 3 } },
      ['valueValidationSettings.maxLength'],
    ],
    [
      'with limits that cross',
      { type: 'NUMBER', valueValidationSettings: { minValue: '1.01', maxValue: 1 } },
      ['valueValidationSettings.maxValue'],
    ],
    [
      'with lengths that cross',
      { type: 'FREE_TEXT', valueValidationSettings: { minLength: 3, maxLength: 2 } },
      ['valueValidationSettings.maxLength'],
    ],
    [
      'with rights of some users',
      { type: 'DATE', viewRights: { allUsers: false, roles: ['x'] } },
      ['viewRights.allUsers', 'viewRights.roles'],
    ],
    ['that is a selection without options', { type: 'SELECTION' }, ['selectionOptions']],
    ['that has options and is none', { type: 'DATE', selectionOptions: [option('a')] }, ['selectionOptions']],
    [
      'with two lists of options',
      { type: 'SELECTION', selectionOptions: [option('a'), option('b')] },
      ['selectionOptions'],
    ],
    [
      'with an empty list of options',
      { type: 'SELECTION', selectionOptions: [{ availableOptions: [] }] },
      ['selectionOptions[0].availableOptions'],
    ],
    [
      'with an option twice',
      { type: 'SELECTION', selectionOptions: [option('a', 'a')] },
      ['selectionOptions[0].availableOptions[1].value', 'selectionOptions[0].availableOptions[1].selectionKey'],
    ],
    [
      'with options for the value of no field',
      { type: 'SELECTION', selectionOptions: [{ forValue: 'BMW', ...option('a') }] },
      ['selectionOptions[0].forValue'],
    ],
    [
      'that depends on no selection',
      { type: 'SELECTION', dependentFieldKey: 'text', selectionOptions: [{ forValue: 'BMW', ...option('a') }] },
      ['dependentFieldKey'],
    ],
    [
      'that depends on itself',
      { type: 'SELECTION', dependentFieldKey: 'make', selectionOptions: [{ forValue: 'BMW', ...option('a') }] },
      ['dependentFieldKey'],
      { dependsOnThis: () => true },
    ],
    [
      'with options for a value that the other has not',
      { type: 'SELECTION', dependentFieldKey: 'make', selectionOptions: [{ forValue: 'Audi', ...option('a') }] },
      ['selectionOptions[0].forValue'],
    ],
    [
      'with options for a key that the other has not',
      { type: 'SELECTION', dependentFieldKey: 'make', selectionOptions: [{ forSelectionKey: 'no', ...option('a') }] },
      ['selectionOptions[0].forSelectionKey'],
    ],
  ];
  for (const [title, body, expected, more] of refused) {
    it(`is refused ${title}`, () => expect(field(body, more)).to.deep.equal(expected));
  }

  it('may have options for each value of another selection, by the value or its key', () => {
    const selectionOptions = [
      { forValue: 'BMW', availableOptions: [{ value: 'i3' }] },
      { forSelectionKey: 'key-VW', availableOptions: [{ value: 'Golf', score: 1.5 }] },
    ];
    const read = field({ type: 'SELECTION', dependentFieldKey: 'make', selectionOptions });
    expect(read).to.deep.include({ selectionOptions, dependentFieldKey: 'make' });
    expect(selectionOptions.map((options) => valueFor(options, make))).to.deep.equal(['BMW', 'VW']);
    expect(valueFor({ forValue: 'BMW', forSelectionKey: 'key-VW' }, make)).to.equal(undefined);
  });
});
