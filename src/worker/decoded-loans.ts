import { BoundedMap } from '../bounded-map.ts';
import type { Loan } from '../lending/loan.ts';

/**
 * How much memory the decoded loans of a process may take, of all its partitions together. They are many small objects,
 * which each collection of garbage has to go through, and reading one again takes a fraction of a millisecond. Bytes.
 */
export const decodedLoansBytesMaximum = 24 * 1024 * 1024;

/**
 * A decoded loan takes about this many times the memory of its text: 4.5 times when it was read, and 7 times when it
 * was changed, since its rows then keep their texts.
 */
export const decodedBytesPerCharacter = 7;

/** The decoded loans of one opening of a partition. */
export interface DecodedLoansOfPartition {
  get(loanAccountId: string): Loan | undefined;
  /** @param textLength Of the loan as stored. Characters. */
  set(loanAccountId: string, loan: Loan, textLength: number): void;
  delete(loanAccountId: string): void;
}

/**
 * The decoded loans that the partitions of a process used last. Those unused for the longest are dropped first, in
 * whichever partition they are.
 */
export class DecodedLoans {
  readonly #loans: BoundedMap<string, { readonly loan: Loan; readonly bytes: number }>;
  #openings = 0;

  constructor(bytesMaximum: number = decodedLoansBytesMaximum) {
    this.#loans = new BoundedMap(bytesMaximum, ({ bytes }) => bytes);
  }

  /**
   * Begins with no loan: another process may have changed those of an earlier opening of the same partition. Nothing
   * reads these any more, so they are dropped in their turn.
   */
  openPartition(): DecodedLoansOfPartition {
    this.#openings += 1;
    const prefix = `${this.#openings}/`;
    return {
      get: (loanAccountId) => this.#loans.get(prefix + loanAccountId)?.loan,
      set: (loanAccountId, loan, textLength) => {
        this.#loans.set(prefix + loanAccountId, { loan, bytes: textLength * decodedBytesPerCharacter });
      },
      delete: (loanAccountId) => {
        this.#loans.delete(prefix + loanAccountId);
      },
    };
  }
}
