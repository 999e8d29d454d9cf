import type { RequestedFee } from '../commands.ts';
import { feeAmount, withPercentage } from './amounts.ts';
import type { Loan } from '../loan.ts';
import { type Decimal, zero } from '../money.ts';
import { type FeeTrigger, type LoanProduct, type ProductFee, findFee } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';

/**
 * The fees that are charged with a disbursement: those that the product requires, those that the account agreed, and
 * those that the disbursement asks for. Where the disbursement names a fee of the account, its amount counts.
 */

/** A fee to charge with the disbursement. */
export interface FeeToCharge {
  readonly fee: ProductFee;
  readonly requestedAmount: Decimal | undefined;
  /** The field that gave its amount, for refusals. */
  readonly errorSource: string;
}

const disbursementTriggers: readonly FeeTrigger[] = [
  'DISBURSEMENT',
  'CAPITALIZED_DISBURSEMENT',
  'UPFRONT_DISBURSEMENT',
  'PAYMENT_DUE',
  'PAYMENT_DUE_APPLIED_ON_DUE_DATES',
];

type ChosenFees = ReadonlyMap<ProductFee, FeeToCharge>;

/** Where fees were asked for: the path of their list, and the field of each that names the fee. */
interface Place {
  readonly list: string;
  readonly keyField: string;
}

const ofDisbursement: Place = { list: 'fees', keyField: 'predefinedFeeKey' };
const ofAccount: Place = { list: 'disbursementDetails.fees', keyField: 'predefinedFeeEncodedKey' };

/**
 * The fees to charge, in the product's order.
 * @param requested The fees that the disbursement asks for.
 * @returns else the refusals: INVALID_FEE_KEY, FEE_NOT_ACTIVE, FEE_NOT_ALLOWED, DUPLICATE_DISBURSEMENT_FEE and what
 *   {@link withPercentage} refuses
 */
export function feesToCharge(
  loan: Loan,
  requested: readonly RequestedFee[],
): readonly FeeToCharge[] | { readonly refusals: readonly Refusal[] } {
  const chosen = chosenFees(loan.product, requested, ofDisbursement);
  return 'refusals' in chosen ? chosen : chargedFees(loan.product, new Map([...agreedFees(loan), ...chosen.fees]));
}

/** The fees that a disbursement charges that asks for none, as far as their amounts are known. */
export function expectedFees(loan: Loan): readonly FeeToCharge[] {
  return chargedFees(loan.product, agreedFees(loan)).filter(
    ({ fee, requestedAmount }) => !('errorReason' in feeAmount(loan, fee, requestedAmount, zero)),
  );
}

/** Why the product refuses fees of an account: the reasons of {@link feesToCharge}, and those of {@link feeAmount}. */
export function refusalsOfAgreedFees(loan: Loan): readonly Refusal[] {
  const chosen = chosenFees(loan.product, loan.disbursementFees ?? [], ofAccount);
  if ('refusals' in chosen) return chosen.refusals;
  return [...chosen.fees.values()].flatMap(({ fee, requestedAmount, errorSource }) => {
    const amount = feeAmount(loan, fee, requestedAmount, zero, errorSource);
    return 'errorReason' in amount ? [amount] : [];
  });
}

/** The same fees under their encodedKeys, as an account stores them; a fee that the product lacks stays as it is. */
export function withFeeKeys(product: LoanProduct, fees: readonly RequestedFee[]): readonly RequestedFee[] {
  return fees.map((fee) => ({
    ...fee,
    predefinedFeeKey: findFee(product, fee.predefinedFeeKey)?.encodedKey ?? fee.predefinedFeeKey,
  }));
}

function agreedFees({ product, disbursementFees = [] }: Loan): ChosenFees {
  const chosen = chosenFees(product, disbursementFees, ofAccount);
  // They were checked when the account agreed them, and the account keeps its product as it was.
  if ('refusals' in chosen) throw new Error('The account has fees that its product refuses');
  return chosen.fees;
}

function chosenFees(
  product: LoanProduct,
  requested: readonly RequestedFee[],
  { list, keyField }: Place,
): { readonly fees: ChosenFees } | { readonly refusals: readonly Refusal[] } {
  const refusals: Refusal[] = [];
  const fees = new Map<ProductFee, FeeToCharge>();
  for (const [index, { predefinedFeeKey, amount, percentage }] of requested.entries()) {
    const fee = findFee(product, predefinedFeeKey);
    const source = `${list}[${index}].${keyField}`;
    const priced = fee === undefined ? undefined : withPercentage(fee, percentage, `${list}[${index}].percentage`);
    if (fee === undefined) refusals.push(refusal('INVALID_FEE_KEY', source));
    else if (fee.state !== 'ACTIVE') refusals.push(refusal('FEE_NOT_ACTIVE', source));
    else if (!disbursementTriggers.includes(fee.trigger)) refusals.push(refusal('FEE_NOT_ALLOWED', source));
    else if (fees.has(fee)) refusals.push(refusal('DUPLICATE_DISBURSEMENT_FEE', source));
    else if (priced === undefined || 'errorReason' in priced)
      refusals.push(priced ?? refusal('INVALID_FEE_KEY', source));
    else fees.set(fee, { fee: priced, requestedAmount: amount, errorSource: `${list}[${index}].amount` });
  }
  return refusals.length > 0 ? { refusals } : { fees };
}

/** The chosen fees and those that are always charged, in the product's order. */
function chargedFees(product: LoanProduct, chosen: ChosenFees): readonly FeeToCharge[] {
  return product.feesSettings.fees.flatMap((fee) => {
    const chosenFee = chosen.get(fee);
    if (chosenFee !== undefined) return [chosenFee];
    const isRequired = fee.feeApplication === 'REQUIRED' && fee.state === 'ACTIVE';
    if (!isRequired || !disbursementTriggers.includes(fee.trigger)) return [];
    return [{ fee, requestedAmount: undefined, errorSource: 'fees' }];
  });
}
