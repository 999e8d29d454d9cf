import { ofKind, type HistoryRecordOf, type HistoryRecord } from '../history.ts';
import { deliveriesOf, knownLogOf, partitionName, type Delivery, type KnownLog } from './known-log.ts';

/** A history with the data that every checker needs, computed once. */
export interface Evidence {
  readonly records: readonly HistoryRecord[];
  readonly log: KnownLog;
  /** By subscription and partition, ordered by time. */
  readonly deliveries: ReadonlyMap<string, readonly Delivery[]>;
  /** Every event that was acknowledged to a producer, in the order of its numbers. */
  readonly acknowledged: readonly AcknowledgedEvent[];
  /** Event types whose log was read completely after the last fault. */
  readonly completeEventTypes: ReadonlySet<string>;
  /** When something was last deleted from a partition, and up to which offset. By partition name. */
  readonly truncations: ReadonlyMap<string, { readonly at: number; readonly offset: number }>;
  readonly streams: ReadonlyMap<string, HistoryRecordOf<'stream opened'>>;
}

export interface AcknowledgedEvent {
  readonly eid: string;
  readonly producer: string;
  readonly number: number;
  readonly eventType: string;
  readonly partition: number;
  readonly attemptedAt: number;
  readonly acknowledgedAt: number;
}

/** A checker reads the evidence and reports every broken promise that it finds, in words. */
export interface Checker {
  readonly name: string;
  /** The promise. */
  readonly promise: string;
  readonly check: (evidence: Evidence) => string[];
}

export function evidenceOf(records: readonly HistoryRecord[]): Evidence {
  const log = knownLogOf(records);
  const truncations = new Map<string, { at: number; offset: number }>();
  for (const { at, position } of ofKind(records, 'log truncated')) {
    const before = truncations.get(partitionName(position))?.offset ?? 0;
    truncations.set(partitionName(position), { at, offset: Math.max(before, position.offset) });
  }
  return {
    records,
    log,
    deliveries: deliveriesOf(records, log),
    acknowledged: acknowledgedOf(records),
    completeEventTypes: new Set(ofKind(records, 'log complete').flatMap(({ eventTypes }) => eventTypes)),
    truncations,
    streams: new Map(ofKind(records, 'stream opened').map((opened) => [opened.stream, opened])),
  };
}

function acknowledgedOf(records: readonly HistoryRecord[]): AcknowledgedEvent[] {
  const attempts = new Map<string, Omit<AcknowledgedEvent, 'acknowledgedAt'>>();
  const acknowledged: AcknowledgedEvent[] = [];
  for (const record of records) {
    if (record.kind === 'publish attempted') {
      const { producer, eventType, partition, at: attemptedAt } = record;
      for (const { eid, number } of record.events) {
        attempts.set(eid, { eid, producer, number, eventType, partition, attemptedAt });
      }
    } else if (record.kind === 'publish answered' && record.outcome === 'acknowledged') {
      for (const eid of record.eids) {
        const attempt = attempts.get(eid);
        if (attempt !== undefined) acknowledged.push({ ...attempt, acknowledgedAt: record.at });
      }
    }
  }
  return acknowledged.sort((a, b) => a.number - b.number);
}

/** The items grouped by a common key. */
export function grouped<Item>(items: Iterable<Item>, nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}

/** The first index from which on the condition is true, by bisection; the length when it never is. */
export function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
