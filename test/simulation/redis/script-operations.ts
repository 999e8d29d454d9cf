import type { CommitResult, CursorToCommit, OwnershipChange } from '../../../src/ports/coordination.ts';
import { parsePartitionKey } from '../../../src/ports/event-type-partition.ts';
import type { FailedDeliveries } from '../../../src/ports/failed-deliveries.ts';
import type { ScriptName } from '../../../src/redis/script-loading.ts';
import { decodeOpenSessionReply, decodeTopology } from '../../../src/redis/script-values.ts';
import type { StoreOperation } from '../simulated-store.ts';

/** What a run of a script means in the terms of the port, which the invariants judge. */
export interface ScriptOperation {
  readonly method: StoreOperation['method'];
  readonly arguments: readonly unknown[];
  /** The result by the reply of the script. */
  readonly result: (reply: readonly unknown[]) => unknown;
}

type Values = readonly string[];

const nothing = (): undefined => undefined;

type OwnedPartition = readonly [partitionKey: string, streamId: string, fence: number];

/** Of a node that brings back what it knows of a subscription. */
export type MergeArguments = [
  subscriptionId: string,
  nodeIds: readonly string[],
  /** Its open streams. */
  streamIds: readonly string[],
  /** What they own, as far as it knows. */
  owned: readonly OwnedPartition[],
];

/** The operations of scripts that serve one subscription, whose id is not among their values. */
const ofSubscription: Partial<Record<ScriptName, (id: string, values: Values) => ScriptOperation>> = {
  initialise: (id) => ({ method: 'initialise', arguments: [id], result: nothing }),
  'open-session': (id, [streamId = '', encoded = '', , placeMilliseconds]) => ({
    method: 'openSession',
    arguments: [id, sessionOf(streamId, encoded), Number(placeMilliseconds)],
    result: decodeOpenSessionReply,
  }),
  'close-session': (id, [streamId, acceptsLateCommits, ...failed]) => ({
    method: 'closeSession',
    arguments: [id, streamId, acceptsLateCommits === '1' ? 'accepted' : 'refused', failedDeliveries(failed)],
    result: nothing,
  }),
  'apply-ownership': (id, [generation, ...changes]) => ({
    method: 'applyOwnership',
    arguments: [id, Number(generation), inGroups(changes, 4).map(ownershipChange)],
    result: ([outcome]) => (outcome === 'APPLIED' ? 'applied' : 'conflict'),
  }),
  release: (id, [streamId, partition = '', fence]) => ({
    method: 'release',
    arguments: [id, streamId, parsePartitionKey(partition), Number(fence)],
    result: ([outcome]) => ({ outcome: outcome === 'RELEASED' ? 'released' : 'fenced' }),
  }),
  'reset/begin-reset': (id) => ({ method: 'beginReset', arguments: [id], result: ([, begun]) => begun === '1' }),
  'reset/finish-reset': (id, [, , ...offsets]) => ({
    method: 'finishReset',
    arguments: [
      id,
      inGroups(offsets, 2).map(([key = '', offset]) => ({ ...parsePartitionKey(key), offset: Number(offset) })),
    ],
    result: nothing,
  }),
};

/**
 * The operations that a script carries out.
 * @param values Behind the incarnation, the channel and the origin.
 * @param subscriptionId Of the channel.
 * @param leasedIds The subscriptions of the shards whose leases the script writes.
 */
export function operationsOf(
  script: ScriptName,
  subscriptionId: string,
  all: Values,
  leasedIds: readonly string[],
): ScriptOperation[] {
  const values = all.slice(3);
  if (script === 'renew-lease') {
    return [{ method: 'renewLease', arguments: [values[0], Number(values[1]), leasedIds], result: nothing }];
  }
  if (script === 'commit') return commits(Number(all[0]), values);
  if (script === 'refill/merge') return merges(values, leasedIds);
  const operation = ofSubscription[script]?.(subscriptionId, values);
  return operation === undefined ? [] : [operation];
}

function commits(shards: number, values: Values): ScriptOperation[] {
  let index = 0;
  const next = (): string => values[index++] ?? '';
  const subscriptionCounts = Array.from({ length: shards }, () => {
    next();
    return Number(next());
  });
  const operations: ScriptOperation[] = [];
  for (let left = subscriptionCounts.reduce((sum, count) => sum + count, 0); left > 0; left -= 1) {
    const subscriptionId = next();
    for (let commitsLeft = Number(next()); commitsLeft > 0; commitsLeft -= 1) {
      const streamId = next();
      next();
      const cursors = Array.from({ length: Number(next()) }, (): CursorToCommit => {
        const partition = parsePartitionKey(next());
        const fence = next();
        const offset = Number(next());
        return { ...partition, offset, ...(fence === '' ? {} : { fence: Number(fence) }) };
      });
      const position = operations.length + 1;
      operations.push({
        method: 'commit',
        arguments: [subscriptionId, streamId, cursors],
        result: (reply) => commitResult(reply[position] as string | Values, cursors.length),
      });
    }
  }
  return operations;
}

/** Thrown for a reply that is no decision. */
export class NotDecided extends Error {}

function commitResult(reply: string | Values, cursors: number): CommitResult {
  const [outcome, ...rest] = typeof reply === 'string' ? reply.split(' ') : reply;
  if (outcome === 'OK') return { outcome: 'committed', advanced: rest.slice(0, cursors).map((each) => each !== '0') };
  if (outcome === 'SESSION_NOT_FOUND') return { outcome: 'session_not_found' };
  const cursor = parsePartitionKey(rest[0] ?? '');
  if (outcome === 'NOT_OWNER') return { outcome: 'not_owner', cursor };
  if (outcome === 'NOT_SENT') return { outcome: 'not_sent', cursor: { ...cursor, offset: Number(rest[1]) } };
  throw new NotDecided('The owner of the partition is not known yet.');
}

function merges(values: Values, leasedIds: readonly string[]): ScriptOperation[] {
  let index = 1;
  const next = (): string => values[index++] ?? '';
  const operations: ScriptOperation[] = [];
  const nodes = Array.from({ length: Number(next()) }, () => {
    const nodeId = next();
    operations.push({ method: 'renewLease', arguments: [nodeId, Number(next()), leasedIds], result: nothing });
    return nodeId;
  });
  while (index < values.length) {
    const subscriptionId = next();
    next();
    next();
    const owned: OwnedPartition[] = [];
    for (let partitions = Number(next()); partitions > 0; partitions -= 1) {
      const [key, , fence, streamId] = [next(), next(), next(), next(), next()];
      if (streamId !== '') owned.push([key, streamId, Number(fence)]);
    }
    const streamIds = Array.from({ length: Number(next()) }, () => {
      const streamId = next();
      next();
      return streamId;
    });
    operations.push({
      method: 'merge',
      arguments: [subscriptionId, nodes, streamIds, owned] satisfies MergeArguments,
      result: nothing,
    });
  }
  return operations;
}

function sessionOf(streamId: string, encoded: string) {
  return decodeTopology(['0', '0', [streamId, encoded], [], []]).sessions[0];
}

function ownershipChange([key = '', state, streamId = '', nextStreamId]: Values): OwnershipChange {
  const where = parsePartitionKey(key);
  if (state === 'R') return { ...where, state: 'reassigning', streamId, nextStreamId: nextStreamId ?? '' };
  return { ...where, state: 'assigned', streamId, nextStreamId: null };
}

function failedDeliveries([failuresMaximum, ...partitions]: Values): FailedDeliveries | undefined {
  if (failuresMaximum === undefined) return undefined;
  return {
    failuresMaximum: Number(failuresMaximum),
    partitions: inGroups(partitions, 3).map(([key = '', first, through]) => ({
      ...parsePartitionKey(key),
      firstOffset: Number(first),
      throughOffset: Number(through),
    })),
  };
}

function inGroups(values: Values, size: number): Values[] {
  return Array.from({ length: values.length / size }, (_, index) => values.slice(index * size, (index + 1) * size));
}
