import { type Toggles, allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { applyFee, disbursed, fee, product, repay, under, when } from '../loan-fixtures.ts';

/** The story of a loan with fees in its schedule and, once the toggle is on, one outside it. */

const withOutside = product({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } });
const fifty = when(disbursed(withOutside), applyFee(50, { installmentNumber: 1 }));

/** The toggles with which fees outside the schedule are allowed. */
export const withFeesOutside: Toggles = { ...allTogglesOff, ALLOW_NON_SCHEDULED_FEES: true };

/** A fee of 50 of which 20 are paid. */
export const feePartlyPaid = when(fifty, repay(20, '2011-01-23'));

/** Then a fee of 15 outside the schedule. */
export const feeOutsideApplied = when(
  under(withFeesOutside, feePartlyPaid),
  applyFee(15, { predefinedFeeKey: 'outside' }),
);
