import { expect } from 'chai';
import { describe, it } from 'mocha';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { alwaysOpen } from '../../src/lending/schedule/calendar.ts';
import { execute } from '../../src/lending/commands/execute.ts';
import { accrueTo } from '../../src/lending/accrual.ts';
import { figuresOf } from '../../src/lending/balances.ts';
import type { LoanCommand } from '../../src/lending/commands.ts';
import type { Loan, LoanTransaction } from '../../src/lending/loan.ts';
import type { LoanProduct } from '../../src/lending/products/product.ts';
import { allTogglesOff } from '../../src/lending/toggle-names.ts';
import { eventWriter } from '../../src/lending-format/event-format.ts';
import { keysOf, transactionKeyOf } from '../../src/lending-format/derived-ids.ts';
import { accountsTopic, lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { LoanDraft, draftedTransaction } from '../../src/worker/loan-draft.ts';
import {
  type AskedCommand,
  actedAt,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  dynamicProduct,
  money,
  openedAt,
  product,
  repay,
} from '../lending/loan-fixtures.ts';
import { keyed } from '../support/log-reading.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

/** All that a command writes to the log, apart from its outcome, may be this many times its events. */
const timesTheEvents = 2.5;

interface WrittenRecord {
  readonly topic: string;
  readonly record: LogRecord;
}

interface Written {
  readonly eventBytes: number;
  readonly changelogBytes: number;
  readonly records: readonly WrittenRecord[];
}

/** The bytes of the values and of the keys of accounts; all events have the same key. */
function bytesOf(records: readonly WrittenRecord[]): number {
  return records.reduce(
    (sum, { topic, record: { key, value } }) =>
      sum + (topic === accountsTopic ? (key?.length ?? 0) : 0) + (value?.length ?? 0),
    0,
  );
}

/** An account whose commands are done like the worker does them. It remembers only its last transactions. */
class Account {
  loan: Loan | null = null;
  readonly #transactions = new Map<string, LoanTransaction>();
  #commands = 0;

  get existing(): Loan {
    return this.loan ?? expect.fail('no loan');
  }

  do(asked: AskedCommand): Written {
    this.#commands += 1;
    const commandId = `00000000-0000-4000-8000-${String(this.#commands).padStart(12, '0')}`;
    const receivedAt = asked.type === 'CREATE_LOAN' ? openedAt : actedAt;
    const command = {
      receivedAt,
      ...asked,
      commandId,
      digest: 'd'.repeat(64),
      loanAccountId: 'loan-1',
    } as LoanCommand;
    const position = { partition: 0, offset: this.#commands };
    const positionalKey = keysOf(position);
    const find = (keyOrId: string): LoanTransaction | undefined => this.#transactions.get(keyOrId);
    const execution = execute(this.loan, command, {
      toggles: allTogglesOff,
      calendar: alwaysOpen,
      newKey: (purpose) => (purpose === 'transaction' ? transactionKeyOf('loan-1', commandId) : positionalKey(purpose)),
      transactions: { find, postedBy: () => undefined, hasExternalId: () => false },
    });
    if (execution.outcome !== 'committed') return expect.fail(JSON.stringify(execution));
    const draft = new LoanDraft(this.loan, execution.loan);
    draft.change(
      execution.loan,
      execution.transactions.map((each) => draftedTransaction('loan-1', each)),
    );
    const records = [...draft.write().records];
    this.loan = execution.loan;
    this.#transactions.clear();
    for (const each of execution.transactions) this.#transactions.set(each.encodedKey, each);
    const envelope = { commandId, type: command.type, digest: '', flowId: null, receivedAt };
    const write = eventWriter({ envelope, position, receivedAt }, 2);
    const events = execution.events.map((event, index) => ({
      topic: event.eventType,
      record: keyed('loan-1', write(event, index)),
    }));
    const changelog = records.map(([key, text]) => ({ topic: accountsTopic, record: keyed(key, text) }));
    return {
      eventBytes: bytesOf(events),
      changelogBytes: bytesOf(changelog),
      records: [...events, ...changelog],
    };
  }

  /** Adjusts the transaction that was posted last. */
  adjust(): Written {
    const transactionId = this.existing.adjustableTransactionKey ?? expect.fail('no transaction');
    return this.do({ type: 'ADJUST_TRANSACTION', transactionId });
  }
}

function disbursedAccount(loanProduct: LoanProduct): Account {
  const account = new Account();
  for (const command of [create(loanProduct, 250_000), approve, disburse('2011-01-23')]) account.do(command);
  return account;
}

const reducing = {
  interestSettings: {
    interestRate: { defaultValue: money(4) },
    interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
  },
  paymentSettings: {
    prepaymentSettings: { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' },
  },
};

describe('what a command writes to the log', () => {
  for (const [rowCount, transactions] of [
    [12, 2_000],
    [360, 200],
  ] as const) {
    const scheduleSettings = { numInstallments: { defaultValue: rowCount } };
    for (const [kind, loanProduct, target] of [
      ['fixed', product({ interestSettings: { interestRate: { defaultValue: money(1) } }, scheduleSettings }), 1],
      ['dynamic', dynamicProduct({ ...reducing, scheduleSettings }), undefined],
    ] as const) {
      it(`is at most ${timesTheEvents} times its events, for a ${kind} loan over ${rowCount} months with ${transactions} transactions`, function () {
        this.timeout(180_000);
        const account = disbursedAccount(loanProduct);
        const installment = target === undefined ? {} : { installmentNumber: target };
        const day = { valueDate: '2011-01-25', ...installment };
        const kinds: [string, () => Written][] = [
          ['a fee', () => account.do(applyFee('0.02', day))],
          ['its repayment', () => account.do(repay('0.02', '2011-01-25'))],
          ['a penalty', () => account.do(applyPenalty('0.01', day))],
          ['its adjustment', () => account.adjust()],
        ];
        for (let count = 1; count < transactions; count += kinds.length) {
          for (const [what, act] of kinds) {
            const { eventBytes, changelogBytes } = act();
            const ratio = (eventBytes + changelogBytes) / eventBytes;
            if (ratio > timesTheEvents) expect.fail(`${what} after ${count} transactions: ${ratio.toFixed(2)}`);
          }
        }
        expect(account.existing.transactionCount).to.be.at.least(transactions);
      });
    }
  }

  it('for a loan over 360 months that is overpaid every month: a fifth of the events, and in the file a third of both', async function () {
    this.timeout(180_000);
    const account = disbursedAccount(
      dynamicProduct({ ...reducing, scheduleSettings: { numInstallments: { defaultValue: 360 } } }),
    );
    const total = { eventBytes: 0, changelogBytes: 0 };
    const temporary = await openTemporaryLog();
    const { log } = temporary;
    for (const name of [...lendingEventTypeNames, accountsTopic]) {
      const cleanupPolicy = name === accountsTopic ? 'compact' : 'delete';
      await log.createTopic({ name, partitionCount: 1, cleanupPolicy, retentionMilliseconds: 3_600_000 });
    }
    const writer = await log.openWriter('worker-0');
    let repayments = 0;
    while (account.existing.position.accountState === 'ACTIVE') {
      const { position } = account.existing;
      const { dueDate } = position.installments.find(({ repaidDate }) => repaidDate === null) ?? expect.fail();
      const {
        principal,
        interest,
        total: owed,
      } = figuresOf(account.existing, accrueTo(account.existing, position, dueDate));
      const more = principal.due.plus(interest.due).plus(10);
      const amount = more.greaterThan(owed) ? owed : more;
      const written = account.do(repay(amount, dueDate, { receivedAt: Date.parse('2060-01-01T12:00:00Z') }));
      total.eventBytes += written.eventBytes;
      total.changelogBytes += written.changelogBytes;
      const topics = [...new Set(written.records.map(({ topic }) => topic))];
      await writer.append(
        topics.map((topic) => {
          const ofTopic = written.records.filter((each) => each.topic === topic);
          return { topic, partition: 0, records: ofTopic.map(({ record }) => record) };
        }),
      );
      await writer.commit();
      repayments += 1;
    }
    await log.close();
    const fileBytes = statSync(join(temporary.dataFolder, 'log.db')).size;
    await temporary.cleanup();
    expect(repayments).to.equal(360);
    // The events show each row that changed: about 46 MB. Most of the rest is what adjusting would restore.
    expect(total.changelogBytes).to.be.lessThan(10_000_000);
    expect(total.changelogBytes / total.eventBytes).to.be.lessThan(0.25);
    // The promise is 50 MB.
    expect(fileBytes).to.be.lessThan(20_000_000);
  });
});
