import { Router, type Request } from 'express';
import {
  letterQueues,
  markDealtWith,
  markOf,
  unmark,
  type LetterPlace,
  type LetterQueue,
} from '../../broker/dead-letters/dealt-with-letters.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { eventItem } from '../../broker/retained-events/event-item.ts';
import type { FoundEvent } from '../../broker/retained-events/partition-search.ts';
import { formatOffset } from '../../broker/cursors/cursor-text.ts';
import type { Clock } from '../../clock.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import { noValue, type EventLog, type LogRecord } from '../../ports/event-log.ts';
import { flagParameter } from '../edge/query-parameters.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { requestedPlace, type EventPages } from './finding/event-pages.ts';

/** A topic, and the number of its partitions. */
export interface LetterTopic {
  readonly name: string;
  readonly partitionCount: number;
}

export interface DeadLettersServices {
  readonly log: EventLog;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly topics: Readonly<Record<LetterQueue, LetterTopic>>;
  /** The topic that commands came from, and go to again. */
  readonly commandsTopic: string;
  readonly pages: EventPages;
}

/**
 * `/dead-letters/commands` and `/dead-letters/subscriptions`: the letters with what was done about them, newest first;
 * marking one as dealt with, and sending a command again.
 */
export function createDeadLettersRouter(services: DeadLettersServices): Router {
  const { registry, topics, pages } = services;
  const topicOf = (queue: LetterQueue): string => topics[queue].name;
  const router = Router({ caseSensitive: true });
  router
    .route('/dead-letters/:queue')
    .get(async (request, response) => {
      const queue = queueOf(request);
      const isOpenOnly = flagParameter(request, 'open');
      const { name, partitionCount } = topics[queue];
      const itemOf = (found: FoundEvent): Buffer | undefined => {
        const place = { queue, partition: found.batch.partition, offset: found.offset };
        const mark = markOf(registry, place);
        return isOpenOnly && mark !== null ? undefined : eventItem(found, { id: idOf(place), dealt_with: mark });
      };
      const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
      const place = requestedPlace(request, 'backward');
      await pages.respond(request, response, { topic: name, partitions, place, itemOf });
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/dead-letters/:queue/:id')
    .put(async (request, response) => {
      const place = placeOf(request);
      const { dealt_with: isDealtWith = true, note = '' } = await readJsonObject<'markDeadLetter'>(request);
      if (typeof isDealtWith !== 'boolean') throw malformed('dealt_with', 'true or false');
      if (typeof note !== 'string') throw malformed('note', 'a string');
      await readLetter(services, place);
      if (isDealtWith) await markDealtWith(services, place, note, topicOf);
      else await unmark(registry, place);
      response.status(204).end();
    })
    .all(methodNotAllowed('PUT'));
  router
    .route('/dead-letters/:queue/:id/deliveries')
    .post(async (request, response) => {
      const place = placeOf(request);
      request.resume();
      if (place.queue !== 'commands') {
        const detail =
          'Only commands can be sent again. To deliver the event of a subscription again, move its cursors before it.';
        throw new LendstreamError('UNPROCESSABLE', detail);
      }
      const { partition, offset } = await sendAgain(services, await readLetter(services, place));
      await markDealtWith(services, place, 'sent again', topicOf);
      response.json({
        event_type: services.commandsTopic,
        partition: String(partition),
        offset: formatOffset(offset),
      } satisfies Responses['redeliverDeadLetter']);
    })
    .all(methodNotAllowed('POST'));
  return router;

  function placeOf(request: Request): LetterPlace {
    const queue = queueOf(request);
    const [, partition, offset] = /^(\d{1,4})-(\d{1,15})$/.exec(String(request.params['id'])) ?? [];
    if (partition === undefined || Number(partition) >= topics[queue].partitionCount) throw notFound();
    return { queue, partition: Number(partition), offset: Number(offset) };
  }
}

/** @throws NOT_FOUND */
function queueOf(request: Request): LetterQueue {
  const queue = letterQueues.find((each) => each === request.params['queue']);
  if (queue === undefined)
    throw new LendstreamError('NOT_FOUND', `There are the dead letters ${letterQueues.join(' and ')}.`);
  return queue;
}

function idOf({ partition, offset }: LetterPlace): string {
  return `${partition}-${offset}`;
}

function notFound(): LendstreamError {
  return new LendstreamError('NOT_FOUND', 'There is no such dead letter, or it is no longer held.');
}

function malformed(field: string, expected: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Field "${field}" must be ${expected}`);
}

/** @throws NOT_FOUND, and what the log throws */
async function readLetter({ log, topics }: DeadLettersServices, place: LetterPlace): Promise<LogRecord> {
  const record = await readRecord(log, topics[place.queue].name, place.partition, place.offset);
  if (record?.value === undefined || record.value === null) throw notFound();
  return record;
}

/** Undefined when the log does not hold it. */
async function readRecord(
  log: EventLog,
  topic: string,
  partition: number,
  offset: number,
): Promise<LogRecord | undefined> {
  try {
    const { batches } = await log.read({ topic, partition, offset }, { bytesMaximum: 1, waitMilliseconds: 0 });
    for (const batch of batches) {
      const index = batch.offsets.indexOf(offset);
      if (index < 0) continue;
      const start = batch.valueStarts[index] as number;
      const value = start === noValue ? null : Buffer.from(batch.bytes.subarray(start, batch.valueEnds[index]));
      return { key: batch.key(index), value };
    }
    return undefined;
  } catch (error) {
    if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')) return undefined;
    throw error;
  }
}

/** As many bytes of a command its letter repeats at most. */
const repeatedBytesMaximum = 1024 * 1024;

/**
 * Appends the command of a letter to the commands once more, byte for byte. It has its id, so it is done at most once.
 * @throws UNPROCESSABLE when the command had no value, or is too long for its letter and no longer held
 */
async function sendAgain(
  { log, commandsTopic }: DeadLettersServices,
  letter: LogRecord,
): Promise<{ readonly partition: number; readonly offset: number }> {
  const { partition, offset, value } = JSON.parse(String(letter.value)) as {
    readonly partition: number;
    readonly offset: number;
    readonly value: string | null;
  };
  if (value === null) throw new LendstreamError('UNPROCESSABLE', 'The record of this letter had no value.');
  const repeated = Buffer.from(value, 'base64');
  const original =
    repeated.length < repeatedBytesMaximum
      ? { key: letter.key, value: repeated }
      : await readRecord(log, commandsTopic, partition, offset);
  if (original?.value === undefined || original.value === null) {
    throw new LendstreamError('UNPROCESSABLE', 'The command of this letter is no longer held as a whole.');
  }
  const [result] = await log.append([{ topic: commandsTopic, partition, records: [original] }]);
  if (result === undefined) throw new LendstreamError('INTERNAL', 'The log has not said what it stored.');
  if (result.outcome === 'failed') throw result.error;
  return { partition, offset: result.baseOffset };
}
