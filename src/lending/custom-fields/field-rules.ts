/**
 * The rules of custom fields. In: the fields that a record has and is to have, and the definitions. Out: refusals with
 * the path of each field. Only what a command changes is checked: a definition that changes later does not keep an
 * account from being paid, and a value that it has may stay.
 */

import { type AdditionalFields, type FieldValue, noAdditionalFields } from '../additional-fields.ts';
import type { LoanCommand } from '../commands.ts';
import type { Loan } from '../loan.ts';
import type { LoanProduct } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';
import {
  type FieldDefinition,
  type FieldDefinitions,
  type FieldSetDefinition,
  type RecordNames,
  type RecordType,
  postedTypes,
  usageOn,
} from './definitions.ts';
import { accountFieldBytesMaximum, customFieldBytes, transactionFieldBytesMaximum } from './field-bytes.ts';
import { fieldSetsOf } from './field-sets.ts';
import { faultOfValue } from './field-values.ts';

/** The most refusals of one command that are about its custom fields. */
const refusalsMaximum = 50;

/**
 * The refusals of the custom fields that a command sends, or leaves out where they are required. Empty for a command
 * that the end of a day posted: no person can complete it.
 *
 * - INVALID_CUSTOM_FIELD_SET_ID, INVALID_CUSTOM_FIELD_ID: not defined, where any set is
 * - CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY: not for this kind of record, or not for its product, type or channel
 * - CUSTOM_FIELDS_NEED_CHANNEL_PROVIDED: fields of a channel, on a transaction without one
 * - INVALID_CUSTOM_FIELD_GROUP_INDEX: a list for a set that is not grouped, or an object for one that is
 * - CUSTOM_FIELD_DEACTIVATED: the field is inactive
 * - REQUIRED_CUSTOM_FIELD_MISSING
 * - MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED: more bytes than an account or a transaction may have
 * - those of {@link faultOfValue}
 *
 * @param loan Null for a command that opens an account.
 */
export function refusalsOfCustomFields(
  loan: Loan | null,
  command: LoanCommand,
  definitions: FieldDefinitions,
): readonly Refusal[] {
  if (command.isSystemPosted === true) return [];
  if (command.type === 'CREATE_LOAN') {
    if (command.product === null) return [];
    return refusalsOfAccount(noAdditionalFields, command.additionalFields, command.product, definitions, true);
  }
  if (loan === null) return [];
  if (command.type === 'UPDATE_LOAN') {
    return refusalsOfAccount(
      loan.additionalFields,
      command.requested.additionalFields,
      loan.product,
      definitions,
      false,
    );
  }
  return isPosting(command) ? refusalsOfTransaction(command, definitions) : [];
}

type PostingCommand = Extract<LoanCommand, { readonly type: keyof typeof postedTypes }>;

function isPosting(command: LoanCommand): command is PostingCommand {
  return Object.hasOwn(postedTypes, command.type);
}

function refusalsOfAccount(
  before: AdditionalFields,
  after: AdditionalFields = noAdditionalFields,
  product: LoanProduct,
  definitions: FieldDefinitions,
  isNew: boolean,
): readonly Refusal[] {
  const check = new FieldCheck(definitions);
  const bytes = customFieldBytes(after);
  // An account that has more already may be changed, as long as it does not grow.
  check.limitBytes(after, bytes > accountFieldBytesMaximum && bytes > customFieldBytes(before));
  if (!definitions.hasSets) return check.refusals;
  const ofProduct = [product.id, product.encodedKey];
  const account = { LOAN_ACCOUNT: ofProduct };
  check.record(before, after, account, '');
  if (isNew) check.requireAll(after, account, '');
  const [detailsBefore, details] = [fieldsAt(before, 'disbursementDetails'), fieldsAt(after, 'disbursementDetails')];
  const { transactionChannelId, transactionChannelKey } = fieldsAt(details, 'transactionDetails');
  const disbursement = {
    TRANSACTION_TYPE: postedTypes.DISBURSE,
    TRANSACTION_CHANNEL: textsOf(transactionChannelId, transactionChannelKey),
  };
  check.record(detailsBefore, details, disbursement, 'disbursementDetails.');
  for (const [list, recordType] of [
    ['assets', 'ASSET'],
    ['guarantors', 'GUARANTOR'],
  ] as const) {
    const securitiesBefore = listAt(before, list);
    for (const [index, security] of listAt(after, list).entries()) {
      const was = securitiesBefore[index];
      const names = { [recordType]: ofProduct };
      check.record(was ?? noAdditionalFields, security, names, `${list}[${index}].`);
      if (was === undefined) check.requireAll(security, names, `${list}[${index}].`);
    }
  }
  return check.refusals;
}

function refusalsOfTransaction(command: PostingCommand, definitions: FieldDefinitions): readonly Refusal[] {
  const { additionalFields = noAdditionalFields, transactionDetails } = command;
  const check = new FieldCheck(definitions);
  check.limitBytes(additionalFields, customFieldBytes(additionalFields) > transactionFieldBytesMaximum);
  if (!definitions.hasSets) return check.refusals;
  const names = {
    TRANSACTION_TYPE: postedTypes[command.type],
    TRANSACTION_CHANNEL: textsOf(transactionDetails?.transactionChannelId, transactionDetails?.transactionChannelKey),
  };
  check.record(noAdditionalFields, additionalFields, names, '');
  check.requireAll(additionalFields, names, '');
  return check.refusals;
}

/** Collects the refusals of one command. */
class FieldCheck {
  readonly #definitions: FieldDefinitions;
  readonly #refusals: Refusal[] = [];

  constructor(definitions: FieldDefinitions) {
    this.#definitions = definitions;
  }

  get refusals(): readonly Refusal[] {
    return this.#refusals.slice(0, refusalsMaximum);
  }

  limitBytes(fields: AdditionalFields, isTooLarge: boolean): void {
    if (isTooLarge) this.#refuse('MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED', fieldSetsOf(fields)[0]?.[0] ?? null);
  }

  /**
   * Checks the sets of a record that are not as they were.
   * @param path Where the record is, with the separator behind it.
   */
  record(before: AdditionalFields, after: AdditionalFields, names: RecordNames, path: string): void {
    const was = new Map(fieldSetsOf(before));
    for (const [setId, values] of fieldSetsOf(after)) {
      const valuesBefore = was.get(setId);
      was.delete(setId);
      if (!isSame(valuesBefore, values)) this.#set(setId, valuesBefore, values, names, path);
    }
    for (const [setId, values] of was) this.#removed(setId, values, names, path);
  }

  /** Checks that a new record has every field that it must have. Those of a grouped set are checked in each group. */
  requireAll(after: AdditionalFields, names: RecordNames, path: string): void {
    for (const [recordType, objectNames] of Object.entries(names) as [RecordType, readonly string[]][]) {
      for (const field of this.#definitions.requiredFor(recordType)) {
        const isSent = Object.hasOwn(after, field.setId);
        const isGrouped = this.#definitions.set(field.setId)?.fieldSetType === 'GROUPED';
        // The fields of a set that was sent are checked with it.
        if (!isSent && !isGrouped) this.#require(field, objectNames, undefined, `${path}${field.setId}`);
      }
    }
  }

  #set(setId: string, before: FieldValue | undefined, after: FieldValue, names: RecordNames, path: string): void {
    const source = `${path}${setId}`;
    const set = this.#definitions.set(setId);
    if (set === undefined) return this.#refuse('INVALID_CUSTOM_FIELD_SET_ID', source);
    const objectNames = names[set.availableFor];
    if (objectNames === undefined) return this.#refuse('CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY', source);
    if (set.availableFor === 'TRANSACTION_CHANNEL' && objectNames.length === 0) {
      return this.#refuse('CUSTOM_FIELDS_NEED_CHANNEL_PROVIDED', source);
    }
    if ((set.fieldSetType === 'GROUPED') !== isList(after)) {
      return this.#refuse('INVALID_CUSTOM_FIELD_GROUP_INDEX', source);
    }
    if (!isList(after)) return this.#fields(set, isList(before) ? undefined : before, after, objectNames, source);
    const groupsBefore = isList(before) ? before : [];
    for (const [index, group] of after.entries()) {
      // Groups move up when one before them is removed.
      if (groupsBefore.some((known) => isSame(known, group))) continue;
      this.#fields(set, groupsBefore[index], group, objectNames, `${source}[${index}]`);
    }
  }

  /** Checks what differs between the fields of a set, or of one of its groups, before and after. */
  #fields(
    set: FieldSetDefinition,
    before: FieldValue | undefined,
    after: FieldValue,
    objectNames: readonly string[],
    source: string,
  ): void {
    const [was, will] = [valuesOf(before), valuesOf(after)];
    for (const [id, text] of will) this.#field(set, id, text, was, will, objectNames, `${source}.${id}`);
    for (const field of this.#definitions.requiredFor(set.availableFor)) {
      const isCalledFor = before === undefined || was.has(field.id);
      if (field.setId === set.id && isCalledFor) this.#require(field, objectNames, will, source);
    }
  }

  #field(
    set: FieldSetDefinition,
    id: string,
    text: string,
    was: ReadonlyMap<string, string>,
    will: ReadonlyMap<string, string>,
    objectNames: readonly string[],
    source: string,
  ): void {
    const field = this.#definitions.field(set.id, id);
    const dependsOn = field?.dependsOn ?? null;
    const isParentSame = dependsOn === null || was.get(dependsOn) === will.get(dependsOn);
    if (was.get(id) === text && isParentSame) return;
    if (field === undefined) return this.#refuse('INVALID_CUSTOM_FIELD_ID', source);
    if (!field.isActive) return this.#refuse('CUSTOM_FIELD_DEACTIVATED', source);
    if (usageOn(field, objectNames) === undefined) {
      return this.#refuse('CUSTOM_FIELD_NOT_AVAILABLE_FOR_ENTITY', source);
    }
    const fault = faultOfValue(field, text, (other) => will.get(other));
    if (fault !== null) this.#refuse(fault, source);
  }

  /** A set that goes: fields that the record must have may not go with it. */
  #removed(setId: string, before: FieldValue, names: RecordNames, path: string): void {
    const set = this.#definitions.set(setId);
    if (set === undefined || set.fieldSetType === 'GROUPED') return;
    const was = valuesOf(before);
    for (const field of this.#definitions.requiredFor(set.availableFor)) {
      if (field.setId !== setId || !was.has(field.id)) continue;
      this.#require(field, names[set.availableFor] ?? [], undefined, `${path}${setId}`);
    }
  }

  #require(
    field: FieldDefinition,
    objectNames: readonly string[],
    values: ReadonlyMap<string, string> | undefined,
    source: string,
  ): void {
    const isRequired = field.isActive && usageOn(field, objectNames)?.isRequired === true;
    if (isRequired && values?.has(field.id) !== true) {
      this.#refuse('REQUIRED_CUSTOM_FIELD_MISSING', `${source}.${field.id}`);
    }
  }

  #refuse(errorReason: Refusal['errorReason'], source: string | null): void {
    this.#refusals.push(refusal(errorReason, source));
  }
}

/** The values of a set or a group, which are texts. */
function valuesOf(fields: FieldValue | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries((fields ?? {}) as Readonly<Record<string, string>>));
}

function textsOf(...values: readonly (FieldValue | undefined)[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

function fieldsAt(fields: AdditionalFields, name: string): AdditionalFields {
  return (fields[name] ?? noAdditionalFields) as AdditionalFields;
}

function listAt(fields: AdditionalFields, name: string): readonly AdditionalFields[] {
  return (fields[name] ?? []) as readonly AdditionalFields[];
}

function isList(value: FieldValue | undefined): value is readonly FieldValue[] {
  return Array.isArray(value);
}

/** Whether two sets or groups have the same values. */
function isSame(one: FieldValue | undefined, other: FieldValue | undefined): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [left, right] = [one as AdditionalFields, other as AdditionalFields];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isSame(left[name], right[name]));
}
