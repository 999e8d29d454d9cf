import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import { openFilledCopy } from '../../support/lending/filled-copy.ts';
import { systemClock } from '../../../src/clock.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { decodeLoan } from '../../../src/lending/changelog/stored-loan.ts';
import { decodeTransactionSummary } from '../../../src/lending/changelog/stored-transaction.ts';
import type { Toggles } from '../../../src/lending/toggle-names.ts';
import { accountProductReference, readNamedProduct } from '../../../src/lending-format/account-products.ts';
import { joinedAccount } from '../../../src/lending-format/account-pages.ts';
import { type PageName, accountRecordOf } from '../../../src/lending-format/account-record-keys.ts';
import { lendingEventTypeNames, accountsTopic, deadLettersTopic } from '../../../src/lending-format/lending-topics.ts';
import {
  writeAccount,
  writeBalances,
  writeSchedule,
  writeTransactions,
} from '../../../src/lending-format/response-bodies.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import {
  balancesInHundredths,
  foldBalanceChanges,
  foldSchedule,
  foldTransactions,
} from '../../support/lending/event-folds.ts';
import { insist } from '../../support/insist.ts';
import { type ReadRecord, readAll } from '../../support/log-reading.ts';
import type { Json, LoanBook } from './loan-book.ts';
import type { ShownLoan } from './story.ts';

/** What the log says about the loans of a story, compared with what REST showed of them. */

/** The events of a partition, by the id of the loan that they are about. */
export type EventsByLoan = ReadonlyMap<string, readonly Json[]>;

/** How many bytes are read at once. */
const readBytes = 1024 * 1024;

function readPartition(log: EventLog, topic: string, partition: number): Promise<ReadRecord[]> {
  return readAll(log, { topic, partition }, undefined, readBytes);
}

/** All lending events of a partition. An event that is there twice fails. */
export async function readEvents(log: EventLog, partition: number): Promise<EventsByLoan> {
  const byLoan = new Map<string, Json[]>();
  const seen = new Set<unknown>();
  for (const name of lendingEventTypeNames) {
    for (const { value } of await readPartition(log, name, partition)) {
      const event = JSON.parse(value ?? '') as Json;
      const { eid } = event['metadata'] as Json;
      expect(seen.has(eid), `${name} ${String(eid)} is there twice`).to.equal(false);
      seen.add(eid);
      const loan = String(event['loanAccountId']);
      const events = byLoan.get(loan);
      if (events === undefined) byLoan.set(loan, [event]);
      else events.push(event);
    }
  }
  expect(await readPartition(log, deadLettersTopic, partition), 'dead letters').to.deep.equal([]);
  return byLoan;
}

function ofType(events: readonly Json[], name: string): Json[] {
  return events
    .filter((event) => (event['metadata'] as Json)['event_type'] === name)
    .sort((a, b) => Number(a['sequence']) - Number(b['sequence']));
}

/** The events of a loan are numbered without a gap, and say what REST shows. */
export function expectEventsToShow(events: readonly Json[], book: LoanBook, shown: ShownLoan): void {
  const sequences = events.flatMap(({ sequence }) => (sequence === undefined ? [] : [Number(sequence)]));
  sequences.sort((a, b) => a - b);
  const wrong = sequences.findIndex((sequence, index) => sequence !== index + 1);
  expect(wrong, `${book.id} has the event ${sequences[wrong]} in the place of ${wrong + 1}`).to.equal(-1);
  expect(sequences.length, book.id).to.equal(book.loan.eventSequence);

  const balanceEvents = ofType(events, 'loan_balance_changed');
  const balances = JSON.parse(shown.balances) as Json;
  expect(balanceEvents.at(-1)?.['balances'], `balances of ${book.id}`).to.deep.equal(balances);
  expect(foldBalanceChanges(balanceEvents), `changes of ${book.id}`).to.deep.equal(balancesInHundredths(balances));
  expectSame(
    foldSchedule(ofType(events, 'loan_schedule_changed')),
    (JSON.parse(shown.schedule) as { installments: Json[] }).installments,
    `installments of ${book.id}`,
  );
  expectSame(
    foldTransactions(ofType(events, 'loan_transaction_posted')),
    shown.transactions,
    `transactions of ${book.id}`,
  );
  const account = JSON.parse(shown.account) as Json;
  const state = ofType(events, 'loan_state_changed').at(-1);
  expect({
    accountState: state?.['accountState'],
    accountSubState: state?.['accountSubState'],
    encodedKey: state?.['loanAccountEncodedKey'],
    productTypeKey: state?.['productTypeKey'],
    balances: withScheduledFees(balances),
  }).to.deep.equal({
    accountState: account['accountState'],
    // Without a sub-state, the event says null and the account leaves it out.
    accountSubState: account['accountSubState'] ?? null,
    encodedKey: account['encodedKey'],
    productTypeKey: account['productTypeKey'],
    balances: balancesInHundredths(account['balances'] as Json),
  });
}

/** The balances of GET /loans/{id}, which have one name whatever the toggles say, from those of the events. */
function withScheduledFees(balances: Json): Record<string, number> {
  const named = Object.entries(balances).flatMap(([name, amount]) => {
    if (name.startsWith('nonScheduled')) return [];
    return [[name.replace('scheduledFees', 'fees'), amount]];
  });
  return balancesInHundredths(Object.fromEntries(named) as Json);
}

/** Each command of the loan has exactly one outcome in the events, and it is the one that the book has. */
export function expectEachCommandOnce(events: readonly Json[], book: LoanBook): void {
  const outcomes = new Map<string, string[]>();
  const note = (event: Json, outcome: string): void => {
    const command = String(event['causationCommandId']);
    outcomes.set(command, [...(outcomes.get(command) ?? []), outcome]);
  };
  const moves = new Set<unknown>();
  for (const event of ofType(events, 'loan_transaction_posted')) {
    note(event, String(event['transactionEncodedKey']));
    moves.add(event['causationCommandId']);
  }
  for (const event of ofType(events, 'command_rejected')) {
    note(event, (event['errors'] as Json[]).map(({ errorReason }) => errorReason).join());
  }
  for (const event of ofType(events, 'loan_state_changed')) {
    if (!moves.has(event['causationCommandId'])) note(event, 'state');
  }
  const planned = [...book.outcomes].map(([command, { transactionKey, refusalReasons }]) => [
    command,
    refusalReasons.length > 0 ? refusalReasons.join() : (transactionKey ?? 'state'),
  ]);
  const byCommand = (a: readonly unknown[], b: readonly unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
  const found = [...outcomes].map(([command, list]) => [command, list.join(' and ')]);
  expectSame(found.sort(byCommand), planned.sort(byCommand), `outcomes of ${book.id}`);
}

/** What the newest records of the keys of a partition say. */
export interface FoldedChangelog {
  /** By loan account id, each with its pages. */
  readonly accounts: ReadonlyMap<string, string>;
  /** By loan account id, in the order they were posted. */
  readonly transactions: ReadonlyMap<string, readonly string[]>;
  /** By the reference that accounts have. */
  readonly products: ReadonlyMap<string, string>;
}

/** Folds the changelog of a partition. */
export async function foldChangelog(log: EventLog, partition: number): Promise<FoldedChangelog> {
  const accounts = new Map<string, string>();
  const products = new Map<string, string>();
  const pages = new Map<string, PageName & { readonly loan: string; readonly text: string }>();
  const byKey = new Map<string, { readonly loan: string; readonly text: string }>();
  for (const { key, value: text } of await readPartition(log, accountsTopic, partition)) {
    const record = accountRecordOf(key ?? '');
    const reference = accountProductReference(key ?? '');
    if (reference !== undefined && text !== null) products.set(reference, text);
    if (record === undefined) continue;
    if (record.page !== undefined && text === null) {
      pages.delete(key ?? '');
      continue;
    }
    if (text === null) throw new Error(`The changelog deletes ${key}`);
    if (record.page !== undefined) pages.set(key ?? '', { ...record.page, loan: record.loanAccountId, text });
    else if (record.transactionKey === undefined) accounts.set(record.loanAccountId, text);
    else byKey.set(record.transactionKey, { loan: record.loanAccountId, text });
  }
  const numberOf = (text: string): number => Number(decodeTransactionSummary(text).id.split('-').at(-1));
  const transactions = new Map(
    [...accounts.keys()].map((id) => {
      const texts = [...byKey.values()].flatMap(({ loan, text }) => (loan === id ? [text] : []));
      return [id, texts.sort((a, b) => numberOf(a) - numberOf(b))];
    }),
  );
  const pagesOf = (id: string): string[] =>
    [...pages.values()]
      .filter(({ loan }) => loan === id)
      .sort((a, b) => (a.list === b.list ? a.number - b.number : a.list < b.list ? -1 : 1))
      .map(({ text }) => text);
  const whole = new Map([...accounts].map(([id, text]) => [id, joinedAccount(text, pagesOf(id))]));
  return { accounts: whole, transactions, products };
}

/** The changelog says of a loan what REST shows. */
export function expectChangelogToShow(
  changelog: FoldedChangelog,
  id: string,
  shown: ShownLoan,
  toggles: Toggles,
): void {
  const account = decodeLoan(changelog.accounts.get(id) ?? '', (reference) =>
    readNamedProduct(reference, changelog.products.get(reference) ?? ''),
  );
  expect(writeAccount(account)).to.equal(shown.account);
  expect(writeBalances(account, toggles)).to.equal(shown.balances);
  expect(writeSchedule(account, toggles, alwaysOpen)).to.equal(shown.schedule);
  const transactions = writeTransactions(account, changelog.transactions.get(id) ?? []);
  expectSame(JSON.parse(transactions) as Json[], shown.transactions, `transactions of ${id} in the changelog`);
}

/**
 * A process that opens the copy of a folder reads there what the changelog has. It makes a new copy where there is
 * none, or where it finds damage that nothing has read before.
 */
export async function expectCopyToHave(
  log: EventLog,
  dataFolder: string,
  partitionCount: number,
  changelog: FoldedChangelog,
): Promise<void> {
  const accounts = await openFilledCopy({
    dataFolder,
    log,
    partitionCount,
    clock: systemClock,
    logger: silentLogger,
  });
  try {
    for (const [id, account] of changelog.accounts) {
      const all = { offset: 0, limit: Infinity };
      const copied = await insist(async () => [accounts.accountText(id), ...accounts.transactions(id, all)]);
      expectSame(copied, [account, ...(changelog.transactions.get(id) ?? [])], `${id} in ${dataFolder}`);
    }
  } finally {
    await accounts.close();
  }
}

/** Long lists that differ are shown by their first difference. */
function expectSame(found: readonly unknown[], expected: readonly unknown[], what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  const length = Math.max(found.length, expected.length);
  for (let at = 0; at < length; at += 1) expect(found[at], `${what}, at ${at}`).to.deep.equal(expected[at]);
}
