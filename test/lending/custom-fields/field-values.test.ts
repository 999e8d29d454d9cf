import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { FieldDefinition, FieldType, ValueLimits } from '../../../src/lending/custom-fields/definitions.ts';
import { faultOfValue } from '../../../src/lending/custom-fields/field-values.ts';
import { aField } from './field-definitions.ts';

const none = (): undefined => undefined;
const fault = (type: FieldType, text: string, limits: ValueLimits = {}): string | null =>
  faultOfValue(aField('_s', 'a', { type, limits }), text, none);

describe('the value of a custom field', () => {
  const forms: [type: FieldType, taken: string[], refused: string[]][] = [
    ['FREE_TEXT', ['x', '12', 'a b', '😀'], []],
    [
      'NUMBER',
      ['0', '-1.50', '12345678901234567890.123456789', '9'.repeat(40)],
      ['1e3', '1,5', 'x', '.5', '5.', ' 1', '9'.repeat(41)],
    ],
    ['CHECKBOX', ['TRUE', 'FALSE', 'true', 'False'], ['1', 'yes', 'TRUE ']],
    ['DATE', ['2026-02-28', '2024-02-29'], ['2026-02-29', '2026-2-1', '28-02-2026', '2026-02-28T00:00:00Z']],
    [
      'DATE_TIME',
      ['2026-02-28T12:00:00Z', '2026-02-28T23:59:59.5+01:00'],
      ['2026-02-28', '2026-02-29T12:00:00Z', '2026-02-28T24:00:00Z', '2026-02-28T12:00:00'],
    ],
  ];
  for (const [type, taken, refused] of forms) {
    it(`of type ${type}`, () => {
      for (const text of taken) expect(fault(type, text), text).to.equal(null);
      for (const text of refused) expect(fault(type, text), text).to.equal('INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE');
    });
  }

  it('that is a link is an encodedKey', () => {
    for (const type of ['CLIENT_LINK', 'GROUP_LINK', 'USER_LINK'] as const) {
      expect(fault(type, 'a'.repeat(32))).to.equal(null);
      for (const text of ['x', 'A'.repeat(32), 'a'.repeat(31)]) {
        expect(fault(type, text)).to.equal('INVALID_CUSTOM_FIELD_LINKED_ENTITY_KEY');
      }
    }
  });

  const limited: [
    title: string,
    type: FieldType,
    limits: ValueLimits,
    taken: string[],
    refused: string[],
    reason: string,
  ][] = [
    [
      'length',
      'FREE_TEXT',
      { minLength: 2, maxLength: 3 },
      ['ab', '😀😀', 'abc'],
      ['a', '😀', 'abcd'],
      'INVALID_FIELD_LENGTH',
    ],
    [
      'pattern',
      'FREE_TEXT',
      { validationPattern: '@@#-$' },
      ['ab1-2', 'Zz9-x'],
      ['ab1-', 'ab1-22', '1b1-2', 'ab1_2', 'éb1-2'],
      'INCONSISTENT_CUSTOM_FIELD_VALUE_WITH_PATTERN',
    ],
    [
      'value',
      'NUMBER',
      { minValue: '0.1', maxValue: '10' },
      ['0.1', '0.10', '10.000'],
      ['0.0999999999999999999999999', '10.0000000000000000000001', '-1'],
      'INVALID_PARAMETERS',
    ],
  ];
  for (const [title, type, limits, taken, refused, reason] of limited) {
    it(`is within the limits of its ${title}, exactly`, () => {
      for (const text of taken) expect(fault(type, text, limits), text).to.equal(null);
      for (const text of refused) expect(fault(type, text, limits), text).to.equal(reason);
    });
  }

  it('of a selection is one of its options', () => {
    const field = aField('_s', 'a', {
      type: 'SELECTION',
      selectionOptions: [{ forValue: null, values: ['CAR', 'BOAT'] }],
    });
    expect(faultOfValue(field, 'BOAT', none)).to.equal(null);
    expect(faultOfValue(field, 'boat', none)).to.equal('INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE');
  });

  it('of a selection that depends on another one is an option for its value', () => {
    const model: FieldDefinition = aField('_s', 'model', {
      type: 'SELECTION',
      dependsOn: 'make',
      selectionOptions: [
        { forValue: 'BMW', values: ['i3', 'same'] },
        { forValue: 'VW', values: ['Golf', 'same'] },
      ],
    });
    const of = (make: string | undefined, text: string) =>
      faultOfValue(model, text, (id) => (id === 'make' ? make : undefined));
    expect([of('BMW', 'i3'), of('BMW', 'same'), of('VW', 'same')]).to.deep.equal([null, null, null]);
    expect(of('VW', 'i3')).to.equal('INVALID_DEPENDENT_CUSTOM_FIELD_VALUE');
    expect(of(undefined, 'i3')).to.equal('DEPENDENT_CUSTOM_FIELD_VALUE_REQUIRED');
  });

  it('that is a number of up to forty digits is taken, as exactly as it is written', () => {
    const digits = fc.stringMatching(/^\d{1,40}$/);
    fc.assert(
      fc.property(fc.constantFrom('', '-'), digits, fc.option(digits), (sign, whole, part) => {
        const text = `${sign}${whole}${part === null ? '' : `.${part}`}`;
        expect(fault('NUMBER', text, { minValue: text, maxValue: text })).to.equal(null);
      }),
      { numRuns: 1_000 },
    );
  });
});
