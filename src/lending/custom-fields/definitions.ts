/**
 * Definitions of custom fields: which sets there are, what their fields may contain, and on what they may stand. An
 * organisation without definitions takes every set as it is sent.
 */

import type { LoanCommand } from '../commands.ts';
import type { LoanTransactionType } from '../transaction-types.ts';

/** What can have custom fields here. A transaction has those of its type and those of its channel. */
export const recordTypes = ['LOAN_ACCOUNT', 'ASSET', 'GUARANTOR', 'TRANSACTION_TYPE', 'TRANSACTION_CHANNEL'] as const;
export type RecordType = (typeof recordTypes)[number];

export const fieldSetTypes = ['STANDARD', 'GROUPED'] as const;

/** What a value may be. A link is the encodedKey of a client, a group or a user. */
export const fieldTypes = [
  'FREE_TEXT',
  'SELECTION',
  'NUMBER',
  'CHECKBOX',
  'DATE',
  'DATE_TIME',
  'CLIENT_LINK',
  'GROUP_LINK',
  'USER_LINK',
] as const;
export type FieldType = (typeof fieldTypes)[number];

/** A set of fields: an object, or a list of such objects where it is grouped. */
export interface FieldSetDefinition {
  /** Begins with an underscore. */
  readonly id: string;
  readonly availableFor: RecordType;
  readonly fieldSetType: (typeof fieldSetTypes)[number];
  /** Whether its values say something of persons, and go when those are erased. Absent: they do not. */
  readonly personalData?: boolean;
}

/** The values of a selection, for one value of the field that it depends on; for all of them where that is null. */
export interface SelectionOptions {
  readonly forValue: string | null;
  readonly values: readonly string[];
}

/** Where a field may stand. */
export interface FieldUsage {
  /**
   * The id and the encodedKey of a product or channel, or the type of a transaction; null for every one of the kind of
   * record.
   */
  readonly objectNames: readonly string[] | null;
  readonly isRequired: boolean;
}

/** The limits of a value. Lengths are characters; values are exact decimals as texts. */
export interface ValueLimits {
  /** Each `@` is a letter, each `#` a digit, each `$` either; any other character stands for itself. */
  readonly validationPattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minValue?: string;
  readonly maxValue?: string;
}

export interface FieldDefinition {
  readonly id: string;
  /** The id of its set. */
  readonly setId: string;
  readonly type: FieldType;
  readonly isActive: boolean;
  /** Empty: it may stand on every record of its kind, and is never required. */
  readonly usage: readonly FieldUsage[];
  readonly limits: ValueLimits;
  /** Only of a selection. */
  readonly selectionOptions: readonly SelectionOptions[];
  /** The id of the selection of the same set on which this one depends; null for one that depends on none. */
  readonly dependsOn: string | null;
}

/** The definitions in force when a command is decided. */
export interface FieldDefinitions {
  /** Whether any set is defined. As long as there is none, every set is taken. */
  readonly hasSets: boolean;
  /** The set with this id; undefined when none is defined. */
  set(id: string): FieldSetDefinition | undefined;
  /** The field of a set with this id; undefined when none is defined. */
  field(setId: string, id: string): FieldDefinition | undefined;
  /** The fields that something of this kind must have, by their usage. */
  requiredFor(recordType: RecordType): readonly FieldDefinition[];
}

/** What a record is, and what its fields are used for: its product, its type, its channel. */
export type RecordNames = Readonly<Partial<Record<RecordType, readonly string[]>>>;

/** The usage of a field on a record; undefined when the field may not stand there. */
export function usageOn(field: FieldDefinition, names: readonly string[]): FieldUsage | undefined {
  if (field.usage.length === 0) return { objectNames: null, isRequired: false };
  const applies = ({ objectNames }: FieldUsage): boolean =>
    objectNames === null || objectNames.some((name) => names.includes(name));
  return field.usage.find((usage) => usage.isRequired && applies(usage)) ?? field.usage.find(applies);
}

/** The types of transactions that a command can post for its sender. */
export const postedTypes = {
  DISBURSE: ['DISBURSEMENT'],
  REPAY: ['REPAYMENT'],
  PAY_OFF: ['REPAYMENT'],
  APPLY_FEE: ['FEE_CHARGED'],
  APPLY_PENALTY: ['PENALTY_APPLIED'],
  PRINCIPAL_OVERPAYMENT: ['PRINCIPAL_OVERPAYMENT'],
  APPLY_INTEREST: ['INTEREST_APPLIED'],
  REDUCE_INTEREST: ['INTEREST_DUE_REDUCED'],
  REDUCE_FEES: ['FEES_DUE_REDUCED'],
  REDUCE_PENALTIES: ['PENALTIES_DUE_REDUCED'],
  REFUND: ['REFUND'],
  TERMINATE: ['ACCOUNT_TERMINATED'],
  RECALCULATE_DUE_DATES: ['DUE_DATE_CHANGED'],
  WRITE_OFF: ['WRITE_OFF'],
  LOCK: ['INTEREST_LOCKED', 'FEE_LOCKED', 'PENALTY_LOCKED'],
  UNLOCK: ['INTEREST_UNLOCKED', 'FEE_UNLOCKED', 'PENALTY_UNLOCKED'],
} as const satisfies Readonly<Record<PostingType, readonly LoanTransactionType[]>>;

/** The commands that can post a transaction with details. */
type PostingType = {
  [Type in LoanCommand['type']]: HasDetails<Extract<LoanCommand, { type: Type }>>;
}[LoanCommand['type']];
type HasDetails<Command extends LoanCommand> = 'externalId' extends keyof Command ? Command['type'] : never;

/** The types of transactions that fields can be used for. */
export const typesWithFields: readonly LoanTransactionType[] = [...new Set(Object.values(postedTypes).flat())];
