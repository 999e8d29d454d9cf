import { randomUUID } from 'node:crypto';
import { commandIdOf } from '../../../src/http/lending/idempotency-key.ts';
import { accrueTo } from '../../../src/lending/accrual.ts';
import { type Figures, figuresOf } from '../../../src/lending/balances.ts';
import { isPaid } from '../../../src/lending/installments.ts';
import { addDays } from '../../../src/lending/dates.ts';
import { Decimal, sum } from '../../../src/lending/money.ts';
import { type CustomPaymentAmountType, prepaymentRecalculationMethods } from '../../../src/lending/payment-options.ts';
import { behaviourOf } from '../../../src/lending/products/product-behaviour.ts';
import { fitsProduct } from '../../../src/lending/prepayment.ts';
import type { LocalDate } from '../../../src/lending/terms.ts';
import type { Toggles } from '../../../src/lending/toggle-names.ts';
import type { CommandType } from '../../../src/lending-format/command-format.ts';
import type { Json, LoanBook, StoryCommand } from './loan-book.ts';
import { requestOf } from './narrator.ts';
import { outsideFee, percentFee } from './products.ts';

/** A command without its identity. */
interface Wish {
  readonly type: CommandType;
  readonly payload: Json;
}

/** The loan at the moment for which a command is planned. */
interface Moment {
  readonly book: LoanBook;
  readonly figures: Figures;
  readonly valueDate: LocalDate;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** The installment that charges of a fixed loan join; nothing on a dynamic loan. */
  readonly installment: Json;
}

/** The largest amount of an ordinary payment or charge: the loan must not be repaid before the story ends. */
const amountMaximum = 100;

/** The kinds of transactions of an active loan, with how often each one comes. */
const kinds: readonly { readonly weight: number; readonly wish: (moment: Moment) => Wish | undefined }[] = [
  { weight: 24, wish: repayment },
  { weight: 3, wish: repaymentOfWhatIsDue },
  { weight: 10, wish: customRepayment },
  { weight: 6, wish: principalOverpayment },
  { weight: 10, wish: arbitraryFee },
  { weight: 4, wish: ({ valueDate, installment }) => fee({ predefinedFeeKey: percentFee, valueDate, ...installment }) },
  {
    weight: 5,
    wish: ({ random, valueDate }) => fee({ predefinedFeeKey: outsideFee, amount: cents(random), valueDate }),
  },
  { weight: 12, wish: penalty },
  { weight: 20, wish: adjustment },
  { weight: 1, wish: payOff },
  { weight: 2, wish: excessiveRepayment },
  { weight: 1, wish: adjustmentOfTheFirst },
];
const weightOfAll = kinds.reduce((total, { weight }) => total + weight, 0);

/**
 * Plans the commands of one loan, one after another: each follows from what the loan is after the one before, and is
 * decided in the loan's book. Days pass, so that payments come before, on and after the days on which they are due.
 */
export class Plot {
  readonly book: LoanBook;
  readonly #random: () => number;
  readonly #daysPerCommand: number;
  #day: number = 0;
  readonly #firstDay: LocalDate;

  constructor(book: LoanBook, options: { random: () => number; firstDay: LocalDate; daysPerCommand: number }) {
    this.book = book;
    this.#random = options.random;
    this.#firstDay = options.firstDay;
    this.#daysPerCommand = options.daysPerCommand;
  }

  /** The next command, whatever the loan needs; sent over HTTP or by a producer. */
  next(toggles: Toggles, way: 'http' | 'topic'): StoryCommand {
    this.#day += this.#random() * 2 * this.#daysPerCommand;
    return this.write(this.#wish(), toggles, way);
  }

  /** A command that the teller of the story has chosen. */
  write({ type, payload }: Wish, toggles: Toggles, way: 'http' | 'topic'): StoryCommand {
    const planned = { commandId: randomUUID(), type, loanAccountId: this.book.id, payload };
    const idempotencyKey = randomUUID();
    const command =
      way === 'topic'
        ? planned
        : { ...planned, idempotencyKey, commandId: commandIdOf(idempotencyKey, requestOf(planned).path) };
    this.book.decide(command, toggles);
    return command;
  }

  #wish(): Wish {
    const { book } = this;
    const { loan } = book;
    const { accountState, asOf, installments } = loan.position;
    const today = addDays(this.#firstDay, Math.floor(this.#day));
    const valueDate = asOf !== null && asOf > today ? asOf : today;
    const figures = figuresOf(loan, accrueTo(loan, loan.position, valueDate));
    const unpaid = installments.find((row) => !isPaid(row)) ?? installments.at(-1);
    const namesRow = behaviourOf(loan.product).manualFees === 'NAMED_ROW';
    const installment = namesRow ? { installmentNumber: unpaid?.number ?? 1 } : {};
    const moment: Moment = { book, figures, valueDate, random: this.#random, installment };
    for (;;) {
      // Only the undoing of what closed it opens a loan again.
      const wish = accountState === 'CLOSED' ? adjustment(moment) : this.#kind().wish(moment);
      if (wish !== undefined) return wish;
    }
  }

  #kind(): (typeof kinds)[number] {
    let left = this.#random() * weightOfAll;
    for (const kind of kinds) {
      left -= kind.weight;
      if (left < 0) return kind;
    }
    throw new Error('The weights do not add up');
  }
}

function cents(random: () => number, maximum: number = amountMaximum): number {
  return Math.ceil(random() * maximum * 100) / 100;
}

/** Some of what is owed; undefined when nothing is. */
function someOf(random: () => number, owed: Decimal): Decimal | undefined {
  const amount = Decimal.min(owed, cents(random));
  return amount.greaterThan(0) ? amount : undefined;
}

function repayment({ random, figures, valueDate, book }: Moment): Wish | undefined {
  const amount = someOf(random, figures.total);
  if (amount === undefined) return undefined;
  const methods = prepaymentRecalculationMethods.filter((method) => fitsProduct(method, book.loan.product));
  const chosen = methods[Math.floor(random() * methods.length)];
  const ahead = random() < 0.2 ? { prepaymentRecalculationMethod: chosen } : {};
  return { type: 'REPAY', payload: { amount: amount.toNumber(), valueDate, ...ahead } };
}

/** What is due, to the cent. */
function repaymentOfWhatIsDue({ figures, valueDate }: Moment): Wish | undefined {
  const { principal, interest, fees, penalty } = figures;
  const amount = sum([principal.due, interest.due, fees.due, penalty.due]);
  return amount.isZero() ? undefined : { type: 'REPAY', payload: { amount: amount.toNumber(), valueDate } };
}

function customRepayment({ random, figures, valueDate }: Moment): Wish | undefined {
  const owed: readonly (readonly [CustomPaymentAmountType, Decimal])[] = [
    ['NON_SCHEDULED_FEE', figures.nonScheduledFees.balance],
    ['INTEREST', figures.interest.balance],
    ['PENALTY', figures.penalty.balance],
    ['PRINCIPAL', figures.principal.balance],
  ];
  const parts = owed.flatMap(([customPaymentAmountType, balance]) => {
    // Fees outside the schedule are paid at once: as long as one is owed, nothing closes the loan.
    const isWhole = customPaymentAmountType === 'NON_SCHEDULED_FEE';
    const amount = isWhole ? balance : random() < 0.6 ? someOf(random, balance) : undefined;
    return amount === undefined || amount.isZero() ? [] : [{ customPaymentAmountType, amount }];
  });
  if (parts.length === 0) return undefined;
  const amount = sum(parts.map((part) => part.amount)).toNumber();
  const customPaymentAmounts = parts.map((part) => ({ ...part, amount: part.amount.toNumber() }));
  return { type: 'REPAY', payload: { amount, valueDate, customPaymentAmounts } };
}

function principalOverpayment({ random, figures, valueDate }: Moment): Wish | undefined {
  const amount = someOf(random, figures.principal.balance);
  return amount === undefined
    ? undefined
    : { type: 'PRINCIPAL_OVERPAYMENT', payload: { amount: amount.toNumber(), valueDate } };
}

function fee(payload: Json): Wish {
  return { type: 'APPLY_FEE', payload };
}

function arbitraryFee({ random, valueDate, installment }: Moment): Wish {
  return fee({ amount: cents(random), valueDate, ...installment });
}

function penalty({ random, valueDate, installment }: Moment): Wish {
  return { type: 'APPLY_PENALTY', payload: { amount: cents(random), valueDate, ...installment } };
}

/** Undoes the last transaction that was not undone; undefined when that would undo the disbursement. */
function adjustment({ book }: Pick<Moment, 'book'>): Wish | undefined {
  const { adjustable } = book;
  if (adjustable === undefined || adjustable.type === 'DISBURSEMENT') return undefined;
  return { type: 'ADJUST_TRANSACTION', payload: { transactionId: adjustable.encodedKey, notes: 'by mistake' } };
}

/** Everything that is owed, which closes the loan. */
function payOff({ figures, valueDate }: Moment): Wish | undefined {
  if (figures.total.isZero() || !figures.nonScheduledFees.balance.isZero()) return undefined;
  return { type: 'REPAY', payload: { amount: figures.total.toNumber(), valueDate } };
}

function excessiveRepayment({ figures, valueDate }: Moment): Wish {
  return { type: 'REPAY', payload: { amount: figures.total.plus(1).toNumber(), valueDate } };
}

function adjustmentOfTheFirst({ book }: Moment): Wish {
  return { type: 'ADJUST_TRANSACTION', payload: { transactionId: `${book.id}-1` } };
}
