import type { AppendResult, PartitionRecords } from '../../ports/event-log.ts';
import { publishedId, type IdsToClaim } from '../../ports/published-ids.ts';

/** Why an event of a request is not appended: what was stored in its place. */
export type Repetition =
  /** The partition of the event that was stored before. */
  | { readonly storedIn: number }
  /** The index of the event of the same request. */
  | { readonly of: number };

/** By index in the request: the events that repeat another one. */
export type Repetitions = ReadonlyMap<number, Repetition>;

/** The ids of a request. */
export interface RequestIds {
  /** By index in the request. */
  readonly all: readonly string[];
  /** What is to be claimed. */
  readonly toClaim: Pick<IdsToClaim, 'ids' | 'partitions'>;
  /** By id: the index of its first event. */
  readonly firstIndexes: ReadonlyMap<string, number>;
}

export function idsOfRequest(eids: readonly string[], partitions: Int32Array): RequestIds {
  const all = eids.map(publishedId);
  const firstIndexes = new Map<string, number>();
  for (const [index, id] of all.entries()) if (!firstIndexes.has(id)) firstIndexes.set(id, index);
  const ofFirst = [...firstIndexes.values()].map((index) => partitions[index] as number);
  return { all, toClaim: { ids: [...firstIndexes.keys()], partitions: ofFirst }, firstIndexes };
}

/** The events that are not to be appended. */
export function repetitionsOf(
  { all, firstIndexes }: RequestIds,
  storedIn: ReadonlyMap<string, number>,
): Map<number, Repetition> {
  const repetitions = new Map<number, Repetition>();
  for (const [index, id] of all.entries()) {
    const partition = storedIn.get(id);
    const first = firstIndexes.get(id) as number;
    if (partition !== undefined) repetitions.set(index, { storedIn: partition });
    else if (first !== index) repetitions.set(index, { of: first });
  }
  return repetitions;
}

/** The records of the events that are to be appended. A partition without any is left out. */
export function withoutRepetitions(
  batches: readonly PartitionRecords[],
  partitions: Int32Array,
  repetitions: Repetitions,
): readonly PartitionRecords[] {
  if (repetitions.size === 0) return batches;
  const kept = indexesByPartition(partitions, new Map());
  return batches.flatMap((batch) => {
    const indexes = kept.get(batch.partition) ?? [];
    if (!indexes.some((index) => repetitions.has(index))) return [batch];
    const records = batch.records.filter((_, place) => !repetitions.has(indexes[place] as number));
    return records.length === 0 ? [] : [{ topic: batch.topic, partition: batch.partition, records }];
  });
}

export interface ClaimOutcome {
  readonly stored: ReadonlySet<string>;
  readonly unknown: ReadonlySet<string>;
}

/** What became of the ids whose events were appended. */
export function claimOutcome(
  { all }: RequestIds,
  partitions: Int32Array,
  repetitions: Repetitions,
  appends: readonly PartitionRecords[],
  results: readonly AppendResult[],
): ClaimOutcome {
  const stored = new Set<string>();
  const unknown = new Set<string>();
  const indexes = indexesByPartition(partitions, repetitions);
  for (const [at, { partition, records }] of appends.entries()) {
    const ids =
      indexes
        .get(partition)
        ?.splice(0, records.length)
        .map((index) => all[index] as string) ?? [];
    const result = results[at];
    if (result?.outcome === 'appended') for (const id of ids) stored.add(id);
    else if (result === undefined || result.error.code === 'OUTCOME_UNKNOWN') for (const id of ids) unknown.add(id);
  }
  return { stored, unknown };
}

/** By partition: the indexes of its events, without those that are left out. */
function indexesByPartition(partitions: Int32Array, leftOut: Repetitions): Map<number, number[]> {
  const indexes = new Map<number, number[]>();
  for (const [index, partition] of partitions.entries()) {
    if (leftOut.has(index)) continue;
    const known = indexes.get(partition);
    if (known === undefined) indexes.set(partition, [index]);
    else known.push(index);
  }
  return indexes;
}
