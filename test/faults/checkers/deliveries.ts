import { firstIndex, grouped, type Checker, type Evidence } from './evidence.ts';
import { ofKind, silence, silenceMillisecondsMaximum } from '../history.ts';
import { partitionNameOf, type Delivery, type KnownEvent } from './known-log.ts';

/** The promises about the events that streams deliver, and their delays. */

/** A delivery whose offset is known. */
type PositionedDelivery = Delivery & { readonly offset: number };

export function hasOffset(delivery: Delivery): delivery is PositionedDelivery {
  return delivery.offset !== undefined;
}

export const nonmonotonicPolls: Checker = {
  name: 'nonmonotonic poll',
  promise: 'Within a stream and partition, offsets only grow.',
  check: ({ deliveries }) =>
    [...deliveries].flatMap(([name, list]) =>
      stepsOf(list.filter(hasOffset))
        .filter(({ before, after }) => after.offset <= before.offset)
        .map(({ before, after }) => `${name}: stream ${after.stream} went from ${before.offset} to ${after.offset}`),
    ),
};

export const pollSkips: Checker = {
  name: 'poll skip',
  promise: 'A stream passes over no event of its partition that no other stream of the subscription has received.',
  check(evidence) {
    const findings: string[] = [];
    for (const [name, list] of evidence.deliveries) {
      const log = evidence.log.partitions.get(partitionNameOf(name)) ?? [];
      const truncation = evidence.truncations.get(partitionNameOf(name));
      const firstReceived = firstReceivedOf(list);
      for (const { before, after } of stepsOf(list.filter(hasOffset))) {
        for (const { offset, eid } of between(log, before.offset, after.offset)) {
          if (truncation !== undefined && offset < truncation.offset && truncation.at <= after.at) continue;
          if ((firstReceived.get(eid) ?? Infinity) <= after.at) continue;
          findings.push(`${name}: stream ${after.stream} went from ${before.offset} to ${after.offset} over ${offset}`);
        }
      }
    }
    return findings;
  },
};

/**
 * How long after the end of a fault a stream may still be silent, because its node may have to reconnect to Redis and
 * Kafka. Milliseconds.
 */
const silentRecoveryMilliseconds = 6_000;

export const silentStreams: Checker = {
  name: 'silent stream',
  promise:
    'A stream sends at least its keep-alives while its node and connection are well, also after its reader paused.',
  check(evidence) {
    const faults = faultTimes(evidence, silentRecoveryMilliseconds).filter(({ fault }) => !fault.startsWith('stall '));
    return ofKind(evidence.records, 'stream closed')
      .filter(({ reason }) => reason === silence)
      .filter(({ at }) => !faults.some(({ from, to }) => from <= at && at - silenceMillisecondsMaximum <= to))
      .map(({ subscription, stream }) => `${subscription}: stream ${stream} sent nothing although nothing ailed it`);
  },
};

/** Each delivery with the one before it in the same stream. */
function stepsOf(
  list: readonly PositionedDelivery[],
): { readonly before: PositionedDelivery; readonly after: PositionedDelivery }[] {
  const last = new Map<string, PositionedDelivery>();
  const steps = [];
  for (const after of list) {
    const before = last.get(after.stream);
    if (before !== undefined) steps.push({ before, after });
    last.set(after.stream, after);
  }
  return steps;
}

/** When the subscription received an event for the first time, by eid. */
export function firstReceivedOf(list: readonly Delivery[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { eid, at } of list) if (!first.has(eid)) first.set(eid, at);
  return first;
}

/** The known events strictly between two offsets. */
function between(log: readonly KnownEvent[], low: number, high: number): readonly KnownEvent[] {
  if (high - low <= 1) return [];
  return log.slice(indexFrom(log, low + 1), indexFrom(log, high));
}

/** The index of the first known event at or after the offset. */
export function indexFrom(log: readonly KnownEvent[], offset: number): number {
  return firstIndex(log.length, (index) => (log[index]?.offset ?? Infinity) >= offset);
}

/** The delay of acknowledged events to a subscription. Milliseconds; undefined when there were none. */
export interface DeliveryLag {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly maximum: number;
}

/**
 * The delay from the acknowledgement to the first delivery to a consumer without delay: for all events, and for those
 * that were not affected by a fault.
 */
export function deliveryLag(evidence: Evidence): { readonly all?: DeliveryLag; readonly calm?: DeliveryLag } {
  const faults = faultTimes(evidence);
  const subscriptions = ofKind(evidence.records, 'subscription created').filter(({ isPrompt }) => isPrompt);
  const prompt = new Set(subscriptions.map(({ subscription }) => subscription));
  const deliveries = [...evidence.deliveries.values()].flat().filter(({ subscription }) => prompt.has(subscription));
  const firstReceived = grouped(deliveries, ({ subscription }) => subscription);
  const all: number[] = [];
  const calm: number[] = [];
  for (const list of firstReceived.values()) {
    const first = firstReceivedOf([...list].sort((a, b) => a.at - b.at));
    for (const { eid, attemptedAt, acknowledgedAt } of evidence.acknowledged) {
      const receivedAt = first.get(eid);
      if (receivedAt === undefined) continue;
      const lag = Math.max(0, receivedAt - acknowledgedAt);
      all.push(lag);
      if (!faults.some(({ from, to }) => attemptedAt <= to && receivedAt >= from)) calm.push(lag);
    }
  }
  return { ...named('all', summary(all)), ...named('calm', summary(calm)) };
}

/** How long after the end of a fault the system may still be busy with it, for the calm lag. Milliseconds. */
const recoveryMilliseconds = 10_000;

/**
 * Whether readers paused at a time, or read what was sent during a pause. That may have been sent at any time since the
 * start of the pause, so the order between streams means nothing.
 */
export function readersPaused(evidence: Evidence, at: number): boolean {
  return faultTimes(evidence, 0).some(({ fault, from, to }) => fault.startsWith('stall ') && from <= at && at <= to);
}

function faultTimes(
  { records }: Evidence,
  recovery = recoveryMilliseconds,
): { readonly fault: string; readonly from: number; readonly to: number }[] {
  const healed = new Map(ofKind(records, 'fault healed').map(({ number, at }) => [number, at]));
  return ofKind(records, 'fault begun').map(({ at, fault, number }) => ({
    fault,
    from: at,
    to: (healed.get(number) ?? Infinity) + recovery,
  }));
}

function summary(lags: number[]): DeliveryLag | undefined {
  if (lags.length === 0) return undefined;
  lags.sort((a, b) => a - b);
  const quantile = (share: number): number => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? 0;
  return { count: lags.length, median: quantile(0.5), p99: quantile(0.99), maximum: quantile(1) };
}

function named<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}
