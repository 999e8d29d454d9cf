import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { execute } from '../../../src/lending/commands/execute.ts';
import type { LoanCommand } from '../../../src/lending/commands.ts';
import type { Loan, LoanTransaction } from '../../../src/lending/loan.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import type { Toggles } from '../../../src/lending/toggle-names.ts';
import { type CommandType, parseCommand } from '../../../src/lending-format/command-format.ts';
import { keysOf, transactionKeyOf } from '../../../src/lending-format/derived-ids.ts';

export type Json = Record<string, unknown>;

/** A command of the story, as its sender has it. */
export interface StoryCommand {
  readonly commandId: string;
  /** The Idempotency-Key under which it is sent over HTTP. Without one, a producer writes it to the topic. */
  readonly idempotencyKey?: string;
  readonly type: CommandType;
  readonly loanAccountId: string;
  readonly payload: Json;
}

/** What has to become of a command: the reasons of its refusal, or none when it is committed. */
export interface PlannedOutcome {
  readonly refusalReasons: readonly string[];
  /** The encodedKey of the transaction that it posts, when it posts one. */
  readonly transactionKey: string | null;
}

/**
 * A loan as the pure rules alone keep it: no log, no process, no fault. Each command of the story is decided here
 * before it is sent, so that the story knows what has to become of it.
 */
export class LoanBook {
  readonly id: string;
  /** What has to become of each command, by command id, in the order of the commands. */
  readonly outcomes = new Map<string, PlannedOutcome>();
  readonly #product: LoanProduct;
  /** By encodedKey and by id. */
  readonly #transactions = new Map<string, LoanTransaction>();
  #loan: Loan | null = null;

  constructor(id: string, product: LoanProduct) {
    this.id = id;
    this.#product = product;
  }

  get loan(): Loan {
    if (this.#loan === null) throw new Error(`The story has not opened ${this.id}`);
    return this.#loan;
  }

  /** The last transaction that was not undone. */
  get adjustable(): LoanTransaction | undefined {
    return this.#transactions.get(this.loan.adjustableTransactionKey ?? '');
  }

  /** Decides a command under these toggles. */
  decide(command: StoryCommand, toggles: Toggles): PlannedOutcome {
    const loanCommand = this.#read(command);
    const { commandId } = command;
    const newPositionalKey = keysOf({ partition: 0, offset: this.outcomes.size });
    const execution = execute(this.#loan, loanCommand, {
      toggles,
      calendar: alwaysOpen,
      newKey: (purpose) =>
        purpose === 'transaction' ? transactionKeyOf(this.id, commandId) : newPositionalKey(purpose),
      transactions: {
        find: (keyOrId) => this.#transactions.get(keyOrId),
        postedBy: (id) => this.#transactions.get(transactionKeyOf(this.id, id)),
        // The story gives no transaction an externalId.
        hasExternalId: () => false,
      },
    });
    if (execution.outcome === 'repeated') throw new Error(`The story uses the id ${commandId} twice`);
    const isRefused = execution.outcome === 'refused';
    const outcome: PlannedOutcome = {
      refusalReasons: isRefused ? execution.refusals.map(({ errorReason }) => errorReason) : [],
      transactionKey: isRefused ? null : execution.transactionKey,
    };
    if (!isRefused) {
      this.#loan = execution.loan;
      for (const transaction of execution.transactions) {
        this.#transactions.set(transaction.encodedKey, transaction).set(transaction.id, transaction);
      }
    }
    this.outcomes.set(commandId, outcome);
    return outcome;
  }

  #read(command: StoryCommand): LoanCommand {
    const received = { received_at: new Date().toISOString() };
    const { commandId, type, loanAccountId, payload } = command;
    const value = Buffer.from(JSON.stringify({ metadata: received, commandId, type, loanAccountId, payload }));
    const parsed = parseCommand(value, { partition: 0, offset: 0, appendedAt: Date.now() });
    if (parsed.kind !== 'loan') throw new Error(`The story has a command that is none: ${value.toString()}`);
    if (parsed.command.type !== 'CREATE_LOAN') return parsed.command;
    const { productTypeKey: _, ...request } = parsed.command;
    return { ...request, product: this.#product };
  }
}
