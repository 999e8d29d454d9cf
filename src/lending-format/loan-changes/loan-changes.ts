import type { RequestedLoan } from '../../lending/commands.ts';
import { groupIndexField } from '../../lending/custom-fields/field-sets.ts';
import type { Loan } from '../../lending/loan.ts';
import { type Refusal, refusal } from '../../lending/refusals.ts';
import { type ExactJson, isExactObject, readExactObject, writeExact } from '../exact-json.ts';
import { type PatchOperation, applyJsonPatch, hasFaults, readJsonPatch } from '../json-patch.ts';
import { FieldReader } from '../payloads/field-reader.ts';
import { groupIndexOf, isFieldSetName } from '../payloads/field-set-values.ts';
import { isPastField, readCreateLoan } from '../payloads/loan-payload.ts';
import { writeAccount } from '../response-bodies.ts';

/** How an account is to change: operations on what a response shows with all details, or its whole new body. */
export type LoanChange =
  | { readonly operations: readonly PatchOperation[]; readonly account?: undefined }
  | { readonly account: ExactJson; readonly operations?: undefined };

/** Reads the payload of UPDATE_LOAN: `operations`, a JSON Patch, or `account`, a body. @returns else the refusals */
export function readLoanChange(payload: ExactJson, loanAccountId: string): LoanChange | readonly Refusal[] {
  const { operations, account, ...others } = payload;
  const [other] = Object.keys(others);
  if (other !== undefined) return [refusal('INVALID_PARAMETERS', other)];
  if (operations === undefined) return readAccount(account, loanAccountId);
  if (account !== undefined) return [refusal('INVALID_PARAMETERS', 'account')];
  if (!Array.isArray(operations)) return [refusal('INVALID_PARAMETERS', 'operations')];
  try {
    const read = readJsonPatch(writeExact(operations));
    if (!hasFaults(read)) return { operations: read };
    return read.map(({ index, member, path }) =>
      refusal('INVALID_PARAMETERS', path === '' ? `[${index}].${member}` : path.slice(0, pathCharactersMaximum)),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return [refusal('INVALID_PARAMETERS', 'operations')];
    throw error;
  }
}

/** Whether {@link readLoanChange} found no fault. */
export function isLoanChange(read: LoanChange | readonly Refusal[]): read is LoanChange {
  return !Array.isArray(read);
}

/** How much of a wrong path is shown. Characters. */
const pathCharactersMaximum = 100;

function readAccount(account: unknown, loanAccountId: string): LoanChange | readonly Refusal[] {
  if (!isExactObject(account)) return [refusal('INVALID_PARAMETERS', 'payload')];
  const read = readRequest(account, loanAccountId);
  return 'refusals' in read ? read.refusals : { account };
}

/**
 * The account that a change asks for. A patch is done on the account with all its details, so that a wrong operation
 * changes nothing. A body keeps the details that it does not name: a response without all details has none.
 * @returns else the refusals
 */
export function requestedLoan(loan: Loan, change: LoanChange): RequestedLoan | readonly Refusal[] {
  const present = withoutIndexes(readExactObject(writeAccount(loan, 'FULL')));
  const changed =
    change.operations === undefined ? withDetails(present, change.account) : patched(present, change.operations);
  if (isRefused(changed)) return changed;
  const read = readRequest(changed, loan.id);
  if ('refusals' in read) return read.refusals;
  const { productTypeKey, ...requested } = read;
  const isSameProduct = productTypeKey === loan.product.encodedKey || productTypeKey === loan.product.id;
  return isSameProduct ? requested : [refusal('LOAN_ACCOUNT_FIELD_NOT_EDITABLE', 'productTypeKey')];
}

function readRequest(
  body: ExactJson,
  loanAccountId: string,
): ReturnType<typeof readCreateLoan> | { readonly refusals: readonly Refusal[] } {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  const request = readCreateLoan(reader, loanAccountId);
  reader.refuseUnknown();
  return refusals.length === 0 ? request : { refusals };
}

/** What a body may not say otherwise than the account: it would ask for another state, or mean another account. */
const unchangeableFields = ['encodedKey', 'accountState', 'accountSubState'];

function withDetails(present: ExactJson, account: ExactJson): ExactJson | readonly Refusal[] {
  for (const name of unchangeableFields) {
    const sent = account[name];
    if (sent !== undefined && sent !== null && sent !== '' && sent !== present[name]) {
      return [refusal('LOAN_ACCOUNT_FIELD_NOT_EDITABLE', name)];
    }
  }
  return withMissingDetails(present, account);
}

function withMissingDetails(present: ExactJson, sent: ExactJson): ExactJson {
  const details = Object.entries(present).filter(
    ([name]) => (isFieldSetName(name) || name === 'assets' || name === 'guarantors') && sent[name] === undefined,
  );
  const { disbursementDetails: presentInner } = present;
  const { disbursementDetails: sentInner } = sent;
  const isNested = isExactObject(presentInner) && (isExactObject(sentInner) || sentInner === undefined);
  const inner = isNested ? withMissingDetails(presentInner, isExactObject(sentInner) ? sentInner : {}) : {};
  return {
    ...sent,
    ...Object.fromEntries(details),
    ...(Object.keys(inner).length === 0 ? {} : { disbursementDetails: inner }),
  };
}

/** Whether the result is refusals. */
export function isRefused(changed: object | readonly Refusal[]): changed is readonly Refusal[] {
  return Array.isArray(changed);
}

function patched(present: ExactJson, operations: readonly PatchOperation[]): ExactJson | readonly Refusal[] {
  let document = present;
  for (const operation of operations) {
    const fault = refusalOfOperation(document, operation) ?? refusalOfAddedGroups(document, operation);
    if (fault !== null) return [fault];
    const result = applyJsonPatch(document, [appended(document, operation)]);
    if ('fault' in result) return [refusal('INVALID_PARAMETERS', result.fault.path.slice(0, pathCharactersMaximum))];
    ({ document } = result);
  }
  return document;
}

function refusalOfOperation(document: ExactJson, operation: PatchOperation): Refusal | null {
  const paths = operation.op === 'MOVE' ? [operation.path, operation.from] : [operation.path];
  const source = `/${operation.path.join('/')}`.slice(0, pathCharactersMaximum);
  if (paths.some((path) => isPastField(path))) return refusal('LOAN_ACCOUNT_FIELD_NOT_EDITABLE', source);
  const [setId = '', ...inner] = operation.path[0] === 'disbursementDetails' ? operation.path.slice(1) : operation.path;
  if (!isFieldSetName(setId)) return null;
  const isEmpty = 'value' in operation && (operation.value === null || operation.value === '');
  if (isEmpty) return refusal('INVALID_PARAMETERS', source);
  const { [setId]: set } =
    operation.path[0] === 'disbursementDetails' ? objectAt(document, 'disbursementDetails') : document;
  if (inner.length === 0 || (inner.length === 1 && !Array.isArray(set))) return null;
  const [index = ''] = inner;
  const isGroup = Array.isArray(set) && /^(?:0|[1-9]\d{0,3})$/.test(index) && Number(index) < set.length;
  // A new group is always the last one: its index cannot be chosen.
  const isAddedGroup = inner.length === 1 && operation.op === 'ADD';
  return isGroup && !isAddedGroup && inner.length <= 2 ? null : refusal('INVALID_CUSTOM_FIELD_GROUP_INDEX', source);
}

/** Groups that are added to a grouped set come after those it has, and may say the indexes that they get. */
function refusalOfAddedGroups(document: ExactJson, operation: PatchOperation): Refusal | null {
  const { present, added } = addedGroups(document, operation) ?? { present: [], added: [] };
  const source = `/${operation.path.join('/')}`.slice(0, pathCharactersMaximum);
  for (const [place, group] of added.entries()) {
    const sentIndex = isExactObject(group) ? group[groupIndexField] : undefined;
    if (sentIndex === undefined) continue;
    const index = groupIndexOf(sentIndex);
    if (index === undefined) return refusal('INVALID_CUSTOM_FIELD_GROUP_INDEX', source);
    if (index < present.length + place) return refusal('TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD', source);
    if (index > present.length + place) return refusal('GROUPED_INDEXES_NOT_CONSECUTIVE', source);
  }
  return null;
}

function appended(document: ExactJson, operation: PatchOperation): PatchOperation {
  const groups = addedGroups(document, operation);
  if (groups === undefined || operation.op !== 'ADD') return operation;
  return { ...operation, value: [...groups.present, ...groups.added.map(withoutIndex)] };
}

/** The groups of a set, and those that an operation adds to it; undefined for any other operation. */
function addedGroups(
  document: ExactJson,
  operation: PatchOperation,
): { readonly present: readonly unknown[]; readonly added: readonly unknown[] } | undefined {
  const [first = ''] = operation.path;
  const isInner = first === 'disbursementDetails' && operation.path.length === 2;
  const setId = isInner ? (operation.path[1] ?? '') : first;
  const isOfSet = isFieldSetName(setId) && operation.path.length === (isInner ? 2 : 1);
  if (operation.op !== 'ADD' || !isOfSet) return undefined;
  const { [setId]: set } = isInner ? objectAt(document, 'disbursementDetails') : document;
  if (!Array.isArray(set)) return undefined;
  const added: readonly unknown[] = Array.isArray(operation.value) ? operation.value : [operation.value];
  return { present: set as readonly unknown[], added };
}

function objectAt(document: ExactJson, name: string): ExactJson {
  const value = document[name];
  return isExactObject(value) ? value : {};
}

/** The account without the indexes of its groups, which change with the groups before them. */
function withoutIndexes(fields: ExactJson): ExactJson {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (Array.isArray(value)) return [name, isFieldSetName(name) ? value.map(withoutIndex) : value.map(inside)];
      return [name, inside(value)];
    }),
  );
}

function inside(value: unknown): unknown {
  return isExactObject(value) ? withoutIndexes(value) : value;
}

function withoutIndex(group: unknown): unknown {
  if (!isExactObject(group)) return group;
  const { [groupIndexField]: _index, ...fields } = group;
  return fields;
}
