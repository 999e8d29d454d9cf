import type { LoanCommand, PayOffAdjustableAmounts } from '../../src/lending/commands.ts';
import type { LoanEvent } from '../../src/lending/events.ts';
import type { DecisionContext } from '../../src/lending/commands/decision.ts';
import { type Execution, execute } from '../../src/lending/commands/execute.ts';
import type { FieldDefinitions } from '../../src/lending/custom-fields/definitions.ts';
import type { LockedOperation } from '../../src/lending/commands.ts';
import type { Loan, LoanTransaction } from '../../src/lending/loan.ts';
import { Decimal } from '../../src/lending/money.ts';
import { alwaysOpen } from '../../src/lending/schedule/calendar.ts';
import type { WorkingCalendar } from '../../src/lending/organization.ts';
import type { LoanProduct, ProductFee } from '../../src/lending/products/product.ts';
import type { Refusal } from '../../src/lending/refusals.ts';
import { type Toggles, allTogglesOff } from '../../src/lending/toggle-names.ts';
import { postedAmong, withChanged } from './posted-transactions.ts';

/** 2011-01-20, noon: the day on which the accounts of the fixtures are opened. */
export const openedAt = Date.parse('2011-01-20T12:00:00Z');

/** 2040-01-01, noon: the day of the commands of the fixtures, after all their value dates. */
export const actedAt = Date.parse('2040-01-01T12:00:00Z');

export const money = (value: Decimal | number | string): Decimal => new Decimal(value);

type Settings = { [Name in keyof LoanProduct]?: LoanProduct[Name] extends object ? object : LoanProduct[Name] };

/** A product of the published case 1000 over four months at ten percent a month, with the changes of the test. */
export function product(settings: Settings = {}): LoanProduct {
  const base: LoanProduct = {
    encodedKey: 'a'.repeat(32),
    id: 'product',
    name: 'Product',
    type: 'FIXED_TERM_LOAN',
    state: 'ACTIVE',
    currency: { code: 'EUR', digits: 2 },
    loanAmountSettings: { loanAmount: {} },
    interestSettings: {
      interestRate: { defaultValue: money(10) },
      interestChargeFrequency: 'EVERY_MONTH',
      interestChargeFrequencyCount: 1,
      interestType: 'SIMPLE_INTEREST',
      interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      daysInYear: 'ACTUAL_365_FIXED',
      scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
      accrueLateInterest: true,
    },
    adjustInterestForFirstInstallment: false,
    scheduleSettings: {
      scheduleDueDatesMethod: 'INTERVAL',
      repaymentPeriodUnit: 'MONTHS',
      defaultRepaymentPeriodCount: 1,
      fixedDaysOfMonth: [],
      numInstallments: { defaultValue: 4 },
      firstRepaymentDueDateOffset: {},
      defaultPrincipalRepaymentInterval: 1,
      roundingSettings: {
        roundingMode: 'HALF_UP',
        repaymentCurrencyRounding: 'NO_ROUNDING',
        repaymentElementsRoundingMethod: 'NO_ROUNDING',
        roundingRepaymentScheduleMethod: 'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
      },
    },
    gracePeriodSettings: { gracePeriodType: 'NONE', gracePeriod: {} },
    paymentSettings: {
      amortizationMethod: 'STANDARD_PAYMENTS',
      paymentMethod: 'HORIZONTAL',
      repaymentAllocationOrder: ['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL'],
      prepaymentSettings: {
        prepaymentAcceptance: 'ACCEPT_PREPAYMENTS',
        prepaymentRecalculationMethod: 'NO_RECALCULATION',
      },
    },
    feesSettings: { allowArbitraryFees: true, fees: [] },
    taxSettings: {
      taxRate: money(0),
      taxCalculationMethod: 'EXCLUSIVE',
      taxesOnInterestEnabled: false,
      taxesOnFeesEnabled: false,
      taxesOnPenaltyEnabled: false,
    },
    newAccountSettings: {
      accountInitialState: 'PENDING_APPROVAL',
      idGeneratorType: 'RANDOM_PATTERN',
      idPattern: '@@@@###',
    },
    allowCustomRepaymentAllocation: true,
  };
  return merged(base, settings) as LoanProduct;
}

function merged(base: unknown, change: unknown): unknown {
  const isPlain = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
  if (!isPlain(base) || !isPlain(change)) return change;
  const fields: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(change)) {
    fields[name] = name in fields ? merged(fields[name], value) : value;
  }
  return fields;
}

/** The dynamic loan of the published prepayment cases: 1000, six months, ten percent a year on thirty-day months. */
export function dynamicProduct(settings: Settings = {}): LoanProduct {
  const base = product({
    type: 'DYNAMIC_TERM_LOAN',
    interestSettings: {
      interestChargeFrequency: 'ANNUALIZED',
      interestCalculationMethod: 'DECLINING_BALANCE',
      daysInYear: 'E30_360',
      scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
    },
    scheduleSettings: { numInstallments: { defaultValue: 6 } },
    paymentSettings: { repaymentAllocationOrder: ['PENALTY', 'FEE', 'INTEREST', 'PRINCIPAL'] },
  });
  return merged(base, settings) as LoanProduct;
}

export function fee(settings: Partial<ProductFee> & { readonly id: string }): ProductFee {
  return {
    encodedKey: `${settings.id}-key`,
    name: `Fee ${settings.id}`,
    trigger: 'MANUAL',
    amountCalculationMethod: 'FLAT',
    feeApplication: 'OPTIONAL',
    state: 'ACTIVE',
    allocation: 'INSTALLMENT',
    ...settings,
  };
}

type Asked<Command> = Command extends LoanCommand
  ? Omit<Command, 'commandId' | 'digest' | 'loanAccountId' | 'receivedAt'> & { commandId?: string; receivedAt?: number }
  : never;
export type AskedCommand = Asked<LoanCommand>;

/** The id of the account that a story begins with. */
const firstAccountId = 'L1';

/** One account and its history: commands in, events and refusals out. */
export interface Story {
  readonly loan: Loan | null;
  /** In the order they were posted. */
  readonly transactions: readonly LoanTransaction[];
  readonly events: readonly LoanEvent[];
  readonly refusals: readonly Refusal[];
  readonly outcome: 'committed' | 'refused' | 'repeated' | null;
  readonly toggles: Toggles;
  readonly calendar: WorkingCalendar;
  /** The definitions of custom fields in force. */
  readonly customFields?: FieldDefinitions;
  readonly commandCount: number;
  /** The accounts that this one replaced, and those that replaced it until that was undone. They have no others. */
  readonly others: readonly Story[];
}

export const nothingYet: Story = {
  loan: null,
  transactions: [],
  events: [],
  refusals: [],
  outcome: null,
  toggles: allTogglesOff,
  calendar: alwaysOpen,
  commandCount: 0,
  others: [],
};

/** The story after one more command; the loan must exist when it is read through {@link loanOf}. */
export function when(story: Story, asked: AskedCommand): Story {
  const command = nextCommand(story, asked);
  const result = execute(story.loan, command, contextOf(story, command.commandId));
  return result.outcome === 'committed' ? afterSteps(story, [result]) : notDone(story, result);
}

/** The command with all that identifies it, when it is the next one of the story. */
export function nextCommand({ commandCount, loan }: Story, asked: AskedCommand): LoanCommand {
  const count = commandCount + 1;
  const commandId = asked.commandId ?? `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const command = {
    receivedAt: (asked.type === 'CREATE_LOAN' ? openedAt : actedAt) + count * 1000,
    ...asked,
    commandId,
    digest: `digest of ${commandId}`,
    loanAccountId: loan?.id ?? firstAccountId,
  } as LoanCommand;
  return command;
}

/** What the command of that id is decided with, on the account of the story or on one that is not there yet. */
export function contextOf(
  { loan, transactions, toggles, calendar, customFields }: Story,
  commandId: string,
  accountId: string = loan?.id ?? firstAccountId,
): DecisionContext {
  const keys = new Map<string, string>();
  // One command may post to two accounts.
  const ofAccount = accountId === firstAccountId ? '' : ` of ${accountId}`;
  const ownKeyOf = (id: string): string => keyOf(`${id} transaction${ofAccount}`);
  const newKey = (purpose: string): string => {
    const key =
      keys.get(purpose) ?? (purpose === 'transaction' ? ownKeyOf(commandId) : keyOf(`${commandId} ${purpose}`));
    keys.set(purpose, key);
    return key;
  };
  const definitions = customFields === undefined ? {} : { customFields };
  return { toggles, calendar, newKey, transactions: postedAmong(transactions, ownKeyOf), ...definitions };
}

type Committed = Extract<Execution, { outcome: 'committed' }>;

/** The story after a command that did this to its account. */
export function afterSteps(story: Story, steps: readonly Committed[]): Story {
  return {
    ...story,
    commandCount: story.commandCount + 1,
    loan: steps.at(-1)?.loan ?? story.loan,
    transactions: steps.reduce((known, { transactions }) => withChanged(known, transactions), story.transactions),
    events: [...story.events, ...steps.flatMap(({ events }) => events)],
    refusals: [],
    outcome: 'committed',
  };
}

/** The story after a command that changed nothing. */
export function notDone(story: Story, result: Exclude<Execution, Committed>): Story {
  const refusals = result.outcome === 'refused' ? result.refusals : [];
  return { ...story, commandCount: story.commandCount + 1, refusals, outcome: result.outcome };
}

/** Four 32-bit FNV-1a hashes, each of the text and the one before, as 32 hex characters. */
function keyOf(text: string): string {
  let hash = 0x811c9dc5;
  let key = '';
  for (let part = 0; part < 4; part += 1) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    key += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return key;
}

export function given(...commands: readonly AskedCommand[]): Story {
  return commands.reduce(when, nothingYet);
}

export function under(toggles: Partial<Toggles>, story: Story = nothingYet): Story {
  return { ...story, toggles: { ...story.toggles, ...toggles } };
}

/** The story from now on, with these days on which the institution is closed. */
export function withCalendar(calendar: WorkingCalendar, story: Story = nothingYet): Story {
  return { ...story, calendar };
}

export function loanOf({ loan, refusals }: Story): Loan {
  if (loan === null) throw new Error(`no loan: ${JSON.stringify(refusals)}`);
  return loan;
}

export const create = (loanProduct: LoanProduct, loanAmount: Decimal | number | string = 1000): AskedCommand => ({
  type: 'CREATE_LOAN',
  product: loanProduct,
  loanAmount: money(loanAmount),
});
export const approve: AskedCommand = { type: 'CHANGE_STATE', action: 'APPROVE' };
export const disburse = (
  valueDate: string,
  fees: readonly { predefinedFeeKey: string; amount?: Decimal; percentage?: Decimal }[] = [],
): AskedCommand => ({
  type: 'DISBURSE',
  valueDate,
  fees,
});
export const repay = (amount: Decimal | number | string, valueDate: string, more: object = {}): AskedCommand => ({
  type: 'REPAY',
  amount: money(amount),
  valueDate,
  customPaymentAmounts: [],
  ...more,
});
export const applyFee = (amount: Decimal | number | string, more: object = {}): AskedCommand => ({
  type: 'APPLY_FEE',
  amount: money(amount),
  valueDate: '2011-01-23',
  ...more,
});
export const applyPenalty = (amount: Decimal | number | string, more: object = {}): AskedCommand => ({
  type: 'APPLY_PENALTY',
  amount: money(amount),
  valueDate: '2011-01-23',
  ...more,
});
export const overpay = (amount: Decimal | number | string, valueDate: string, more: object = {}): AskedCommand => ({
  type: 'PRINCIPAL_OVERPAYMENT',
  amount: money(amount),
  valueDate,
  ...more,
});
export const applyInterest = (valueDate: string): AskedCommand => ({ type: 'APPLY_INTEREST', valueDate });
export const payOff = (valueDate: string, payOffAdjustableAmounts: PayOffAdjustableAmounts = {}): AskedCommand => ({
  type: 'PAY_OFF',
  valueDate,
  payOffAdjustableAmounts,
});
type ReductionType = 'REDUCE_INTEREST' | 'REDUCE_FEES' | 'REDUCE_PENALTIES';
export const reduce = (
  type: ReductionType,
  amount: Decimal | number | string,
  valueDate: string,
  more: object = {},
): AskedCommand => ({ type, amount: money(amount), valueDate, ...more });
export const writeOff = (valueDate: string): AskedCommand => ({ type: 'WRITE_OFF', valueDate });
export const undoWriteOff: AskedCommand = { type: 'UNDO_WRITE_OFF' };
export const lock = (valueDate: string, ...operations: readonly LockedOperation[]): AskedCommand => ({
  type: 'LOCK',
  valueDate,
  lockedOperations: operations,
});
export const unlock = (valueDate: string): AskedCommand => ({ type: 'UNLOCK', valueDate });
export const refund = (
  amount: Decimal | number | string,
  valueDate: string,
  linkedDisbursementKey = 'none',
): AskedCommand => ({ type: 'REFUND', amount: money(amount), valueDate, linkedDisbursementKey });
export const terminate = (valueDate: string): AskedCommand => ({ type: 'TERMINATE', valueDate });
/** Undoes the transaction of that number, from 1. */
export const adjust = (number: number): AskedCommand => ({ type: 'ADJUST_TRANSACTION', transactionId: `L1-${number}` });

/** An account of the product, approved and disbursed on 2011-01-23. */
export function disbursed(loanProduct: LoanProduct = product(), loanAmount: Decimal | number | string = 1000): Story {
  return given(create(loanProduct, loanAmount), approve, disburse('2011-01-23'));
}

/** Amounts with two digits, so that tables compare as text. */
export function texts(amounts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, value]) => [name, value instanceof Decimal ? value.toFixed(2) : value]),
  );
}

/** Principal and interest of each row, expected and paid: `215.47/0.00 100.00/0.00`. */
export function rowsOf(loan: Loan): string[] {
  return loan.position.installments.map(
    ({ principal, interest }) =>
      `${principal.expected.toFixed(2)}/${principal.paid.toFixed(2)} ` +
      `${interest.amount.expected.toFixed(2)}/${interest.amount.paid.toFixed(2)}`,
  );
}

export const reasons = ({ refusals }: Story): string[] =>
  refusals.map(({ errorReason, errorSource }) =>
    errorSource === null ? errorReason : `${errorReason} ${errorSource}`,
  );
