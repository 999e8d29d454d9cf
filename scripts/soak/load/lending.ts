import { setTimeout as sleep } from 'node:timers/promises';
import { post } from './client.ts';
import type { Counts } from './counts.ts';

/** Where loans are opened, and what of. */
export interface LendingSettings {
  readonly url: string;
  readonly product: string;
  readonly transactionsPerLoan: number;
}

/** Between two commands of a new loan. Milliseconds. */
const pauseMilliseconds = 250;

const valueDate = '2026-01-12';

type Command = readonly [path: string, body: object];

/** Opens loans and sends commands to them. */
export class Lending {
  readonly #settings: LendingSettings;
  readonly #counts: Counts;
  /** The loans whose first transactions are over have the numbers from 0 on, with few exceptions. */
  #finishedLoans = 0;

  constructor(settings: LendingSettings, counts: Counts) {
    this.#settings = settings;
    this.#counts = counts;
  }

  /** A new loan, from its application to the last of its first transactions. */
  async openLoan(number: number): Promise<void> {
    const { product, transactionsPerLoan } = this.#settings;
    const id = this.#loanId(number);
    const opening: Command[] = [
      ['/loans', { id, productTypeKey: product, loanAmount: 1_000 }],
      [`/loans/${id}:changeState`, { action: 'APPROVE' }],
      [`/loans/${id}/disbursement-transactions`, { valueDate }],
    ];
    const transactions = Array.from({ length: transactionsPerLoan }, (_, index) => transaction(id, index));
    for (const [index, command] of [...opening, ...transactions].entries()) {
      if (!(await this.#send(command))) return;
      if (index === opening.length - 1) this.#counts.add('loans', 1);
      await sleep(pauseMilliseconds);
    }
    this.#finishedLoans += 1;
  }

  /** A transaction of a loan that was opened earlier, chosen at random. Fees and repayments take turns. */
  async changeEarlierLoan(number: number): Promise<void> {
    if (this.#finishedLoans === 0) return;
    const id = this.#loanId(Math.floor(Math.random() * this.#finishedLoans));
    await this.#send(transaction(id, number));
  }

  #loanId(number: number): string {
    return `${this.#settings.product}-${number}`;
  }

  /** @returns whether the loan was changed */
  async #send([path, body]: Command): Promise<boolean> {
    try {
      const milliseconds = await post(`${this.#settings.url}${path}`, body);
      this.#counts.add('commands', 1);
      this.#counts.time('command', milliseconds);
      return true;
    } catch (error) {
      this.#counts.fail(error);
      return false;
    }
  }
}

/** A fee or, every second time, a repayment of as much: fees do not pile up, and no loan is ever repaid. */
function transaction(loanId: string, index: number): Command {
  if (index % 2 === 0) return [`/loans/${loanId}/fee-transactions`, { amount: 1, installmentNumber: 1, valueDate }];
  return [`/loans/${loanId}/repayment-transactions`, { amount: 1, valueDate }];
}
