import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkers, judge } from './checkers.ts';
import { deliveryLag } from './deliveries.ts';
import { evidenceOf } from './evidence.ts';
import { silence, type HistoryEntry, type HistoryRecord, type EventPosition } from '../history.ts';

/** Each entry comes 10 ms after the one before. */
function recordsOf(entries: readonly HistoryEntry[]): HistoryRecord[] {
  return entries.map((entry, index) => ({ at: (index + 1) * 10, wall: 0, process: 'story', ...entry }));
}

const at = (offset: number, eventType = 'ledger'): EventPosition => ({ eventType, partition: 0, offset });

const opened = (stream: string): HistoryEntry => ({
  kind: 'stream opened',
  subscription: 'S',
  stream,
  node: 'serve-1',
  batchLimit: 1,
  uncommittedEventsMaximum: 1,
});
const delivered = (stream: string, offset: number, ...eids: string[]): HistoryEntry => ({
  kind: 'delivered',
  subscription: 'S',
  stream,
  position: at(offset),
  eids,
});
const committed = (stream: string, offset: number, attemptedAt: number): HistoryEntry => ({
  kind: 'commit answered',
  subscription: 'S',
  stream,
  outcome: 'committed',
  attemptedAt,
  cursors: [at(offset)],
  advanced: [true],
});
const closed = (stream: string): HistoryEntry => ({
  kind: 'stream closed',
  subscription: 'S',
  stream,
  reason: 'cut off',
});
const attempted = (first: number, ...eids: string[]): HistoryEntry => ({
  kind: 'publish attempted',
  producer: 'P',
  eventType: 'ledger',
  partition: 0,
  events: eids.map((eid, index) => ({ eid, number: first + index })),
});
const answered = (outcome: 'acknowledged' | 'refused' | 'unknown', ...eids: string[]): HistoryEntry => ({
  kind: 'publish answered',
  outcome,
  eids,
});
const seen = (offset: number, askedAt: number): HistoryEntry => ({
  kind: 'cursors seen',
  subscription: 'S',
  node: 'serve-2',
  askedAt,
  cursors: [at(offset)],
});
const flushed: HistoryEntry = { kind: 'fault begun', fault: 'flush redis', number: 1, losesCoordination: true };
const healed: HistoryEntry = { kind: 'fault healed', fault: 'flush redis', number: 1 };
const logRead = (offset: number, eid: string): HistoryEntry => ({ kind: 'log read', position: at(offset), eid });

/** Two consecutive streams, an event that was sent without a response, and one that was refused. */
const streaming: readonly HistoryEntry[] = [
  { kind: 'subscription created', subscription: 'S', eventTypes: ['ledger'], isPrompt: true },
  attempted(1, 'e1', 'e2'),
  answered('acknowledged', 'e1', 'e2'),
  attempted(3, 'bad'),
  answered('refused', 'bad'),
  attempted(4, 'e3'),
  answered('unknown', 'e3'),
  attempted(5, 'e4', 'e5'),
  answered('acknowledged', 'e4', 'e5'),
  opened('A'),
  delivered('A', 1, 'e1', 'e2'),
  committed('A', 1, 112),
  delivered('A', 2, 'e3'),
  seen(1, 132),
  closed('A'),
  opened('B'),
  delivered('B', 2, 'e3'),
  committed('B', 2, 172),
  delivered('B', 3, 'e4'),
  delivered('B', 5, 'e5'),
  committed('B', 5, 202),
  seen(5, 212),
  logRead(0, 'e1'),
  logRead(1, 'e2'),
  logRead(2, 'e3'),
  logRead(3, 'e4'),
  logRead(5, 'e5'),
  { kind: 'log complete', eventTypes: ['ledger'] },
];

type Lending = Extract<HistoryEntry, { kind: 'log read' }>;

const lending = (type: string, offset: number, eid: string, facts: Lending['facts'] = {}): Lending => ({
  kind: 'log read',
  position: at(offset, type),
  eid,
  facts: { loan: 'L', ...facts },
});
const transaction = (offset: number, sequence: number, command: string, type: string, amount: number): Lending =>
  lending('loan_transaction_posted', offset, `t${offset}`, {
    sequence,
    command,
    transaction: { key: `key-${command}`, type, amount },
  });
const balance = (offset: number, sequence: number, command: string, principal: number, paid: number): Lending =>
  lending('loan_balance_changed', offset, `b${offset}`, {
    sequence,
    command,
    balances: { principalBalance: principal, principalPaid: paid, feesBalance: 0, feesPaid: 0 },
  });
const posted = (command: string, attempt = 1): HistoryEntry => ({
  kind: 'command posted',
  command,
  loan: 'L',
  type: 'REPAY',
  attempt,
});
const commandAnswered = (
  command: string,
  outcome: 'committed' | 'refused' | 'unknown',
  transactionKey?: string,
): HistoryEntry => ({
  kind: 'command answered',
  command,
  outcome,
  ...(transactionKey === undefined ? {} : { transaction: transactionKey }),
});
const loanSeen = (node: string, principal: number, paid: number): HistoryEntry => ({
  kind: 'loan seen',
  loan: 'L',
  node,
  balances: { principalBalance: principal, principalPaid: paid, feesBalance: 0, feesPaid: 0 },
  transactions: ['key-disburse', 'key-repay'],
});

/**
 * A loan of ten, a repayment that was sent twice, one that was refused, and one without a response that had no effect.
 */
const commands: readonly HistoryEntry[] = [
  posted('disburse'),
  commandAnswered('disburse', 'committed', 'key-disburse'),
  posted('repay'),
  commandAnswered('repay', 'unknown'),
  posted('repay', 2),
  commandAnswered('repay', 'committed', 'key-repay'),
  posted('excess'),
  commandAnswered('excess', 'refused'),
  posted('vanished'),
  commandAnswered('vanished', 'unknown'),
  transaction(0, 1, 'disburse', 'DISBURSEMENT', 1000),
  balance(0, 2, 'disburse', 1000, 0),
  transaction(1, 3, 'repay', 'REPAYMENT', 300),
  balance(1, 4, 'repay', 700, 300),
  lending('command_rejected', 0, 'r0', { command: 'excess' }),
  loanSeen('serve-1', 700, 300),
  loanSeen('serve-2', 700, 300),
];

const good = [...streaming, ...commands];

/** The good story with some of its entries replaced or removed. */
function changed(
  story: readonly HistoryEntry[],
  index: number,
  count: number,
  ...others: HistoryEntry[]
): HistoryEntry[] {
  return story.toSpliced(index, count, ...others);
}

function indexOf(entry: HistoryEntry): number {
  return good.findIndex((candidate) => JSON.stringify(candidate) === JSON.stringify(entry));
}

function without(...entries: HistoryEntry[]): HistoryEntry[] {
  const texts = new Set(entries.map((entry) => JSON.stringify(entry)));
  return good.filter((entry) => !texts.has(JSON.stringify(entry)));
}

function replaced(entry: HistoryEntry, ...others: HistoryEntry[]): HistoryEntry[] {
  return changed(good, indexOf(entry), 1, ...others);
}

function ended(...more: HistoryEntry[]): HistoryEntry[] {
  return [...good, ...more];
}

const broken: readonly (readonly [checker: string, how: string, story: readonly HistoryEntry[]])[] = [
  ['lost write', 'an event between others is never delivered', without(delivered('B', 3, 'e4'))],
  ['unseen', 'the last event is never delivered', without(delivered('B', 5, 'e5'))],
  [
    'silent stream',
    'a stream stops sending',
    ended({ kind: 'stream closed', subscription: 'S', stream: 'B', reason: silence }),
  ],
  [
    'silent stream',
    'a stream sends nothing after its reader paused',
    ended(
      { kind: 'fault begun', fault: 'stall consumers', number: 2, losesCoordination: false },
      { kind: 'fault healed', fault: 'stall consumers', number: 2 },
      { kind: 'stream closed', subscription: 'S', stream: 'B', reason: silence },
    ),
  ],
  ['unseen', 'an event whose response was lost is in the log and is never delivered', ended(logRead(6, 'e6'))],
  ['duplicate in the log', 'an event is in the log twice', ended(logRead(6, 'e5'))],
  [
    'inconsistent offsets',
    'two streams see different events',
    replaced(delivered('B', 3, 'e4'), delivered('B', 3, 'e5')),
  ],
  ['aborted or precommitted read', 'a refused event is delivered', ended(delivered('B', 6, 'bad'))],
  ['aborted or precommitted read', 'an event that was never published is in the log', ended(logRead(6, 'e9'))],
  ['aborted or precommitted read', 'an event is delivered and gone', without(logRead(2, 'e3'))],
  [
    'order of one producer',
    'two events are in the wrong order in the log',
    [...streaming.slice(0, 9), opened('A'), logRead(0, 'e2'), logRead(1, 'e1')],
  ],
  ['poll skip', 'a stream skips an event', without(delivered('B', 3, 'e4'))],
  ['nonmonotonic poll', 'a stream goes back', replaced(delivered('B', 5, 'e5'), delivered('B', 2, 'e3'))],
  ['commit regress', 'a node shows an older cursor', replaced(seen(5, 212), seen(3, 212))],
  [
    'commit regress',
    'a new stream begins before what is committed',
    replaced(delivered('B', 2, 'e3'), delivered('B', 1, 'e2')),
  ],
  [
    'commit regress',
    'a cursor older than the lag is lost with the coordination',
    [...good, ...Array.from({ length: 300 }, () => healed), flushed, seen(1, 1e6)],
  ],
  ['gap below committed', 'a commit covers an event that was never delivered', without(delivered('B', 3, 'e4'))],
  [
    'gap below committed',
    'a commit covers an event that was delivered later',
    replaced(committed('B', 2, 172), committed('B', 5, 172)),
  ],
  [
    'two owners',
    'a stream commits after another has taken over',
    replaced(committed('B', 2, 172), opened('C'), delivered('C', 2, 'e3'), committed('B', 2, 192)),
  ],
  ['two owners', 'a stream commits what it never received', replaced(delivered('B', 2, 'e3'))],
  [
    'bounded re-delivery',
    'a stream delivers more events again than the window allows',
    ended(opened('C'), delivered('C', 1, 'e2'), delivered('C', 2, 'e3'), delivered('C', 3, 'e4')),
  ],
  [
    'command effects exactly once',
    'a command posts twice',
    ended(transaction(2, 5, 'repay', 'REPAYMENT', 300), balance(2, 6, 'repay', 400, 600)),
  ],
  [
    'command effects exactly once',
    'a committed command has no events',
    ended(posted('x'), commandAnswered('x', 'committed')),
  ],
  [
    'command effects exactly once',
    'a refused command has changed the loan',
    ended(lending('loan_state_changed', 0, 's0', { command: 'excess', sequence: 5 })),
  ],
  [
    'command effects exactly once',
    'a command was refused and committed',
    ended(commandAnswered('excess', 'committed')),
  ],
  [
    'command effects exactly once',
    'a response names another transaction',
    replaced(commandAnswered('repay', 'committed', 'key-repay'), commandAnswered('repay', 'committed', 'key-other')),
  ],
  [
    'command effects exactly once',
    'half of a command without a response is in the log',
    ended(transaction(2, 5, 'vanished', 'REPAYMENT', 100)),
  ],
  [
    'command effects exactly once',
    'a command has run in two pieces',
    ended(lending('loan_fee_event', 0, 'f0', { sequence: 5, command: 'disburse' })),
  ],
  [
    'gap-free loan sequence',
    'a number is missing',
    without(balance(1, 4, 'repay', 700, 300), balance(0, 2, 'disburse', 1000, 0)),
  ],
  ['gap-free loan sequence', 'a number is repeated', ended(lending('loan_fee_event', 0, 'f0', { sequence: 4 }))],
  [
    'gap-free loan sequence',
    'the log has a loan’s events in another order',
    [transaction(0, 2, 'b', 'REPAYMENT', 1), transaction(1, 1, 'a', 'DISBURSEMENT', 1)],
  ],
  [
    'balance conservation',
    'a repayment is in the balances and not in the log',
    replaced(transaction(1, 3, 'repay', 'REPAYMENT', 300), transaction(1, 3, 'repay', 'REPAYMENT', 200)),
  ],
  [
    'balance conservation',
    'a node shows other balances',
    replaced(loanSeen('serve-2', 700, 300), loanSeen('serve-2', 1000, 0)),
  ],
];

function findingsOf(story: readonly HistoryEntry[]): Map<string, readonly string[]> {
  return new Map(judge(evidenceOf(recordsOf(story))).map(({ checker, findings }) => [checker, findings]));
}

describe('the checkers of a fault run', () => {
  it('find nothing in a good history', () => {
    expect([...findingsOf(good).values()].flat()).to.deep.equal([]);
  });

  for (const [checker, how, story] of broken) {
    it(`find a broken promise, ${checker}: ${how}`, () => {
      expect(findingsOf(story).get(checker), JSON.stringify([...findingsOf(story)])).to.have.length.above(0);
    });
  }

  it('each have a history that breaks their promise', () => {
    expect(new Set(broken.map(([checker]) => checker))).to.deep.equal(new Set(checkers.map(({ name }) => name)));
  });

  it('excuse commits that were lost with the coordination before they had to be mirrored', () => {
    const story = [
      ...streaming.slice(0, 22),
      flushed,
      healed,
      seen(1, 242),
      opened('C'),
      delivered('C', 2, 'e3'),
      delivered('C', 3, 'e4'),
      delivered('C', 5, 'e5'),
    ];
    expect([...findingsOf(story).values()].flat()).to.deep.equal([]);
  });

  it('excuse records that were deleted on purpose, and nothing sent later', () => {
    const truncated: HistoryEntry = { kind: 'log truncated', position: at(4) };
    const skipping = without(delivered('B', 3, 'e4'), logRead(0, 'e1'), logRead(1, 'e2'), logRead(2, 'e3'));
    const before = skipping.toSpliced(9, 0, truncated);
    expect(findingsOf(before).get('lost write')).to.deep.equal([]);
    expect(findingsOf(before).get('aborted or precommitted read')).to.deep.equal([]);
    // They may have been stored and deleted before the producer got its answer.
    expect(findingsOf(skipping.toSpliced(8, 0, truncated)).get('lost write')).to.deep.equal([]);
    expect(findingsOf(skipping.toSpliced(7, 0, truncated)).get('lost write')).to.have.length(1);
  });

  it('accept that paused readers receive lines of several streams in any order', () => {
    const stalled = { kind: 'fault begun', fault: 'stall consumers', number: 7, losesCoordination: false } as const;
    const resumed: HistoryEntry = { kind: 'fault healed', fault: 'stall consumers', number: 7 };
    const late = [opened('C'), delivered('C', 5, 'e5'), committed('B', 5, 9_999)];
    expect(findingsOf(ended(...late)).get('two owners')).to.have.length(1);
    expect(findingsOf(ended(stalled, ...late, resumed)).get('two owners')).to.deep.equal([]);
    expect(findingsOf(ended(stalled, resumed, ...late)).get('two owners')).to.have.length(1);
  });

  it('accept a stream that continues after the events of another stream', () => {
    const story = replaced(delivered('B', 3, 'e4'), delivered('B', 3, 'e4'), opened('C'), opened('D')).concat([
      attempted(6, 'e6', 'e7', 'e8'),
      answered('acknowledged', 'e6', 'e7', 'e8'),
      delivered('B', 6, 'e6'),
      delivered('C', 7, 'e7'),
      delivered('B', 8, 'e8'),
      logRead(6, 'e6'),
      logRead(7, 'e7'),
      logRead(8, 'e8'),
    ]);
    expect(findingsOf(story).get('poll skip')).to.deep.equal([]);
  });

  it('report how late events were, and separately how late they were without faults', () => {
    const evidence = evidenceOf(
      recordsOf([
        ...streaming.slice(0, 1),
        attempted(1, 'e1'),
        answered('acknowledged', 'e1'),
        delivered('A', 0, 'e1'),
        attempted(2, 'e2'),
        answered('acknowledged', 'e2'),
        flushed,
        healed,
        delivered('A', 1, 'e2'),
      ]),
    );
    expect(deliveryLag(evidence)).to.deep.equal({
      all: { count: 2, median: 30, p99: 30, maximum: 30 },
      calm: { count: 1, median: 10, p99: 10, maximum: 10 },
    });
  });
});
