import type { Loan } from '../loan.ts';
import { type Decimal, isPostable, roundAmount } from '../money.ts';
import type { FeeAmountCalculationMethod, ProductFee } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';

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

/**
 * The fee with the percentage that a command asks for, where the product leaves it open.
 * @returns a refusal: INVALID_FEE (the fee is no percentage), FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT (the product has
 *   another one), FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE
 */
export function withPercentage(
  fee: ProductFee,
  percentage: Decimal | undefined,
  errorSource: string,
): ProductFee | Refusal {
  if (percentage === undefined) return fee;
  if (!percentageMethods.has(fee.amountCalculationMethod)) return refusal('INVALID_FEE', errorSource);
  if (fee.percentageAmount !== undefined) {
    return fee.percentageAmount.equals(percentage)
      ? fee
      : refusal('FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT', errorSource);
  }
  return percentage.greaterThan(0)
    ? { ...fee, percentageAmount: percentage }
    : refusal('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE', errorSource);
}

const percentageMethods: ReadonlySet<FeeAmountCalculationMethod> = new Set<FeeAmountCalculationMethod>([
  'LOAN_AMOUNT_PERCENTAGE',
  'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE',
  'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS',
]);
