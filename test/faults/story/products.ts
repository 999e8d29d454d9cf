import { annuityProduct } from '../../../src/admin/example-product.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { parseCommand } from '../../../src/lending-format/command-format.ts';
import type { Json } from './loan-book.ts';

/** The products of the story: both types, with fees of all kinds, taxes and custom allocation. */

/** A manual fee that is a percentage of what was lent. */
export const percentFee = 'percent';
/** A manual fee outside the schedule. */
export const outsideFee = 'outside';

const fees = [
  { id: 'deducted', name: 'Deducted', trigger: 'DISBURSEMENT', amount: 12.5, feeApplication: 'REQUIRED' },
  {
    id: 'capitalised',
    name: 'Capitalised',
    trigger: 'CAPITALIZED_DISBURSEMENT',
    amount: 15,
    feeApplication: 'REQUIRED',
  },
  { id: 'upfront', name: 'Upfront', trigger: 'UPFRONT_DISBURSEMENT', amount: 7.77, feeApplication: 'REQUIRED' },
  { id: 'each', name: 'Each', trigger: 'PAYMENT_DUE', amount: 3.33, feeApplication: 'REQUIRED' },
  {
    id: percentFee,
    name: 'Percent',
    trigger: 'MANUAL',
    amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    percentageAmount: 0.01,
  },
  { id: outsideFee, name: 'Outside', trigger: 'MANUAL', allocation: 'NO_ALLOCATION' },
];

/** The body of POST /loanproducts. */
export function storyProduct(id: string, type: LoanProduct['type']): Json {
  const { interestSettings, ...annuity } = annuityProduct(id, 6);
  return {
    ...annuity,
    type,
    allowCustomRepaymentAllocation: true,
    interestSettings: { ...interestSettings, interestRate: { defaultValue: 1 } },
    feesSettings: { allowArbitraryFees: true, fees },
    taxSettings: {
      taxRate: 19,
      taxCalculationMethod: 'EXCLUSIVE',
      taxesOnInterestEnabled: true,
      taxesOnFeesEnabled: true,
      taxesOnPenaltyEnabled: true,
    },
  };
}

/** The product as the pure rules have it. */
export function productOf(payload: Json): LoanProduct {
  const envelope = {
    type: 'CREATE_PRODUCT',
    loanProductId: payload['id'],
    commandId: '6f9619ff-8b86-4011-b42d-00cf4fc964ff',
  };
  const value = Buffer.from(JSON.stringify({ ...envelope, payload }));
  const parsed = parseCommand(value, { partition: 0, offset: 0, appendedAt: 0 });
  if (parsed.kind !== 'product' || parsed.request.type !== 'CREATE_PRODUCT')
    throw new Error('The product of the story is none');
  return parsed.request.product;
}
