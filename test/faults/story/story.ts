import { expect } from 'chai';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { type ToggleName, type Toggles, allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { balancesInHundredths } from '../../support/lending/event-folds.ts';
import { randomNumbers } from '../../support/random-numbers.ts';
import type { SystemUnderTest } from '../system.ts';
import { type Json, LoanBook, type StoryCommand } from './loan-book.ts';
import { Narrator } from './narrator.ts';
import { Plot } from './plot.ts';
import { productOf, storyProduct } from './products.ts';

/** So that two processes have one each, and one of them decides all commands of the story. */
export const lendingPartitions = 2;
export const storyPartition = 1;

const seed = 4711;
const firstDay = '2023-01-15';
/** The loans have six installments, and the last one is due a little later. */
const daysOfTheStory = 170;
/** A loan of this much for each transaction is nearly repaid at the end. */
const amountPerTransaction = 6;

/** In each scene producers send commands, request by request, and then some are sent over HTTP. */
const scenes = 50;
const publishRequestsPerScene = 2;
const requestsPerScene = 10;
/** Which share of the commands is about the loan of the story, and not about its neighbours. */
const shareOfTheLoan = 0.85;
/** How many of the first commands are sent again: this share of the transactions, but no more than so many. */
const repeatedShare = 0.3;
const repeatedCommandsMaximum = 300;
const transactionsPerPage = 1_000;

/** The loan of the story and its neighbours, each with the type of its product. */
const types: readonly LoanProduct['type'][] = [
  'DYNAMIC_TERM_LOAN',
  'FIXED_TERM_LOAN',
  'DYNAMIC_TERM_LOAN',
  'FIXED_TERM_LOAN',
];

/** What a node shows of a loan. */
export interface ShownLoan {
  readonly account: string;
  readonly balances: string;
  readonly schedule: string;
  readonly transactions: readonly Json[];
}

/** One loan and its neighbours in the same partition, from their opening to their last transaction. */
export class Story {
  /** The loan of the story, then its neighbours. */
  readonly books: readonly LoanBook[];
  readonly narrator: Narrator;
  readonly #plots: readonly Plot[];
  readonly #random = randomNumbers(seed);
  /** In the order in which they were sent first. */
  readonly #commands: StoryCommand[] = [];
  readonly #loanAmount: number;
  readonly #publishedAtOnce: number;
  readonly #repeatedCommands: number;
  #toggles: Toggles = allTogglesOff;
  #onPublished = (): void => {};

  constructor(system: SystemUnderTest, transactions: number) {
    this.narrator = new Narrator(system.nodes);
    const ids = idsInOnePartition(types.length);
    this.books = types.map((type, index) => new LoanBook(ids[index] ?? '', productOf(storyProduct(type, type))));
    this.#loanAmount = amountPerTransaction * transactions;
    this.#publishedAtOnce = Math.ceil(transactions / scenes / publishRequestsPerScene);
    this.#repeatedCommands = Math.min(repeatedCommandsMaximum, Math.ceil(transactions * repeatedShare));
    const daysPerCommand = daysOfTheStory / transactions;
    this.#plots = this.books.map((book) => new Plot(book, { random: this.#random, firstDay, daysPerCommand }));
  }

  get toggles(): Toggles {
    return this.#toggles;
  }

  /** Opens the loans and pays them out, takes that back and pays them out again. */
  async begin(): Promise<void> {
    for (const type of new Set(types)) await this.narrator.create('/loanproducts', storyProduct(type, type));
    for (const [index, plot] of this.#plots.entries()) {
      const opening = { productTypeKey: types[index], loanAmount: this.#loanAmount };
      const write = (type: StoryCommand['type'], payload: Json): Promise<void> =>
        this.#request(plot.write({ type, payload }, this.#toggles, 'http'));
      await write('CREATE_LOAN', opening);
      await write('CHANGE_STATE', { action: 'APPROVE' });
      await write('DISBURSE', { valueDate: firstDay });
      await write('ADJUST_TRANSACTION', { transactionId: plot.book.loan.adjustableTransactionKey });
      await write('DISBURSE', { valueDate: firstDay, firstRepaymentDate: '2023-02-15' });
    }
  }

  /** Goes on, at least a little, until the loan has that many transactions. The last command is decided then. */
  async tellUntil(transactions: number): Promise<void> {
    do await this.#scene();
    while (this.#transactionCount() < transactions);
  }

  /**
   * Goes on until each loan has one more transaction. The last event of a loan has the names of the toggles as they
   * were when it was written.
   */
  async tellOfEach(): Promise<void> {
    for (const plot of this.#plots) {
      const { transactionCount } = plot.book.loan;
      for (let tries = 0; plot.book.loan.transactionCount === transactionCount && tries < 50; tries += 1) {
        const command = plot.next(this.#toggles, 'http');
        await this.#request(command);
        this.#commands.push(command);
      }
    }
  }

  /** Returns when a producer has sent commands next time: they are durable, and none may be decided yet. */
  untilInFlight(): Promise<void> {
    return new Promise((resolve) => (this.#onPublished = resolve));
  }

  /** Switches a toggle, which counts for all commands from now on. */
  async switchToggle(name: ToggleName, enabled: boolean): Promise<void> {
    await this.narrator.put(`/toggles/${name}`, { enabled });
    this.#toggles = { ...this.#toggles, [name]: enabled };
  }

  /** Sends the first commands again: each has the outcome that it had, and changes nothing. */
  async repeatBeginning(): Promise<void> {
    const first = this.#commands.slice(0, this.#repeatedCommands);
    await this.#publish(first);
    for (const command of first) if (command.idempotencyKey !== undefined) await this.#request(command);
  }

  /** Reads all of every loan, and compares it with the books. @returns what is shown, by loan account id */
  async read(): Promise<Map<string, ShownLoan>> {
    const shown = new Map<string, ShownLoan>();
    for (const book of this.books) {
      const path = `/loans/${book.id}`;
      const transactions: Json[] = [];
      for (let offset = 0; offset < book.loan.transactionCount; offset += transactionsPerPage) {
        const page = await this.narrator.get(`${path}/transactions?offset=${offset}&limit=${transactionsPerPage}`);
        transactions.push(...(JSON.parse(page) as Json[]));
      }
      const planned = [...book.outcomes.values()].flatMap(({ transactionKey }) => transactionKey ?? []);
      expect(transactions.map(({ encodedKey }) => encodedKey).join()).to.equal(planned.join());
      const balances = await this.narrator.get(`${path}/balances`);
      const expected = balancesInHundredths(balancesOf(book.loan, this.#toggles));
      expect(balancesInHundredths(JSON.parse(balances) as Json), book.id).to.deep.equal(expected);
      shown.set(book.id, {
        account: await this.narrator.get(path),
        balances,
        schedule: await this.narrator.get(`${path}/schedule`),
        transactions,
      });
    }
    return shown;
  }

  /** A text that the stored account of the loan contains, and that has a digit. */
  textOfStoredLoan(): string {
    return `"transactionCount":${this.#transactionCount()}`;
  }

  /** How many transactions the loan of the story has. */
  #transactionCount(): number {
    return this.books[0]?.loan.transactionCount ?? 0;
  }

  async #scene(): Promise<void> {
    for (let request = 0; request < publishRequestsPerScene; request += 1) {
      const commands = Array.from({ length: this.#publishedAtOnce }, () => this.#plot().next(this.#toggles, 'topic'));
      await this.#publish(commands);
      this.#commands.push(...commands);
      this.#onPublished();
    }
    const asked = Array.from({ length: requestsPerScene }, () => this.#plot().next(this.#toggles, 'http'));
    const byLoan = this.books.map(({ id }) => asked.filter(({ loanAccountId }) => loanAccountId === id));
    await Promise.all(
      byLoan.map(async (commands) => {
        for (const command of commands) await this.#request(command);
      }),
    );
    this.#commands.push(...asked);
  }

  #plot(): Plot {
    const [first, ...neighbours] = this.#plots;
    const neighbour = neighbours[Math.floor(this.#random() * neighbours.length)];
    const plot = this.#random() < shareOfTheLoan ? first : neighbour;
    if (plot === undefined) throw new Error('A story needs loans');
    return plot;
  }

  #publish(commands: readonly StoryCommand[]): Promise<void> {
    return this.narrator.publish(commands);
  }

  /** Sends a command over HTTP, and compares the response with the book. */
  async #request(command: StoryCommand): Promise<void> {
    const { status, text } = await this.narrator.request(command);
    const book = this.books.find(({ id }) => id === command.loanAccountId);
    const planned = book?.outcomes.get(command.commandId);
    const body = JSON.parse(text) as { encodedKey?: string; errors?: { errorReason: string }[] };
    const shown = {
      refusalReasons: (body.errors ?? []).map(({ errorReason }) => errorReason),
      transactionKey: planned?.transactionKey === null ? null : body.encodedKey,
    };
    expect(shown, `${JSON.stringify(command)} was answered ${status}: ${text}`).to.deep.equal(planned);
  }
}

function idsInOnePartition(count: number): string[] {
  const ids: string[] = [];
  for (let number = 1; ids.length < count; number += 1) {
    if (hashPartition([`story-${number}`], lendingPartitions) === storyPartition) ids.push(`story-${number}`);
  }
  return ids;
}
