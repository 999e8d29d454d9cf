import type { CustomPaymentAmount } from './commands.ts';
import { isEarning } from './accrual.ts';
import type { Ledger } from './ledger.ts';
import { chargesDue, pay, payCharges, payable } from './payments.ts';
import type { FeeCharge } from './fees/charges.ts';
import { currentRowIndex, findInstallment, rowAt } from './installments.ts';
import { type Decimal, isPostable, larger, smaller, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import { type AllocationElement, customAmountTypeOfFee, findFee, isForDueDates } from './products/product.ts';
import { type Refusal, refusal } from './refusals.ts';

/**
 * Pays up to `amount` of what is owed, in the order of the product (see {@link placesOf}). A dynamic loan's row that is
 * not due yet accepts interest only up to what it has earned. Where interest is applied by hand before its due date, it
 * accepts what was applied, and the rest only after all principal.
 * @param keepsPrincipalAhead does not touch the principal of rows after the current one: a recalculation will spread it
 * @param target the index of the only row to pay; null for all of them
 * @returns the amount that could not be allocated
 */
export function allocate(
  ledger: Ledger,
  amount: Decimal,
  keepsPrincipalAhead: boolean,
  target: number | null = null,
): Decimal {
  const current = currentRowIndex(ledger);
  let remaining = amount;
  for (const { index, element } of placesOf(ledger, current)) {
    if (remaining.isZero()) break;
    if (target !== null && index !== target) continue;
    if (keepsPrincipalAhead && element === 'PRINCIPAL' && index > current) continue;
    const limit = element === 'INTEREST' ? smaller(remaining, interestToPay(ledger, index)) : remaining;
    remaining = remaining.minus(pay(ledger, index, element, limit));
  }
  const afterPrincipal = remaining.minus(keepsPrincipalAhead ? principalAhead(ledger) : zero);
  if (!afterPrincipal.greaterThan(zero)) return remaining;
  const last = target === null ? { first: 0, last: ledger.rows.length - 1 } : { first: target, last: target };
  return remaining.minus(afterPrincipal).plus(payRows(ledger, afterPrincipal, 'INTEREST', last));
}

/** The interest of a row that a repayment pays in its turn: all that can be paid, or what was applied by hand. */
function interestToPay(ledger: Ledger, index: number): Decimal {
  const { loan, position, rows } = ledger;
  const row = rowAt(rows, index);
  const owed = payable(ledger, index, 'INTEREST');
  const { applyInterestOnPrepaymentMethod } = loan.product.paymentSettings.prepaymentSettings;
  if (applyInterestOnPrepaymentMethod !== 'MANUAL' || !isEarning(loan, position, row)) return owed;
  return smaller(owed, larger(zero, row.interestApplied.minus(row.interest.amount.paid)));
}

/**
 * The elements of rows in the order in which a repayment pays them.
 * - HORIZONTAL: row by row in due-date order, and within a row in the product's order. The next row is paid only when
 *   the one before has nothing left to pay.
 * - VERTICAL: the first element of the product's order in all rows up to the current one, then the next element. Fees
 *   and penalties of later rows are due at once. After that the later rows, again one element after the other.
 */
function* placesOf(
  { loan, rows }: Ledger,
  current: number,
): Generator<{ readonly index: number; readonly element: AllocationElement }> {
  const { repaymentAllocationOrder, paymentMethod } = loan.product.paymentSettings;
  if (paymentMethod === 'HORIZONTAL') {
    for (const index of rows.keys()) for (const element of repaymentAllocationOrder) yield { index, element };
    return;
  }
  for (const element of repaymentAllocationOrder) {
    const isDueAtOnce = element === 'FEE' || element === 'PENALTY';
    for (const index of rows.keys()) if (isDueAtOnce || index <= current) yield { index, element };
  }
  for (const element of repaymentAllocationOrder) {
    for (const index of rows.keys()) if (index > current) yield { index, element };
  }
}

/** Checks the rules on custom amounts that need no balance. Returns null when none is broken. */
export function refusalOfCustomAmounts(
  isAllowedByProduct: boolean,
  amount: Decimal,
  parts: readonly CustomPaymentAmount[],
  currencyDigits: number,
): Refusal | null {
  if (!isAllowedByProduct) return refusal('CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT', 'customPaymentAmounts');
  const wrong = parts.findIndex((part) => !isPostable(part.amount, currencyDigits));
  if (wrong !== -1) return refusal('INVALID_AMOUNT', `customPaymentAmounts[${wrong}].amount`);
  const names = parts.map((part) => `${part.customPaymentAmountType} ${part.predefinedFeeKey ?? ''}`);
  const repeated = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (repeated !== -1) {
    return refusal(
      'SAME_CUSTOM_PAYMENT_AMOUNT_TYPE_USED_MULTIPLE_TIMES',
      `customPaymentAmounts[${repeated}].customPaymentAmountType`,
    );
  }
  if (!sum(parts.map((part) => part.amount)).equals(amount)) {
    return refusal('CUSTOM_PAYMENT_AMOUNT_DIFFERENT_THAN_TOTAL_PAYMENT_AMOUNT', 'customPaymentAmounts');
  }
  return null;
}

/**
 * Pays the elements that a custom repayment names, in its order and each row by row. The product's order is ignored.
 * @param target the index of the only row to pay; null for all of them
 * @returns the principal meant for rows after the current one, which a recalculation will spread; or INVALID_FEE_KEY
 *   or EXCESS_REPAYMENT_ERROR, naming the first part whose fee is unknown or that exceeds what is owed for it
 */
export function allocateCustom(
  ledger: Ledger,
  parts: readonly CustomPaymentAmount[],
  keepsPrincipalAhead: boolean,
  target: number | null = null,
): Decimal | Refusal {
  let prepaidPrincipal = zero;
  for (const [index, part] of parts.entries()) {
    const { predefinedFeeKey } = part;
    if (predefinedFeeKey !== undefined && findFee(ledger.loan.product, predefinedFeeKey) === undefined) {
      return refusal('INVALID_FEE_KEY', `customPaymentAmounts[${index}].predefinedFeeKey`);
    }
    const remaining = allocatePart(ledger, part, keepsPrincipalAhead, target);
    const isPrepayment = part.customPaymentAmountType === 'PRINCIPAL' && keepsPrincipalAhead;
    const prepayable = isPrepayment ? principalAhead(ledger) : zero;
    if (remaining.greaterThan(prepayable))
      return refusal('EXCESS_REPAYMENT_ERROR', `customPaymentAmounts[${index}].amount`);
    prepaidPrincipal = prepaidPrincipal.plus(remaining);
  }
  return prepaidPrincipal;
}

function allocatePart(
  ledger: Ledger,
  part: CustomPaymentAmount,
  keepsPrincipalAhead: boolean,
  target: number | null,
): Decimal {
  const { customPaymentAmountType: type, amount } = part;
  const end = ledger.rows.length - 1;
  if (type === 'PRINCIPAL' || type === 'INTEREST' || type === 'PENALTY') {
    const last = type === 'PRINCIPAL' && keepsPrincipalAhead ? currentRowIndex(ledger) : end;
    return payRows(ledger, amount, type, target === null ? { first: 0, last } : { first: target, last: target });
  }
  const key = target === null ? null : rowAt(ledger.rows, target).key;
  const isSelected = (charge: FeeCharge): boolean =>
    isCoveredBy(ledger, part, charge) && (key === null || charge.installmentKey === key);
  return amount.minus(payCharges(ledger, amount, isSelected));
}

function payRows(
  ledger: Ledger,
  amount: Decimal,
  element: AllocationElement,
  { first, last }: { readonly first: number; readonly last: number },
): Decimal {
  let remaining = amount;
  for (let index = first; index <= last; index += 1)
    remaining = remaining.minus(pay(ledger, index, element, remaining));
  return remaining;
}

function isCoveredBy(ledger: Ledger, part: CustomPaymentAmount, charge: FeeCharge): boolean {
  const { customPaymentAmountType, predefinedFeeKey } = part;
  if (predefinedFeeKey !== undefined) {
    const fee = findFee(ledger.loan.product, predefinedFeeKey);
    if (fee === undefined || fee.encodedKey !== charge.predefinedFeeKey) return false;
  }
  if (customPaymentAmountType === 'NON_SCHEDULED_FEE') return charge.allocation === 'NO_ALLOCATION';
  return charge.allocation === 'INSTALLMENT' && customAmountTypeOfFee[charge.trigger] === customPaymentAmountType;
}

/** Unpaid principal of the rows after the current one. */
export function principalAhead(ledger: Ledger): Decimal {
  const current = currentRowIndex(ledger);
  return sum(ledger.rows.map((_, index) => (index > current ? payable(ledger, index, 'PRINCIPAL') : zero)));
}

/**
 * The amount due on the value date. A repayment of more than this pays ahead, also with interest of late principal
 * that a row holds whose own days have not begun.
 * @param target the index of the only row to look at; null for all of them
 */
export function dueNow(ledger: Ledger, target: number | null = null): Decimal {
  const { rows, valueDate, loan } = ledger;
  const { interest } = behaviourOf(loan.product);
  return sum(
    rows.flatMap((row, index) => {
      if (target !== null && index !== target) return [];
      const elements: readonly Exclude<AllocationElement, 'FEE'>[] =
        row.dueDate <= valueDate
          ? ['PRINCIPAL', 'INTEREST', 'PENALTY']
          : interest === 'ACCRUED' && row.accruesAfter < valueDate
            ? ['INTEREST', 'PENALTY']
            : ['PENALTY'];
      return elements.map((element) => payable(ledger, index, element));
    }),
  ).plus(
    chargesDue(ledger, (charge) => {
      const { installmentKey } = charge;
      if (installmentKey === null) return false;
      if (target !== null && installmentKey !== rows[target]?.key) return false;
      const dueDate = findInstallment(rows, installmentKey)?.dueDate;
      return !isForDueDates(charge) || (dueDate !== undefined && dueDate <= valueDate);
    }),
  );
}
