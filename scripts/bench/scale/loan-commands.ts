/** Odd, so that the product of it and a number below 2^32 is another one for each number. */
const spread = 2_654_435_761n;

/** The id of the loan with this number, below 2^32. The ids are not in the order of the numbers. */
export function loanIdOf(number: number): string {
  const scattered = BigInt.asUintN(32, BigInt(number) * spread);
  return `L${scattered.toString(36).padStart(7, '0')}`;
}

/** The key of the account holder of a loan: each has ten loans. */
export function holderOf(number: number): string {
  return `holder-${Math.floor(number / 10)}`;
}

/** How many loans there are for each one that is approved; the others only wait for it. */
const loansPerApproval = 10;

export interface BenchCommand {
  readonly type: 'CREATE_LOAN' | 'CHANGE_STATE' | 'DISBURSE';
  readonly loanAccountId: string;
  readonly payload: object;
}

/** No loan has more commands than this. */
export const commandsPerLoanMaximum = 3;

/**
 * The commands that bring about the loan with this number.
 * @param products Their ids, used in turns.
 * @param disbursedOn The day on which every loan is disbursed; without it, none is.
 */
export function commandsOf(number: number, products: readonly string[], disbursedOn?: string): readonly BenchCommand[] {
  const loanAccountId = loanIdOf(number);
  const payload = {
    productTypeKey: products[number % products.length],
    accountHolderKey: holderOf(number),
    loanName: `Loan ${number}`,
    loanAmount: 1_000 + (number % 9_000),
  };
  const creation = { type: 'CREATE_LOAN', loanAccountId, payload } as const;
  const approval = { type: 'CHANGE_STATE', loanAccountId, payload: { action: 'APPROVE' } } as const;
  if (disbursedOn !== undefined) {
    return [creation, approval, { type: 'DISBURSE', loanAccountId, payload: { valueDate: disbursedOn } }];
  }
  return number % loansPerApproval === 0 ? [creation, approval] : [creation];
}
