import { expect } from 'chai';
import { Kafka, logLevel, type KafkaMessage } from 'kafkajs';
import { before, describe, it } from 'mocha';
import { type Hash, createHash, randomUUID } from 'node:crypto';
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
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
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
import { describeOnCluster } from '../support/cluster.ts';
import { openKafkaLog } from '../support/kafka/log.ts';
import { kafkaStoredBytes } from '../support/kafka/stored-bytes.ts';
import { keyed } from '../support/log-reading.ts';
import { partOrWhole } from '../support/values/extent.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

/** How long the loan runs that is overpaid every month. What its events show grows with the square. */
const overpaidMonths = partOrWhole(200, 360);

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
    [12, partOrWhole(240, 1_200)],
    [360, 120],
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

  let total: OverpaidLife;

  // Once for both logs: to decide its commands takes longer than to write what they say.
  before(function () {
    this.timeout(180_000);
    total = overpaidLife();
  });

  /** The promise, of all that the months write. Bytes. */
  const overpaidBytesMaximum = partOrWhole(16_000_000, 50_000_000);

  it(`for a loan over ${overpaidMonths} months that is overpaid every month: a fifth of the events, and in the file a third of both`, async function () {
    this.timeout(300_000);
    const temporary = await openTemporaryLog();
    await writeLife(temporary.log, total);
    await temporary.log.close();
    const fileBytes = statSync(join(temporary.dataFolder, 'log.db')).size;
    await temporary.cleanup();
    // The events show each row that changed: about 46 MB of 360 months. Most of the rest is what adjusting restores.
    expect(total.eventBytes + total.changelogBytes).to.be.above(overpaidBytesMaximum);
    expect(total.changelogBytes).to.be.lessThan(partOrWhole(3_500_000, 10_000_000));
    expect(total.changelogBytes / total.eventBytes).to.be.lessThan(0.25);
    expect(fileBytes).to.be.lessThan(0.4 * overpaidBytesMaximum);
  });

  describeOnCluster('for the same loan', (cluster) => {
    it('is stored by Kafka within the same promise, and a client that knows nothing of us reads all of it', async function () {
      this.timeout(600_000);
      const { kafkaBrokers } = cluster();
      const log = await openKafkaLog(cluster());
      const prefix = `test.${randomUUID()}.`;
      await writeLife(log, total, prefix);
      await log.close();
      const topics = overpaidTopics.map((name) => prefix + name);
      const storedBytes = await kafkaStoredBytes(kafkaBrokers, topics);
      // Uncompressed it would be all of it. The file of the embedded log takes no more than that either.
      expect(storedBytes).to.be.within(0.02 * overpaidBytesMaximum, 0.4 * overpaidBytesMaximum);
      const read = await readWithKafkajs(kafkaBrokers, prefix, total.recordCount);
      expect(read).to.equal(total.digest);
      await deleteTopics(kafkaBrokers, topics);
    });
  });
});

/** The topics that the life of a loan is written to. */
const overpaidTopics = [...lendingEventTypeNames, accountsTopic];

interface OverpaidTotal {
  eventBytes: number;
  changelogBytes: number;
  recordCount: number;
  /** Of all records, whatever their order among topics. */
  digest: string;
}

/** A life of a loan, as the commits that write it. */
interface OverpaidLife extends OverpaidTotal {
  readonly commits: readonly (readonly { readonly topic: string; readonly records: readonly LogRecord[] }[])[];
}

/** The life of a loan that is overpaid by ten every month, a commit for each repayment. */
function overpaidLife(): OverpaidLife {
  const account = disbursedAccount(
    dynamicProduct({ ...reducing, scheduleSettings: { numInstallments: { defaultValue: overpaidMonths } } }),
  );
  const total: OverpaidTotal = { eventBytes: 0, changelogBytes: 0, recordCount: 0, digest: '' };
  const digests = new RecordDigests();
  const commits: OverpaidLife['commits'][number][] = [];
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
    total.recordCount += written.records.length;
    for (const { topic, record } of written.records) digests.add(topic, record);
    const topics = [...new Set(written.records.map(({ topic }) => topic))];
    commits.push(
      topics.map((topic) => {
        const ofTopic = written.records.filter((each) => each.topic === topic);
        return { topic, records: ofTopic.map(({ record }) => record) };
      }),
    );
  }
  expect(commits.length).to.equal(overpaidMonths);
  return { ...total, digest: digests.ofAll(), commits };
}

/** @param prefix Of the names of the topics and of the writer. */
async function writeLife(log: EventLog, { commits }: OverpaidLife, prefix = ''): Promise<void> {
  for (const topic of overpaidTopics) {
    const cleanupPolicy = topic === accountsTopic ? 'compact' : 'delete';
    const name = prefix + topic;
    await log.createTopic({ name, partitionCount: 1, cleanupPolicy, retentionMilliseconds: 3_600_000 });
  }
  const writer = await log.openWriter(`${prefix}worker-0`);
  for (const commit of commits) {
    await writer.append(commit.map(({ topic, records }) => ({ topic: prefix + topic, partition: 0, records })));
    await writer.commit();
  }
}

/** One digest of the records of some topics, in the order of each topic. */
class RecordDigests {
  readonly #byTopic = new Map<string, Hash>();

  add(topic: string, { key, value }: Pick<LogRecord, 'key' | 'value'>): void {
    const digest = this.#byTopic.get(topic) ?? createHash('sha256');
    digest.update(JSON.stringify([key, value === null ? null : value.length]));
    digest.update(value ?? '');
    this.#byTopic.set(topic, digest);
  }

  ofAll(): string {
    return [...this.#byTopic]
      .map(([topic, digest]) => `${topic} ${digest.digest('hex')}`)
      .sort()
      .join('\n');
  }
}

/** Reads so many records with another client, and digests them. */
async function readWithKafkajs(brokers: readonly string[], prefix: string, count: number): Promise<string> {
  const topics = overpaidTopics.map((name) => prefix + name);
  const groupId = `test.${randomUUID()}`;
  const consumer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).consumer({ groupId });
  const digests = new RecordDigests();
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  try {
    await new Promise<void>((resolve, reject) => {
      let read = 0;
      const take = ({ topic, message }: { topic: string; message: KafkaMessage }): Promise<void> => {
        digests.add(topic.slice(prefix.length), { key: message.key?.toString() ?? null, value: message.value });
        read += 1;
        if (read === count) resolve();
        return Promise.resolve();
      };
      consumer.run({ eachMessage: take }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return digests.ofAll();
}

async function deleteTopics(brokers: readonly string[], topics: string[]): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics });
  await admin.disconnect();
}
