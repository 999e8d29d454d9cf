import { LendstreamError } from '../../errors.ts';
import { readSwitch } from '../../switch-words.ts';
import type { EventFilter } from './filters/event-filter.ts';
import { readFilter } from './filters/filter-parameter.ts';
import type { BatchRules } from './batch-rules.ts';
import { describePartition, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { slotWaitSecondsMaximum } from '../subscriptions/slot-queue.ts';
import { parsePartition } from '../cursors/cursor-text.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';

/** The parameters that a consumer requested for its stream, checked, with every default filled in. */
export interface StreamParameters extends BatchRules {
  /** How long sent events may go without any commit. Milliseconds. */
  readonly commitTimeoutMilliseconds: number;
  /** How long the stream may live. Milliseconds. */
  readonly streamTimeoutMilliseconds: number;
  /** Ends the stream when every partition had this many keep-alives in a row; 0 means never. */
  readonly keepAliveLimit: number;
  /** The requested partitions; empty for a stream that accepts any. */
  readonly requestedPartitions: readonly EventTypePartition[];
  /** Whether a commit of what was not sent to the stream is refused. Default: no. */
  readonly strictCommits?: true;
  /** Whether a commit of what is committed already restarts the commit timeout. Default: no. */
  readonly countsHeartbeats?: true;
  /** Which events are delivered. Default: all. */
  readonly filter?: EventFilter;
  /** How long to wait for a slot instead of being refused. Default: not at all. Milliseconds. */
  readonly slotWaitMilliseconds?: number;
}

/** The parameters of a reader of an event type without a subscription. */
export interface EventTypeStreamParameters {
  /** The most events of one batch. */
  readonly batchLimit: number;
  /**
   * How long a batch that is not full waits. If there are no events by then, an empty batch is sent as a keep-alive.
   * Milliseconds.
   */
  readonly flushMilliseconds: number;
  /** Ends the stream after this many events; 0 means never. */
  readonly streamLimit: number;
  /** How long the stream may live. Milliseconds. */
  readonly streamTimeoutMilliseconds: number;
  /** Ends the stream when every partition had this many batches without events in a row; 0 means never. */
  readonly keepAliveLimit: number;
  /** Which events are delivered. Default: all. */
  readonly filter?: EventFilter | undefined;
}

/** Largest stream_timeout that is used as requested. Seconds. */
const streamTimeoutSecondsMaximum = 4_200;

/**
 * A stream without a usable timeout lives for a random time around this, so that clients do not all reopen at once.
 * Seconds.
 */
const streamTimeoutSecondsMiddle = 3_600;
const streamTimeoutSecondsSpread = 600;

const batchFlushSecondsDefault = 30;
const uncommittedEventsDefault = 10;

const parameterNames = [
  'batch_limit',
  'batch_flush_timeout',
  'batch_timespan',
  'max_uncommitted_events',
  'stream_limit',
  'stream_timeout',
  'stream_keep_alive_limit',
  'commit_timeout',
  'wait_for_slot',
] as const;

type ParameterName = (typeof parameterNames)[number];

/** Those of a stream without a subscription. */
const eventTypeParameterNames = [
  'batch_limit',
  'batch_flush_timeout',
  'stream_limit',
  'stream_timeout',
  'stream_keep_alive_limit',
] as const satisfies readonly ParameterName[];

/**
 * The smallest value of each parameter. Lower values are refused. That of `batch_flush_timeout` is a setting;
 * `commit_timeout` and `stream_timeout` differ.
 */
const minimums: Partial<Record<ParameterName, number>> = {
  batch_limit: 1,
  batch_timespan: 0,
  max_uncommitted_events: 1,
  stream_limit: 0,
  stream_keep_alive_limit: 0,
  wait_for_slot: 0,
};

/** The largest value of each parameter that Nakadi can parse: it rejects a larger one as not a number. */
const maximums: Partial<Record<ParameterName, number>> = {
  batch_limit: 2_147_483_647,
  batch_flush_timeout: 2_147_483_647,
  max_uncommitted_events: 2_147_483_647,
  stream_keep_alive_limit: 2_147_483_647,
};

/**
 * Reads stream parameters from a query (texts) or a JSON body (numbers, and `partitions`). Other parameters are
 * ignored.
 *
 * @param eventTypes The subscription's event types with their partition counts. `partitions` may name only these.
 * @param random A number from 0 up to 1, for the timeout of a stream without a usable one.
 * @param limits What the operator allows.
 * @param commitTimeoutSecondsMaximum Of the subscription, if it differs from what the operator allows.
 * @throws MALFORMED_REQUEST for a value that is not a whole number, when `partitions` is not a list, and for a text
 *   that is no filter; UNPROCESSABLE for a value out of bounds, for an entry of `partitions` with a wrong shape, named
 *   twice or outside the subscription
 */
export function readStreamParameters(
  source: Readonly<Record<string, unknown>>,
  eventTypes: ReadonlyMap<string, number>,
  random: number,
  limits: StreamingLimits = defaultStreamingLimits,
  commitTimeoutSecondsMaximum = limits.commitTimeoutSeconds,
): StreamParameters {
  const value = readNumbers(source, parameterNames, limits);
  return {
    batchLimit: value('batch_limit') ?? 1,
    flushMilliseconds: flushSecondsOf(value('batch_flush_timeout'), limits) * 1000,
    timespanMilliseconds: (value('batch_timespan') ?? 0) * 1000,
    uncommittedEventsMaximum: value('max_uncommitted_events') ?? uncommittedEventsDefault,
    streamLimit: value('stream_limit') ?? 0,
    keepAliveLimit: value('stream_keep_alive_limit') ?? 0,
    commitTimeoutMilliseconds:
      commitTimeoutSeconds(value('commit_timeout'), limits, commitTimeoutSecondsMaximum) * 1000,
    streamTimeoutMilliseconds: streamTimeoutSeconds(value('stream_timeout'), random) * 1000,
    requestedPartitions: requestedPartitions(source['partitions'], eventTypes),
    ...slotWait(value('wait_for_slot') ?? 0),
    ...(readFlag('strict_commits', source['strict_commits']) ? { strictCommits: true } : {}),
    ...(readFlag('commit_heartbeat', source['commit_heartbeat']) ? { countsHeartbeats: true } : {}),
    ...withFilter(source['filter']),
  };
}

/**
 * Reads the parameters of a stream without a subscription from a query. The rules of those that it has are the same;
 * what it has none of is ignored.
 *
 * @param random A number from 0 up to 1, for the timeout of a stream without a usable one.
 * @param limits What the operator allows.
 * @throws MALFORMED_REQUEST for a value that is no whole number or no filter, UNPROCESSABLE for one out of bounds, and
 *   for a limit below that of a batch or a timeout below that of one
 */
export function readEventTypeStreamParameters(
  source: Readonly<Record<string, unknown>>,
  random: number,
  limits: StreamingLimits = defaultStreamingLimits,
): EventTypeStreamParameters {
  const value = readNumbers(source, eventTypeParameterNames, limits);
  const batchLimit = value('batch_limit') ?? 1;
  const flushSeconds = flushSecondsOf(value('batch_flush_timeout'), limits);
  const streamLimit = value('stream_limit') ?? 0;
  const streamTimeout = value('stream_timeout');
  if (streamLimit !== 0 && streamLimit < batchLimit) {
    throw new LendstreamError('UNPROCESSABLE', "stream_limit can't be lower than batch_limit");
  }
  if (isUsableTimeout(streamTimeout) && streamTimeout < flushSeconds) {
    throw new LendstreamError('UNPROCESSABLE', "stream_timeout can't be lower than batch_flush_timeout");
  }
  return {
    batchLimit,
    flushMilliseconds: flushSeconds * 1000,
    streamLimit,
    streamTimeoutMilliseconds: streamTimeoutSeconds(streamTimeout, random) * 1000,
    keepAliveLimit: value('stream_keep_alive_limit') ?? 0,
    ...withFilter(source['filter']),
  };
}

/**
 * The numbers among the parameters, by name.
 * @throws MALFORMED_REQUEST for a value that is no whole number, UNPROCESSABLE for one below its smallest
 */
function readNumbers<Name extends ParameterName>(
  source: Readonly<Record<string, unknown>>,
  names: readonly Name[],
  { flushSecondsMinimum }: StreamingLimits,
): (name: Name) => number | undefined {
  const value = (name: Name): number | undefined => readInteger(name, source[name], maximums[name]);
  for (const name of names) {
    const given = value(name);
    const bound = name === 'batch_flush_timeout' ? flushSecondsMinimum : minimums[name];
    if (given !== undefined && bound !== undefined && given < bound) {
      throw new LendstreamError('UNPROCESSABLE', `${name} can't be lower than ${bound}`);
    }
  }
  return value;
}

function flushSecondsOf(given: number | undefined, limits: StreamingLimits): number {
  const { flushSecondsMinimum, flushSecondsMaximum } = limits;
  const seconds = given ?? Math.min(Math.max(batchFlushSecondsDefault, flushSecondsMinimum), flushSecondsMaximum);
  if (seconds <= flushSecondsMaximum) return seconds;
  throw new LendstreamError('UNPROCESSABLE', `batch_flush_timeout can't be higher than ${flushSecondsMaximum}`);
}

function slotWait(seconds: number): Pick<StreamParameters, 'slotWaitMilliseconds'> {
  if (seconds > slotWaitSecondsMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `wait_for_slot can't be higher than ${slotWaitSecondsMaximum}`);
  }
  return seconds === 0 ? {} : { slotWaitMilliseconds: seconds * 1000 };
}

function withFilter(parameter: unknown): Pick<StreamParameters, 'filter'> {
  const filter = readFilter(parameter);
  return filter === undefined ? {} : { filter };
}

/** @throws MALFORMED_REQUEST for anything but a boolean of JSON and the words of switches */
function readFlag(name: string, value: unknown): boolean {
  const flag = typeof value === 'string' ? readSwitch(value) : (value ?? false);
  if (typeof flag === 'boolean') return flag;
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  throw new LendstreamError('MALFORMED_REQUEST', `'${name}' parameter should be true or false, but was '${shown}'`);
}

function readInteger(name: string, value: unknown, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number <= maximum) return number;
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  throw new LendstreamError('MALFORMED_REQUEST', `'${name}' parameter should be a whole number, but was '${shown}'`);
}

function commitTimeoutSeconds(given: number | undefined, limits: StreamingLimits, most: number): number {
  if (given === undefined || given === 0) return Math.min(limits.commitTimeoutSeconds, most);
  if (given < 0) throw new LendstreamError('UNPROCESSABLE', 'commit_timeout can not be less than 0');
  if (given <= most) return given;
  throw new LendstreamError('UNPROCESSABLE', `commit_timeout can not be more than ${most}`);
}

function isUsableTimeout(given: number | undefined): given is number {
  return given !== undefined && given >= 1 && given <= streamTimeoutSecondsMaximum;
}

function streamTimeoutSeconds(given: number | undefined, random: number): number {
  if (isUsableTimeout(given)) return given;
  return Math.round(streamTimeoutSecondsMiddle + (2 * random - 1) * streamTimeoutSecondsSpread);
}

/** The partitions that the parameters name, before they are checked. */
export function partitionsIn(source: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { partitions } = source;
  return Array.isArray(partitions) ? partitions : [];
}

function requestedPartitions(value: unknown, eventTypes: ReadonlyMap<string, number>): EventTypePartition[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new LendstreamError('MALFORMED_REQUEST', '"partitions" should be a list.');
  const requested = value.map(readRequestedPartition);
  if (new Set(requested.map(({ event_type: type, partition }) => `${type}:${partition}`)).size < requested.length) {
    throw new LendstreamError('UNPROCESSABLE', 'Duplicated partition specified');
  }
  const unknownPartitions = requested.filter(
    ({ event_type: type, partition }) => !isPartitionOf(partition, eventTypes.get(type)),
  );
  if (unknownPartitions.length > 0) {
    const list = unknownPartitions
      .map(({ event_type: type, partition }) => describePartition(type, partition))
      .join(', ');
    throw new LendstreamError(
      'UNPROCESSABLE',
      `Wrong partitions specified - some partitions don't belong to subscription: ${list}`,
    );
  }
  return requested.map(({ event_type: eventType, partition }) => ({ eventType, partition: Number(partition) }));
}

function readRequestedPartition(entry: unknown): { event_type: string; partition: string } {
  const { event_type: type, partition } = (entry ?? {}) as Record<string, unknown>;
  if (typeof type === 'string' && (typeof partition === 'string' || typeof partition === 'number')) {
    return { event_type: type, partition: String(partition) };
  }
  throw new LendstreamError('UNPROCESSABLE', 'Each of "partitions" must have an "event_type" and a "partition".');
}

function isPartitionOf(partition: string, partitionCount: number | undefined): boolean {
  const number = parsePartition(partition);
  return number !== undefined && partitionCount !== undefined && number < partitionCount;
}
