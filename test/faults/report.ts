import type { CheckOutcome } from './checkers/checkers.ts';
import { deliveryLag, type DeliveryLag } from './checkers/deliveries.ts';
import { grouped, type Evidence } from './checkers/evidence.ts';
import { ofKind, type HistoryEntry } from './history.ts';
import type { Plan } from './plan.ts';

/** The summary of a run for people. */
export interface Report {
  readonly isGood: boolean;
  readonly lines: readonly string[];
}

export interface Outcome {
  readonly plan: Plan;
  readonly description: string;
  readonly folder: string;
  readonly evidence: Evidence;
  readonly outcomes: readonly CheckOutcome[];
  /** Failures of the run itself. */
  readonly problems: readonly string[];
}

/** How many findings of one checker are shown; the others are counted. */
const findingsShownMaximum = 5;

export function reportOf({ plan, description, folder, evidence, outcomes, problems }: Outcome): Report {
  const isGood = problems.length === 0 && outcomes.every(({ findings }) => findings.length === 0);
  const { all, calm } = deliveryLag(evidence);
  return {
    isGood,
    lines: [
      `Seed ${plan.seed}: ${plan.faults.length} faults in ${(plan.lasts / 1_000).toFixed(0)} s on ${description}`,
      ...countLines(evidence),
      ...lagLines('from acknowledgement to delivery', all),
      ...lagLines('the same without faults', calm),
      ...outcomes.flatMap(outcomeLines),
      ...problems.map((problem) => `PROBLEM ${problem}`),
      isGood ? 'Every promise was kept.' : `Promises were broken: see ${folder}`,
    ],
  };
}

function countLines({ records, acknowledged }: Evidence): string[] {
  const outcomeCounts = (kind: 'publish answered' | 'commit answered' | 'command answered'): string => {
    const outcomes = records.flatMap((record) => {
      if (record.kind !== kind) return [];
      return record.kind === 'publish answered' ? record.eids.map(() => record.outcome) : [record.outcome];
    });
    const counts = grouped(outcomes, (outcome) => outcome);
    return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(', ');
  };
  const count = (kind: HistoryEntry['kind']): number => ofKind(records, kind).length;
  const delivered = ofKind(records, 'delivered').reduce((sum, { eids }) => sum + eids.length, 0);
  const closed = grouped(ofKind(records, 'stream closed'), ({ reason }) => reason);
  const reasons = [...closed].map(([reason, { length }]) => `${length} ${reason}`);
  return [
    `  published events: ${outcomeCounts('publish answered')}; acknowledged by name: ${acknowledged.length}`,
    `  delivered events: ${delivered} in ${count('stream opened')} streams (${count('stream refused')} refused)`,
    `  streams ended:    ${reasons.join(', ')}`,
    `  commits:          ${outcomeCounts('commit answered')}`,
    `  command answers:  ${outcomeCounts('command answered')}, of ${count('command posted')} requests`,
    `  log read:         ${count('log read')} events; loans seen: ${count('loan seen')}`,
  ];
}

function lagLines(what: string, lag: DeliveryLag | undefined): string[] {
  if (lag === undefined) return [];
  const [median, p99, maximum] = [lag.median, lag.p99, lag.maximum].map((milliseconds) => milliseconds.toFixed(0));
  return [`  ${what}: median ${median} ms, p99 ${p99} ms, maximum ${maximum} ms (${lag.count})`];
}

function outcomeLines({ checker, promise, findings }: CheckOutcome): string[] {
  if (findings.length === 0) return [`  ok      ${checker}`];
  const more = findings.length - findingsShownMaximum;
  return [
    `  BROKEN  ${checker}: ${promise}`,
    ...findings.slice(0, findingsShownMaximum).map((finding) => `            ${finding}`),
    ...(more > 0 ? [`            and ${more} more`] : []),
  ];
}
