import type { CreateLoan } from '../../lending/commands.ts';
import type { Loan } from '../../lending/loan.ts';
import type { LoanProduct } from '../../lending/products/product.ts';
import { type Refusal, refusal } from '../../lending/refusals.ts';
import { previewedLoan } from '../../lending/schedule/preview.ts';
import type { ExactJson } from '../exact-json.ts';
import { FieldReader } from './field-reader.ts';
import { isAccountOrProductId } from './id-forms.ts';
import { type CreateLoanPayload, readCreateLoan } from './loan-payload.ts';

/** The id of a previewed account whose body names none. */
const idOfNobody = 'preview';

/** The encodedKey of every previewed account. No stored one has it: those are parts of hashes, never all zeros. */
const keyOfNobody = '0'.repeat(32);

/**
 * Reads the body of a preview of a schedule: that of a new account, whose id does not matter. Besides, it may have what
 * only previews have in the lending API, with the values that mean nothing: no top-up, and no rate of fees.
 * @returns the account that the body asks for; else the refusals
 */
export function readSchedulePreview(body: ExactJson): CreateLoanPayload | readonly Refusal[] {
  const refusals: Refusal[] = [];
  const id = body['id'] ?? idOfNobody;
  if (!isAccountOrProductId(id)) return [refusal('INVALID_PARAMETERS', 'id')];
  const reader = new FieldReader(body, refusals);
  reader.keepOnly('topUpAmount', 0);
  reader.object('feeRateSettings').keepOnly('feeRate', 0);
  const payload = readCreateLoan(reader, id);
  reader.refuseUnknown();
  return refusals.length > 0 ? refusals : payload;
}

/**
 * The account that a preview asks for. It is decided like one that is opened, and is not stored.
 * @param product The product under which it would be opened; null when there is none.
 * @param receivedAt Milliseconds since the epoch.
 * @returns else the refusals
 */
export function accountToPreview(
  { productTypeKey: _key, ...requested }: CreateLoanPayload,
  product: LoanProduct | null,
  receivedAt: number,
): Loan | readonly Refusal[] {
  const header = { type: 'CREATE_LOAN', commandId: '', digest: '', loanAccountId: idOfNobody, receivedAt } as const;
  const command: CreateLoan = { ...header, product, ...requested };
  return previewedLoan(command, { newKey: () => keyOfNobody });
}
