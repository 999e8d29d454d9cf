/** How the loans of one type of product differ from those of another: one column for each difference. */
export interface ProductBehaviour {
  /**
   * SCHEDULED: each row owes the interest of the schedule. ACCRUED: a row owes what it has earned, day by day, on the
   * principal that was outstanding.
   */
  readonly interest: 'SCHEDULED' | 'ACCRUED';
  /** AGREED: rows keep the principal they were made with. REDRAWN: a prepayment may spread the rest of it again. */
  readonly rows: 'AGREED' | 'REDRAWN';
  /**
   * When the fee for a due date is owed. FROM_DISBURSEMENT: at once, as part of what was agreed. FROM_DUE_DATE: until
   * that day it is only planned, and it is dropped when the loan will not reach the day.
   */
  readonly dueDateFees: 'FROM_DISBURSEMENT' | 'FROM_DUE_DATE';
  /** The row that a fee charged by hand joins: the one that the command must name, or the next one due. */
  readonly manualFees: 'NAMED_ROW' | 'NEXT_DUE_ROW';
  /**
   * Under the toggle fixInstallmentTaxOnPenalty, the tax still due on a row's penalties. DERIVED: of all that is due.
   * SUMMED: as without the toggle, of each penalty.
   */
  readonly taxOnPenalties: 'DERIVED' | 'SUMMED';
}

const behaviours = {
  FIXED_TERM_LOAN: {
    interest: 'SCHEDULED',
    rows: 'AGREED',
    dueDateFees: 'FROM_DISBURSEMENT',
    manualFees: 'NAMED_ROW',
    taxOnPenalties: 'DERIVED',
  },
  DYNAMIC_TERM_LOAN: {
    interest: 'ACCRUED',
    rows: 'REDRAWN',
    dueDateFees: 'FROM_DUE_DATE',
    manualFees: 'NEXT_DUE_ROW',
    taxOnPenalties: 'SUMMED',
  },
} as const satisfies Readonly<Record<string, ProductBehaviour>>;

export type LoanProductType = keyof typeof behaviours;

/** Every type of product. */
export const loanProductTypes = Object.keys(behaviours) as readonly LoanProductType[];

/** The behaviour of the loans under a product: the one place where its type decides anything. */
export function behaviourOf({ type }: { readonly type: LoanProductType }): ProductBehaviour {
  return behaviours[type];
}
