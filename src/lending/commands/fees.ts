import type { ApplyFee } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { addCharge, closeLedger, hasPostableTotals, noAmounts, openLedger } from '../ledger.ts';
import type { Loan } from '../loan.ts';
import type { FeeCharge } from '../fee-charges.ts';
import { type Installment, isPaid, nextDueRow, unpaid } from '../installments.ts';
import { dayOf } from '../instants.ts';
import { type Decimal, isPostable, roundAmount, zero } from '../money.ts';
import { behaviourOf } from '../product-behaviour.ts';
import {
  type FeeAllocation,
  type FeeAmountCalculationMethod,
  type ProductFee,
  findFee,
  isChargedByHand,
} from '../product.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { taxedAmount } from '../taxes.ts';

/**
 * Charges a fee by hand: one of the product's manual fees, or an arbitrary one. It joins the named installment (fixed
 * loans) or the next one due (dynamic loans). A NO_ALLOCATION fee joins none, and only custom repayments can pay it.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; ARBITRARY_FEE_NOT_ALLOWED, INVALID_FEE_KEY,
 * FEE_NOT_ACTIVE, FEE_NOT_ALLOWED (charged at disbursement only); FEATURE_DISABLED (a NO_ALLOCATION fee while
 * ALLOW_NON_SCHEDULED_FEES is off); INVALID_PARAMETERS (such a fee with an installment); INVALID_DATE (before the
 * disbursement or in the future); INSTALLMENT_NUMBER_MANDATORY_FOR_FIXED_ACCOUNTS,
 * INSTALLMENT_NUMBER_NOT_ALLOWED_FOR_DYNAMIC_ACCOUNTS, INVALID_REPAYMENT_NUMBER, CANNOT_APPLY_FEE_ON_PAID_INSTALLMENT;
 * then the amount (see {@link feeAmount}), and FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE when it comes to nothing.
 */
export function decideFee(loan: Loan, command: ApplyFee, context: DecisionContext): Decision {
  const { position } = loan;
  const [disbursement] = position.disbursements;
  if (position.accountState !== 'ACTIVE' || disbursement === undefined) return refuse('INVALID_ACCOUNT_STATE');
  const found = findManualFee(loan, command.predefinedFeeKey);
  if ('errorReason' in found) return { refusals: [found] };
  const { fee } = found;
  const allocation = fee?.allocation ?? 'INSTALLMENT';
  if (allocation === 'NO_ALLOCATION') {
    if (!context.toggles.ALLOW_NON_SCHEDULED_FEES) return refuse('FEATURE_DISABLED', 'predefinedFeeKey');
    if (command.installmentNumber !== undefined) return refuse('INVALID_PARAMETERS', 'installmentNumber');
  }
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOf(command.receivedAt);
  if (valueDate < disbursement.date) return refuse('INVALID_DATE', 'valueDate');
  const row = allocation === 'NO_ALLOCATION' ? null : rowForFee(loan, command, valueDate);
  if (row !== null && 'errorReason' in row) return { refusals: [row] };
  const amount = feeAmount(loan, fee, command.amount, row?.principal.expected ?? zero);
  if ('errorReason' in amount) return { refusals: [amount] };
  if (amount.isZero()) return refuse('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE', 'amount');

  const ledger = openLedger(loan, position, valueDate);
  const added = newCharge(loan, {
    encodedKey: context.newKey('fee'),
    fee,
    allocation,
    net: amount,
    installmentKey: row?.key ?? null,
  });
  addCharge(ledger, added);
  if (!hasPostableTotals(ledger)) return refuse('INVALID_AMOUNT', 'amount');
  return post(loan, command, context, 'FEE_CHARGED', closeLedger(ledger), {
    amount: added.amount.expected,
    valueDate,
    affected: { ...noAmounts, fees: added.amount.expected },
    taxes: { ...noAmounts, fees: added.tax.expected },
    fees: [transactionFee(added)],
    installmentKey: row?.key ?? null,
  });
}

function findManualFee(loan: Loan, key: string | undefined): { readonly fee: ProductFee | null } | Refusal {
  const { product } = loan;
  if (key === undefined) {
    return product.feesSettings.allowArbitraryFees ? { fee: null } : refusal('ARBITRARY_FEE_NOT_ALLOWED');
  }
  const fee = findFee(product, key);
  if (fee === undefined) return refusal('INVALID_FEE_KEY', 'predefinedFeeKey');
  if (fee.state !== 'ACTIVE') return refusal('FEE_NOT_ACTIVE', 'predefinedFeeKey');
  return isChargedByHand(fee) ? { fee } : refusal('FEE_NOT_ALLOWED', 'predefinedFeeKey');
}

function rowForFee(loan: Loan, { installmentNumber }: ApplyFee, valueDate: string): Installment | Refusal {
  if (behaviourOf(loan.product).manualFees === 'NEXT_DUE_ROW') {
    return installmentNumber === undefined
      ? nextDueRow(loan, valueDate)
      : refusal('INSTALLMENT_NUMBER_NOT_ALLOWED_FOR_DYNAMIC_ACCOUNTS', 'installmentNumber');
  }
  if (installmentNumber === undefined) {
    return refusal('INSTALLMENT_NUMBER_MANDATORY_FOR_FIXED_ACCOUNTS', 'installmentNumber');
  }
  const row = loan.position.installments.find(({ number }) => number === installmentNumber);
  if (row === undefined) return refusal('INVALID_REPAYMENT_NUMBER', 'installmentNumber');
  return isPaid(row) ? refusal('CANNOT_APPLY_FEE_ON_PAID_INSTALLMENT', 'installmentNumber') : row;
}

/**
 * The cost of a fee, before tax is added to it: the product's amount or, for a fee without a fixed amount, the
 * command's. FLAT: the amount. LOAN_AMOUNT_PERCENTAGE: a percentage of the amount lent, without capitalised fees.
 * REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE: of the row's principal. ..._NUMBER_OF_INSTALLMENTS: that, divided by the
 * number of installments.
 * @returns a refusal: MANDATORY_FEE_AMOUNT (neither gives it), FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT (both do, and
 *   differ), FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE, INVALID_AMOUNT (too fine for the currency, or too long)
 */
export function feeAmount(
  loan: Loan,
  fee: ProductFee | null,
  requestedAmount: Decimal | undefined,
  rowPrincipal: Decimal,
  errorSource = 'amount',
): Decimal | Refusal {
  const { currency } = loan.product;
  const defined = fee === null ? null : definedAmount(loan, fee, rowPrincipal);
  if (defined !== null) {
    if (requestedAmount !== undefined && !requestedAmount.equals(defined)) {
      return refusal('FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT', errorSource);
    }
    return defined;
  }
  if (requestedAmount === undefined) return refusal('MANDATORY_FEE_AMOUNT', errorSource);
  if (!requestedAmount.greaterThan(0)) return refusal('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE', errorSource);
  return isPostable(requestedAmount, currency.digits) ? requestedAmount : refusal('INVALID_AMOUNT', errorSource);
}

function definedAmount({ product, loanAmount, terms }: Loan, fee: ProductFee, rowPrincipal: Decimal): Decimal | null {
  const percentOf = (base: Decimal): Decimal | undefined =>
    fee.percentageAmount === undefined ? undefined : base.times(fee.percentageAmount).dividedBy(100);
  const { repaymentInstallments } = terms;
  const exactAmounts: Readonly<Record<FeeAmountCalculationMethod, () => Decimal | undefined>> = {
    FLAT: () => fee.amount,
    LOAN_AMOUNT_PERCENTAGE: () => percentOf(loanAmount),
    REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE: () => percentOf(rowPrincipal),
    LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS: () => percentOf(loanAmount)?.dividedBy(repaymentInstallments),
    FLAT_NUMBER_OF_INSTALLMENTS: () => fee.amount?.dividedBy(repaymentInstallments),
  };
  const exact = exactAmounts[fee.amountCalculationMethod]();
  return exact === undefined ? null : roundAmount(exact, product.currency, terms.rounding.roundingMode);
}

/** A charge that the ledger has not numbered yet. */
export type UnnumberedCharge = Omit<FeeCharge, 'number'>;

interface NewCharge {
  readonly encodedKey: string;
  readonly fee: ProductFee | null;
  readonly allocation: FeeAllocation;
  /** Before tax is added, or including the tax it contains. */
  readonly net: Decimal;
  readonly installmentKey: number | null;
}

/** An unpaid charge of this fee, with the product's tax on fees. */
export function newCharge(
  loan: Loan,
  { encodedKey, fee, allocation, net, installmentKey }: NewCharge,
): UnnumberedCharge {
  const { taxSettings, currency } = loan.product;
  const { owed, tax } = taxSettings.taxesOnFeesEnabled
    ? taxedAmount(net, taxSettings, currency, loan.terms.rounding.roundingMode)
    : { owed: net, tax: zero };
  return {
    encodedKey,
    predefinedFeeKey: fee?.encodedKey ?? null,
    feeName: fee?.name ?? 'Arbitrary fee',
    trigger: fee?.trigger ?? 'ARBITRARY',
    allocation,
    installmentKey,
    amount: unpaid(owed),
    tax: unpaid(tax),
  };
}

/** A charge as listed in its transaction. */
export function transactionFee(added: UnnumberedCharge): {
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeCharge['trigger'];
  readonly amount: Decimal;
  readonly tax: Decimal;
} {
  const { predefinedFeeKey, feeName, trigger, amount, tax } = added;
  return { predefinedFeeKey, feeName, trigger, amount: amount.expected, tax: tax.expected };
}
