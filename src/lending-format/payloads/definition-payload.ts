import type { Refusal } from '../../lending/refusals.ts';
import type { ExactJson } from '../exact-json.ts';
import { type Address, readAddress } from './address-payload.ts';
import { FieldReader, present } from './field-reader.ts';
import { hasEncodedKeyForm, isAccountOrProductId } from './id-forms.ts';

/** What requests define besides products: branches, centres and transaction channels. */

type State = 'ACTIVE' | 'INACTIVE';

interface NamedFields {
  readonly name: string;
  readonly state: State;
  readonly notes?: string;
  readonly addresses?: readonly Address[];
}

export interface BranchFields extends NamedFields {
  readonly emailAddress?: string;
  readonly phoneNumber?: string;
}

export interface CentreFields extends NamedFields {
  /** The encodedKey of its branch. */
  readonly assignedBranchKey?: string;
}

/** Where money comes in or goes out: cash, a card, another bank. It never limits which transactions may name it. */
export interface TransactionChannelFields {
  readonly name: string;
  readonly state: State;
}

/** A definition that was read, or why it cannot be made. */
export type DefinitionPayload<Fields> =
  | { readonly id: string; readonly fields: Fields }
  | { readonly refusals: readonly Refusal[] };

/**
 * Reads the fields of one kind of definition.
 * @param isBranchKey Whether a branch has this encodedKey.
 */
type FieldsReader<Fields> = (reader: FieldReader, isBranchKey: (key: string) => boolean) => Fields;

/**
 * Reads a whole definition. Its key and dates may be sent back as they were answered, and mean nothing.
 * @param id The id in the path, which a body may repeat; absent where the body must name a new one.
 * @param isId Whether a text may be the id of a new one.
 */
export function readDefinition<Fields>(
  body: ExactJson,
  id: string | undefined,
  read: FieldsReader<Fields>,
  isBranchKey: (key: string) => boolean,
  isId: (id: string | undefined) => boolean = isNewId,
): DefinitionPayload<Fields> {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  reader.ignore('encodedKey', 'creationDate', 'lastModifiedDate');
  const sentId = reader.text('id');
  const isUsable = id === undefined ? isId(sentId) : sentId === undefined || sentId === id;
  if (!isUsable) reader.refuse('id');
  const fields = read(reader, isBranchKey);
  reader.refuseUnknown();
  return refusals.length > 0 ? { refusals: withoutRepeats(refusals) } : { id: id ?? sentId ?? '', fields };
}

/** An id of the wrong form is refused by the reader and by {@link readDefinition}. */
function withoutRepeats(refusals: readonly Refusal[]): Refusal[] {
  return refusals.filter(
    ({ errorSource }, index) => refusals.findIndex((other) => other.errorSource === errorSource) === index,
  );
}

function isNewId(id: string | undefined): boolean {
  return id !== undefined && isAccountOrProductId(id) && !hasEncodedKeyForm(id);
}

/** Reads a branch. Holidays of its own would move due dates of its loans, and are refused. */
export const readBranchFields: FieldsReader<BranchFields> = (reader) => {
  reader.keepEmpty('branchHolidays');
  return {
    ...readNamedFields(reader),
    ...present({ emailAddress: reader.text('emailAddress'), phoneNumber: reader.text('phoneNumber') }),
  };
};

/** Reads a centre. A meeting day would move due dates of its loans, and is refused. */
export const readCentreFields: FieldsReader<CentreFields> = (reader, isBranchKey) => {
  const assignedBranchKey = reader.encodedKey('assignedBranchKey');
  if (assignedBranchKey !== undefined && !isBranchKey(assignedBranchKey)) reader.refuse('assignedBranchKey');
  if (reader.has('meetingDay')) reader.refuse('meetingDay');
  reader.ignore('meetingDay');
  return { ...readNamedFields(reader), ...present({ assignedBranchKey }) };
};

/** Reads a channel. Whatever would limit its use, make it the default or post to a ledger is refused. */
export const readTransactionChannelFields: FieldsReader<TransactionChannelFields> = (reader) => {
  const name = reader.require('name', reader.text('name')) ?? '';
  const state = readState(reader);
  for (const kind of ['loanConstraints', 'depositConstraints']) {
    reader.require(kind, reader.has(kind) ? kind : undefined);
    const constraints = reader.object(kind);
    constraints.keepOnly('usage', 'UNCONSTRAINED');
    constraints.keepOnly('matchFiltersOption', 'ALL', 'ANY');
    constraints.keepEmpty('constraints');
  }
  reader.keepOnly('isDefault', false);
  reader.keepOnly('availableForAll', true);
  reader.object('attributes').keepOnly('overdraftAllowed', false);
  reader.keepEmpty('usageRights', 'customFields');
  if (reader.has('glAccount')) reader.refuse('glAccount');
  reader.ignore('glAccount');
  return { name, state };
};

function readNamedFields(reader: FieldReader): NamedFields {
  return {
    name: reader.require('name', reader.text('name')) ?? '',
    state: readState(reader),
    ...present({ notes: reader.notes('notes') }),
    ...(reader.has('addresses') ? { addresses: reader.objects('addresses').map(readAddress) } : {}),
  };
}

function readState(reader: FieldReader): State {
  return reader.choice('state', ['ACTIVE', 'INACTIVE']) ?? 'ACTIVE';
}
