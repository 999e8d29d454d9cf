import { grouped, type Checker, type Evidence } from './evidence.ts';
import { ofKind, type HistoryRecordOf, type LendingFacts } from '../history.ts';

/** The promises about loan commands, their events and their loans. */

type LendingEvent = LendingFacts & { readonly eventType: string; readonly eid: string; readonly at: string };

/** The worker's events in the order of the log. */
function lendingEvents({ records }: Evidence): LendingEvent[] {
  return ofKind(records, 'log read')
    .toSorted((a, b) => a.position.offset - b.position.offset)
    .flatMap(({ facts, position, eid }) =>
      facts === undefined ? [] : [{ ...facts, eventType: position.eventType, eid, at: String(position.offset) }],
    );
}

const transactionEvent = 'loan_transaction_posted';
const balanceEvent = 'loan_balance_changed';
const refusalEvent = 'command_rejected';

export const commandEffects: Checker = {
  name: 'command effects exactly once',
  promise: 'A committed command has its events once, a refused one its refusal once, an unanswered one all or nothing.',
  check(evidence) {
    const events = grouped(lendingEvents(evidence), ({ command }) => command ?? '');
    const responses = grouped(ofKind(evidence.records, 'command answered'), ({ command }) => command);
    const commands = new Set(ofKind(evidence.records, 'command posted').map(({ command }) => command));
    return [...commands].flatMap((command) =>
      commandFaults(responses.get(command) ?? [], events.get(command) ?? []).map((fault) => `${command}: ${fault}`),
    );
  },
};

function commandFaults(
  responses: readonly HistoryRecordOf<'command answered'>[],
  events: readonly LendingEvent[],
): string[] {
  const outcomes = new Set(responses.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'unknown'));
  if (outcomes.size > 1) return ['it was answered as committed and as refused'];
  const transactions = new Set(responses.flatMap(({ transaction }) => transaction ?? []));
  if (transactions.size > 1) return [`it was answered with the transactions ${[...transactions].join(' and ')}`];

  const faults: string[] = [];
  const refusals = events.filter(({ eventType }) => eventType === refusalEvent);
  const changes = events.filter(({ eventType }) => eventType !== refusalEvent);
  const posted = changes.filter(({ eventType }) => eventType === transactionEvent);
  if (refusals.length > 0 && changes.length > 0) faults.push('it has a refusal and changes');
  if (refusals.length > 1) faults.push(`it was refused ${refusals.length} times`);
  if (posted.length > 1) faults.push(`it posted ${posted.length} transactions`);
  const sequences = changes.flatMap(({ sequence }) => sequence ?? []).sort((a, b) => a - b);
  if (sequences.some((sequence, index) => index > 0 && sequence !== (sequences[index - 1] ?? 0) + 1)) {
    faults.push(`its events are not in one piece: ${sequences.join(', ')}`);
  }
  if (posted.length > 0 && !changes.some(({ eventType }) => eventType === balanceEvent)) {
    faults.push('it posted a transaction, but changed no balance');
  }
  if (outcomes.has('committed')) {
    if (changes.length === 0) faults.push('it was answered as committed, but has no events');
    const [answered] = transactions;
    const key = posted[0]?.transaction?.key;
    if (answered !== undefined && answered !== key) {
      faults.push(`it was answered with transaction ${answered}, but the log has ${key ?? 'none'}`);
    }
  }
  if (outcomes.has('refused')) {
    if (changes.length > 0) faults.push('it was answered as refused, but changed the loan');
    if (refusals.length === 0) faults.push('it was answered as refused, but has no refusal in the log');
  }
  return faults;
}

export const loanSequences: Checker = {
  name: 'gap-free loan sequence',
  promise: 'The events of a loan are numbered from 1 without gap or repetition, and in that order within each type.',
  check(evidence) {
    const loans = grouped(
      lendingEvents(evidence).filter(({ sequence }) => sequence !== undefined),
      ({ loan }) => loan ?? '',
    );
    return [...loans].flatMap(([loan, events]) => {
      const faults: string[] = [];
      const sequences = events.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b);
      const wrong = sequences.findIndex((sequence, index) => sequence !== index + 1);
      if (wrong >= 0) faults.push(`${loan}: event number ${wrong + 1} has the sequence ${sequences[wrong]}`);
      for (const [type, ofType] of grouped(events, ({ eventType }) => eventType)) {
        const back = ofType.findIndex(
          ({ sequence }, index) => index > 0 && (sequence ?? 0) <= (ofType[index - 1]?.sequence ?? 0),
        );
        if (back >= 0)
          faults.push(`${loan}: ${type} with sequence ${ofType[back]?.sequence} comes too late in the log`);
      }
      return faults;
    });
  },
};

export const balanceConservation: Checker = {
  name: 'balance conservation',
  promise: 'Per loan, what was disbursed, charged and repaid adds up to the balances, in the events and on every node.',
  check(evidence) {
    const events = grouped(lendingEvents(evidence), ({ loan }) => loan ?? '');
    const seen = grouped(ofKind(evidence.records, 'loan seen'), ({ loan }) => loan);
    return [...events].flatMap(([loan, ofLoan]) => {
      const balances = ofLoan
        .filter(({ eventType }) => eventType === balanceEvent)
        .toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
        .at(-1)?.balances;
      if (balances === undefined) return [];
      const faults = [...unbalanced(ofLoan, balances), ...unlikeNodes(ofLoan, balances, seen.get(loan) ?? [])];
      return faults.map((fault) => `${loan}: ${fault}`);
    });
  },
};

/**
 * Each sum of transactions with the corresponding balances. Amounts in the smallest unit, so that they add up exactly.
 */
const equations: readonly { readonly types: readonly string[]; readonly balances: readonly string[] }[] = [
  { types: ['DISBURSEMENT'], balances: ['principalBalance', 'principalPaid'] },
  { types: ['FEE_CHARGED'], balances: ['feesBalance', 'feesPaid'] },
  { types: ['REPAYMENT'], balances: ['principalPaid', 'interestPaid', 'feesPaid', 'penaltyPaid'] },
];

function unbalanced(events: readonly LendingEvent[], balances: Readonly<Record<string, number>>): string[] {
  return equations.flatMap(({ types, balances: names }) => {
    const posted = events
      .filter(({ eventType, transaction }) => eventType === transactionEvent && types.includes(transaction?.type ?? ''))
      .reduce((sum, { transaction }) => sum + (transaction?.amount ?? 0), 0);
    const held = names.reduce((sum, name) => sum + (balances[name] ?? 0), 0);
    return posted === held ? [] : [`${types.join('+')} posted ${posted}, but ${names.join('+')} is ${held}`];
  });
}

function unlikeNodes(
  events: readonly LendingEvent[],
  balances: Readonly<Record<string, number>>,
  seen: readonly HistoryRecordOf<'loan seen'>[],
): string[] {
  const keys = events
    .filter(({ eventType }) => eventType === transactionEvent)
    .map(({ transaction }) => transaction?.key)
    .join(', ');
  return seen.flatMap((shown) => {
    const different = Object.keys(balances).filter((name) => balances[name] !== shown.balances[name]);
    return [
      ...different.map(
        (name) => `${shown.node} shows ${name} ${shown.balances[name]}, the last event has ${balances[name]}`,
      ),
      ...(shown.transactions.join(', ') === keys ? [] : [`${shown.node} shows other transactions than the log has`]),
    ];
  });
}
