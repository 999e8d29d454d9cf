import { grouped, type Checker, type Evidence } from './evidence.ts';
import { ofKind } from '../history.ts';
import { describePosition, partitionName } from './known-log.ts';

/** The promises about the log itself. */

export const duplicates: Checker = {
  name: 'duplicate in the log',
  promise: 'An event that was sent once lies at one place.',
  check: ({ log }) =>
    [...log.positions]
      .filter(([, positions]) => positions.length > 1)
      .map(([eid, positions]) => `${eid} lies at ${positions.map(describePosition).join(' and ')}`),
};

export const inconsistentOffsets: Checker = {
  name: 'inconsistent offsets',
  promise: 'Everyone sees the same event at the same place.',
  check: ({ log }) =>
    log.conflicts.map(({ place: position, eids }) => `${describePosition(position)} was seen as ${eids.join(' and ')}`),
};

export const abortedReads: Checker = {
  name: 'aborted or precommitted read',
  promise: 'Nothing is delivered that was refused, that nobody sent, or that the log does not hold in the end.',
  check(evidence) {
    const { records, completeEventTypes } = evidence;
    const refused = new Set(
      ofKind(records, 'publish answered').flatMap(({ outcome, eids }) => (outcome === 'refused' ? eids : [])),
    );
    const attempts = ofKind(records, 'publish attempted');
    const published = new Set(attempts.map(({ eventType }) => eventType));
    const sent = new Set(attempts.flatMap(({ events }) => events.map(({ eid }) => eid)));
    const reads = ofKind(records, 'log read');
    const inLog = new Set(reads.map(({ eid }) => eid));
    const findings: string[] = [];
    const judge = (eid: string, eventType: string, where: string): void => {
      if (refused.has(eid)) findings.push(`${eid} was refused, but is ${where}`);
      else if (published.has(eventType) && !sent.has(eid)) findings.push(`${eid} was never sent, but is ${where}`);
    };
    for (const { eid, position } of reads)
      judge(eid, position.eventType, `in the log at ${describePosition(position)}`);
    for (const { position, eids, stream } of ofKind(records, 'delivered')) {
      const truncatedBelow = evidence.truncations.get(partitionName(position))?.offset ?? 0;
      for (const eid of eids) {
        judge(eid, position.eventType, `delivered to ${stream} by ${describePosition(position)}`);
        const isRetained =
          completeEventTypes.has(position.eventType) && position.offset >= truncatedBelow + eids.length;
        if (isRetained && !inLog.has(eid)) {
          findings.push(
            `${eid} was delivered to ${stream} by ${describePosition(position)}, but the log does not hold it`,
          );
        }
      }
    }
    return findings;
  },
};

export const producerOrder: Checker = {
  name: 'order of one producer',
  promise: 'Acknowledged events of one producer lie in a partition in the order in which it sent them.',
  check({ acknowledged, log }) {
    const findings: string[] = [];
    const byProducer = grouped(acknowledged, (event) => `${event.producer} in ${partitionName(event)}`);
    for (const [name, events] of byProducer) {
      let before: { number: number; offset: number } | undefined;
      for (const { eid, number } of events) {
        const offset = log.positions.get(eid)?.[0]?.offset;
        if (offset === undefined) continue;
        if (before !== undefined && offset <= before.offset) {
          findings.push(
            `${name}: number ${number} lies at ${offset}, number ${before.number} before it at ${before.offset}`,
          );
        }
        before = { number, offset };
      }
    }
    return findings;
  },
};

/** Events of a partition that a subscription must have received in the end, in the order in which they were sent. */
interface Owed {
  readonly eid: string;
  /** Sent before something of the partition was deleted: it may be gone. */
  readonly isExcused: boolean;
}

interface Debt {
  readonly subscription: string;
  readonly source: string;
  readonly owed: readonly Owed[];
  readonly received: ReadonlySet<string>;
}

/** For each subscription and each producer's share of a partition: the acknowledged and the delivered events. */
function acknowledgedDebts(evidence: Evidence): Debt[] {
  const byProducer = grouped(evidence.acknowledged, (event) => `${event.producer} in ${partitionName(event)}`);
  return debtsOf(evidence, [...byProducer], (event) => {
    const truncation = evidence.truncations.get(partitionName(event));
    return { eid: event.eid, isExcused: truncation !== undefined && event.attemptedAt <= truncation.at };
  });
}

/** For each subscription and partition: the final content of the log, and the delivered events. */
function logDebts(evidence: Evidence): Debt[] {
  const reads = ofKind(evidence.records, 'log read').map(({ eid, position }) => ({ eid, ...position }));
  return debtsOf(evidence, [...grouped(reads, partitionName)], ({ eid }) => ({ eid, isExcused: false }));
}

function debtsOf<Event extends { readonly eventType: string; readonly partition: number }>(
  { records, deliveries }: Evidence,
  sources: readonly (readonly [string, readonly Event[]])[],
  owedFor: (event: Event) => Owed,
): Debt[] {
  const received = new Map<string, Set<string>>();
  for (const list of deliveries.values()) {
    for (const { subscription, eid } of list) {
      const eids = received.get(subscription) ?? new Set<string>();
      received.set(subscription, eids.add(eid));
    }
  }
  return ofKind(records, 'subscription created').flatMap(({ subscription, eventTypes }) =>
    sources
      .filter(([, events]) => eventTypes.includes(events[0]?.eventType ?? ''))
      .map(([source, events]) => ({
        subscription,
        source,
        owed: events.map(owedFor),
        received: received.get(subscription) ?? new Set<string>(),
      })),
  );
}

function lastReceived({ owed, received }: Debt): number {
  return owed.findLastIndex(({ eid }) => received.has(eid));
}

export const lostWrites: Checker = {
  name: 'lost write',
  promise: 'No subscription passes over an acknowledged event.',
  check: (evidence) =>
    acknowledgedDebts(evidence).flatMap((debt) =>
      debt.owed
        .slice(0, lastReceived(debt) + 1)
        .filter(({ eid, isExcused }) => !isExcused && !debt.received.has(eid))
        .map(({ eid }) => `${eid} of ${debt.source} was acknowledged, but ${debt.subscription} passed over it`),
    ),
};

export const unseen: Checker = {
  name: 'unseen',
  promise: 'When the faults are over, every acknowledged event and every event of the log reaches every subscription.',
  check(evidence) {
    const acknowledged = acknowledgedDebts(evidence).flatMap((debt) =>
      debt.owed
        .slice(lastReceived(debt) + 1)
        .filter(({ isExcused }) => !isExcused)
        .map(({ eid }) => `${eid} of ${debt.source} was acknowledged, but did not reach ${debt.subscription}`),
    );
    const known = new Set(evidence.acknowledged.map(({ eid }) => eid));
    const inLog = logDebts(evidence).flatMap((debt) =>
      debt.owed
        .filter(({ eid }) => !known.has(eid) && !debt.received.has(eid))
        .map(({ eid }) => `${eid} lies in ${debt.source}, but did not reach ${debt.subscription}`),
    );
    return [...acknowledged, ...inLog];
  },
};
