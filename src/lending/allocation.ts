import type { CustomPaymentAmount } from './commands.ts';
import type { Ledger } from './ledger.ts';
import { chargesDue, pay, payCharges, payable } from './payments.ts';
import type { FeeCharge } from './fees/charges.ts';
import { currentRowIndex, findInstallment } from './installments.ts';
import { type Decimal, isPostable, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import { type AllocationElement, customAmountTypeOfFee, findFee } from './products/product.ts';
import { type Refusal, refusal } from './refusals.ts';

/**
 * HORIZONTAL allocation: row by row in due-date order, and within a row in the product's order. The next row is paid
 * only when the previous one has nothing left to pay. A dynamic loan's row that is not due yet accepts interest only up
 * to what it has earned.
 * @param keepsPrincipalAhead does not touch the principal of rows after the current one: a recalculation will spread it
 * @returns the amount that could not be allocated
 */
export function allocate(ledger: Ledger, amount: Decimal, keepsPrincipalAhead: boolean): Decimal {
  const { repaymentAllocationOrder } = ledger.loan.product.paymentSettings;
  const current = currentRowIndex(ledger);
  let remaining = amount;
  for (let index = 0; index < ledger.rows.length && !remaining.isZero(); index += 1) {
    for (const element of repaymentAllocationOrder) {
      if (keepsPrincipalAhead && element === 'PRINCIPAL' && index > current) continue;
      remaining = remaining.minus(pay(ledger, index, element, remaining));
    }
  }
  return remaining;
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
 * @returns the principal meant for rows after the current one, which a recalculation will spread; or INVALID_FEE_KEY
 *   or EXCESS_REPAYMENT_ERROR, naming the first part whose fee is unknown or that exceeds what is owed for it
 */
export function allocateCustom(
  ledger: Ledger,
  parts: readonly CustomPaymentAmount[],
  keepsPrincipalAhead: boolean,
): Decimal | Refusal {
  let prepaidPrincipal = zero;
  for (const [index, part] of parts.entries()) {
    const { predefinedFeeKey } = part;
    if (predefinedFeeKey !== undefined && findFee(ledger.loan.product, predefinedFeeKey) === undefined) {
      return refusal('INVALID_FEE_KEY', `customPaymentAmounts[${index}].predefinedFeeKey`);
    }
    const remaining = allocatePart(ledger, part, keepsPrincipalAhead);
    const isPrepayment = part.customPaymentAmountType === 'PRINCIPAL' && keepsPrincipalAhead;
    const prepayable = isPrepayment ? principalAhead(ledger) : zero;
    if (remaining.greaterThan(prepayable))
      return refusal('EXCESS_REPAYMENT_ERROR', `customPaymentAmounts[${index}].amount`);
    prepaidPrincipal = prepaidPrincipal.plus(remaining);
  }
  return prepaidPrincipal;
}

function allocatePart(ledger: Ledger, part: CustomPaymentAmount, keepsPrincipalAhead: boolean): Decimal {
  const { customPaymentAmountType: type, amount } = part;
  if (type === 'PRINCIPAL') {
    return payRows(ledger, amount, type, keepsPrincipalAhead ? currentRowIndex(ledger) : undefined);
  }
  if (type === 'INTEREST' || type === 'PENALTY') return payRows(ledger, amount, type);
  return amount.minus(payCharges(ledger, amount, (charge) => isCoveredBy(ledger, part, charge)));
}

function payRows(ledger: Ledger, amount: Decimal, element: AllocationElement, last = ledger.rows.length - 1): Decimal {
  let remaining = amount;
  for (let index = 0; index <= last; index += 1) remaining = remaining.minus(pay(ledger, index, element, remaining));
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

/** The amount due on the value date. A repayment of more than this pays ahead. */
export function dueNow(ledger: Ledger): Decimal {
  const { rows, valueDate, loan } = ledger;
  const { interest } = behaviourOf(loan.product);
  return sum(
    rows.flatMap((row, index) => {
      const elements: readonly Exclude<AllocationElement, 'FEE'>[] =
        row.dueDate <= valueDate
          ? ['PRINCIPAL', 'INTEREST', 'PENALTY']
          : interest === 'ACCRUED'
            ? ['INTEREST', 'PENALTY']
            : ['PENALTY'];
      return elements.map((element) => payable(ledger, index, element));
    }),
  ).plus(
    chargesDue(ledger, ({ trigger, installmentKey }) => {
      if (installmentKey === null) return false;
      const dueDate = findInstallment(rows, installmentKey)?.dueDate;
      return trigger !== 'PAYMENT_DUE' || (dueDate !== undefined && dueDate <= valueDate);
    }),
  );
}
