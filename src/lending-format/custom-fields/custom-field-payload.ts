import {
  type FieldType,
  type RecordType,
  fieldSetTypes,
  fieldTypes,
  recordTypes,
  typesWithFields,
} from '../../lending/custom-fields/definitions.ts';
import { groupIndexField } from '../../lending/custom-fields/field-sets.ts';
import { Decimal } from '../../lending/money.ts';
import { type FieldReader, present } from '../payloads/field-reader.ts';
import { hasEncodedKeyForm } from '../payloads/id-forms.ts';

/** What requests define of custom fields: sets and the fields in them, as plain JSON. */

/** A set, without its id. */
export interface FieldSetFields {
  readonly availableFor: RecordType;
  readonly fieldSetType: (typeof fieldSetTypes)[number];
  readonly description?: string;
  /** Whether its values say something of persons; absent when they do not. */
  readonly personalData?: true;
  readonly displaySettings: { readonly displayName: string; readonly position: number };
}

/** A field, without its id. */
export interface CustomFieldFields {
  /** The id of its set. */
  readonly setId: string;
  readonly availableFor: RecordType;
  readonly type: FieldType;
  readonly state: 'ACTIVE' | 'INACTIVE';
  readonly displaySettings: {
    readonly displayName: string;
    readonly description?: string;
    readonly fieldSize: 'SHORT' | 'LONG';
    readonly position: number;
  };
  readonly usage: readonly StoredUsage[];
  readonly valueValidationSettings: ValidationSettings;
  readonly selectionOptions: readonly StoredSelectionOptions[];
  readonly dependentFieldKey?: string;
}

export interface StoredUsage {
  readonly objectKey?: string;
  /** Every name of the object: its id and its encodedKey. */
  readonly objectNames?: readonly string[];
  readonly required: boolean;
  readonly default: boolean;
}

/** Lengths are characters; values are exact decimals as texts. */
export interface ValidationSettings {
  readonly validationPattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minValue?: string;
  readonly maxValue?: string;
}

export interface StoredSelectionOptions {
  readonly forSelectionKey?: string;
  readonly forValue?: string;
  readonly availableOptions: readonly StoredOption[];
}

interface StoredOption {
  readonly value: string;
  readonly selectionKey?: string;
  readonly score?: number;
}

/** The form of the id of a set: searches name a field as `_set.field`, paths of a patch as `/_set/field`. */
const setIdForm = /^_[A-Za-z0-9_-]{1,64}$/;
const fieldIdForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text may be the id of a new set. */
export function isFieldSetId(id: string | undefined): boolean {
  return id !== undefined && setIdForm.test(id) && id !== '__proto__';
}

/** Whether a text may be the id of a new field. */
export function isFieldId(id: string | undefined): boolean {
  return (
    id !== undefined && fieldIdForm.test(id) && !hasEncodedKeyForm(id) && !['__proto__', groupIndexField].includes(id)
  );
}

/**
 * Reads a set. What it is available for and whether it is grouped cannot change: its values stand at their places.
 * @param before The set as it is; undefined for a new one.
 */
export function readFieldSetFields(reader: FieldReader, before?: FieldSetFields): FieldSetFields {
  // A response lists the fields of the set, which have requests of their own.
  reader.ignore('customFields');
  const availableFor = reader.require('availableFor', reader.choice('availableFor', recordTypes)) ?? 'LOAN_ACCOUNT';
  const fieldSetType = reader.choice('fieldSetType', fieldSetTypes) ?? before?.fieldSetType ?? 'STANDARD';
  if (before !== undefined && before.availableFor !== availableFor) reader.refuse('availableFor');
  if (before !== undefined && before.fieldSetType !== fieldSetType) reader.refuse('fieldSetType');
  const display = reader.object('displaySettings');
  display.keepOnly('builtIn', false);
  return {
    availableFor,
    fieldSetType,
    ...present({ description: reader.notes('description') }),
    ...(reader.flag('personalData') === true ? { personalData: true } : {}),
    displaySettings: {
      displayName: display.require('displayName', display.text('displayName')) ?? '',
      position: display.count('position') ?? 0,
    },
  };
}

/** What a field may refer to. */
export interface FieldReferences {
  /** The set that the field is in. */
  readonly set: { readonly id: string; readonly availableFor: RecordType };
  /** The id and the encodedKey of a product, or of a transaction channel; undefined when there is none. */
  readonly namesOfProduct: (idOrKey: string) => readonly string[] | undefined;
  readonly namesOfChannel: (idOrKey: string) => readonly string[] | undefined;
  /** Another selection of the set; undefined when it has none with this id or encodedKey. */
  readonly selection: (idOrKey: string) => CustomFieldFields | undefined;
  /** Whether a selection depends on this field, itself or by way of others. */
  readonly dependsOnThis: (idOrKey: string) => boolean;
  /** The field as it is; undefined for a new one. */
  readonly before?: CustomFieldFields;
}

/** Reads a field. Its type cannot change, as the values that accounts have would be misread. */
export function readCustomFieldFields(reader: FieldReader, references: FieldReferences): CustomFieldFields {
  const { set, before } = references;
  const sentFor = reader.choice('availableFor', recordTypes);
  if (sentFor !== undefined && sentFor !== set.availableFor) reader.refuse('availableFor');
  const type = reader.require('type', reader.choice('type', fieldTypes)) ?? 'FREE_TEXT';
  if (before !== undefined && before.type !== type) reader.refuse('type');
  readRights(reader);
  const display = reader.object('displaySettings');
  return {
    setId: set.id,
    availableFor: set.availableFor,
    type,
    state: reader.choice('state', ['ACTIVE', 'INACTIVE']) ?? 'ACTIVE',
    displaySettings: {
      displayName: display.require('displayName', display.text('displayName')) ?? '',
      ...present({ description: display.notes('description') }),
      fieldSize: display.choice('fieldSize', ['SHORT', 'LONG']) ?? 'SHORT',
      position: display.count('position') ?? 0,
    },
    usage: readUsage(reader, references),
    valueValidationSettings: readValidation(reader.object('valueValidationSettings'), type),
    ...readSelection(reader, type, references),
  };
}

/** Any client with a key may see and change every field. */
function readRights(reader: FieldReader): void {
  for (const name of ['viewRights', 'editRights']) {
    const rights = reader.object(name);
    rights.keepOnly('allUsers', true);
    rights.keepEmpty('roles');
  }
}

function readUsage(reader: FieldReader, references: FieldReferences): readonly StoredUsage[] {
  return reader.objects('usage').map((usage) => {
    const objectKey = usage.text('objectKey');
    const objectNames = objectKey === undefined ? undefined : namesOf(objectKey, references);
    if (objectKey !== undefined && objectNames === undefined) usage.refuse('objectKey');
    return {
      ...present({ objectKey, objectNames }),
      required: usage.flag('required') ?? false,
      default: usage.flag('default') ?? false,
    };
  });
}

function namesOf(
  objectKey: string,
  { set, namesOfProduct, namesOfChannel }: FieldReferences,
): readonly string[] | undefined {
  if (set.availableFor === 'TRANSACTION_CHANNEL') return namesOfChannel(objectKey);
  if (set.availableFor !== 'TRANSACTION_TYPE') return namesOfProduct(objectKey);
  return (typesWithFields as readonly string[]).includes(objectKey) ? [objectKey] : undefined;
}

function readValidation(reader: FieldReader, type: FieldType): ValidationSettings {
  // No process sees the values of all accounts when it decides about one.
  reader.keepOnly('unique', false);
  const isText = type === 'FREE_TEXT';
  const settings = present({
    validationPattern: isText ? reader.text('validationPattern') : undefined,
    minLength: isText ? reader.count('minLength') : undefined,
    maxLength: isText ? reader.count('maxLength') : undefined,
    minValue: type === 'NUMBER' ? reader.decimal('minValue')?.toFixed() : undefined,
    maxValue: type === 'NUMBER' ? reader.decimal('maxValue')?.toFixed() : undefined,
  });
  const { minLength, maxLength, minValue, maxValue } = settings;
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) reader.refuse('maxLength');
  if (minValue !== undefined && maxValue !== undefined && new Decimal(minValue).greaterThan(maxValue)) {
    reader.refuse('maxValue');
  }
  return settings;
}

function readSelection(
  reader: FieldReader,
  type: FieldType,
  references: FieldReferences,
): Pick<CustomFieldFields, 'selectionOptions' | 'dependentFieldKey'> {
  const dependentFieldKey = reader.text('dependentFieldKey');
  const parent = dependentFieldKey === undefined ? undefined : references.selection(dependentFieldKey);
  const isUsable = parent?.type === 'SELECTION' && type === 'SELECTION';
  if (dependentFieldKey !== undefined && (!isUsable || references.dependsOnThis(dependentFieldKey))) {
    reader.refuse('dependentFieldKey');
  }
  const keys = new Set<string>();
  const readers = reader.objects('selectionOptions');
  const selectionOptions = readers.map((options) => {
    const forSelectionKey = options.text('forSelectionKey');
    const forValue = options.text('forValue');
    const read = present({ forSelectionKey, forValue });
    if (parent === undefined) {
      for (const name of Object.keys(read)) options.refuse(name);
    } else if (valueFor(read, parent) === undefined) {
      options.refuse(forSelectionKey === undefined ? 'forValue' : 'forSelectionKey');
    }
    return { ...read, availableOptions: readOptions(options, keys) };
  });
  // Without a field that it depends on, a selection has one list of options.
  const isCountRight = parent === undefined ? selectionOptions.length === 1 : selectionOptions.length > 0;
  if (type === 'SELECTION' ? !isCountRight : selectionOptions.length > 0) reader.refuse('selectionOptions');
  return { selectionOptions, ...present({ dependentFieldKey }) };
}

function readOptions(reader: FieldReader, keys: Set<string>): readonly StoredOption[] {
  const values = new Set<string>();
  const options = reader.objects('availableOptions').map((option) => {
    const value = option.require('value', option.text('value')) ?? '';
    const selectionKey = option.text('selectionKey');
    if (values.has(value)) option.refuse('value');
    if (selectionKey !== undefined && keys.has(selectionKey)) option.refuse('selectionKey');
    values.add(value);
    if (selectionKey !== undefined) keys.add(selectionKey);
    return { value, ...present({ selectionKey, score: option.decimal('score')?.toNumber() }) };
  });
  if (options.length === 0) reader.refuse('availableOptions');
  return options;
}

/** The value of the other selection that a list of options is for; undefined when that has no such option. */
export function valueFor(
  { forSelectionKey, forValue }: Pick<StoredSelectionOptions, 'forSelectionKey' | 'forValue'>,
  { selectionOptions }: CustomFieldFields,
): string | undefined {
  const options = selectionOptions.flatMap(({ availableOptions }) => availableOptions);
  const found = options.find(({ value, selectionKey }) =>
    forSelectionKey === undefined ? value === forValue : selectionKey === forSelectionKey,
  );
  return forValue === undefined || found?.value === forValue ? found?.value : undefined;
}
