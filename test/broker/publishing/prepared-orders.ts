import { Enrichments } from '../../../src/broker/publishing/enrichment.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';
import {
  prepareRecords,
  type PreparedRecords,
  type RecordContext,
} from '../../../src/broker/publishing/event-preparation.ts';
import { prepareEventType, type PreparedEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { inTurns } from '../../../src/broker/publishing/long-work-in-turns.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';

/** Orders, and their preparation in full, with which faster ways to prepare them are compared. */

export const orderSchema = {
  type: 'object',
  properties: {
    order: { type: 'string' },
    total: { type: 'number' },
    count: { type: 'integer' },
    placed: { type: 'string', format: 'date-time' },
    kind: { type: 'string', enum: ['web', 'shop'] },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string', maxLength: 4 } } } },
  },
  required: ['order'],
};

export const order = {
  metadata: exampleMetadata(),
  order: 'A-17',
  total: 315.47,
  count: 3,
  placed: '2026-02-28T10:00:00Z',
  kind: 'web',
  lines: [{ sku: 'x1', note: 'plain' }, {}],
  paid: true,
};

export function typeOf(
  changes: Record<string, unknown> = {},
  schema: unknown = orderSchema,
  annotations: Record<string, string> = {},
): PreparedEventType {
  const { schemaText, ...described } = readEventType(
    eventTypeBody('orders', {
      partition_strategy: 'hash',
      partition_key_fields: ['order'],
      schema: { type: 'json_schema', schema: JSON.stringify(schema) },
      ...changes,
    }),
  );
  const version = { type: 'json_schema', schema: schemaText, version: '1.0.0', created_at: 'now' } as const;
  return prepareEventType({
    eventType: {
      ...described,
      schema: version,
      options: { retention_time: 1 },
      annotations,
      labels: {},
      created_at: 'now',
      updated_at: 'now',
    },
    partitionCount: 5,
    schemas: [version],
    system: false,
  });
}

export function contextOf(type: PreparedEventType): RecordContext {
  const facts = { publishedBy: 'shop', flowId: 'flow', receivedAt: '2026-03-15T22:47:15.123Z' };
  return { random: () => 0.5, enrichment: new Enrichments(type).of(facts) };
}

export function inFull(type: PreparedEventType, body: Buffer): PreparedRecords {
  const prepared = inTurns(prepareRecords(type, parseEvents(body), contextOf(type)));
  if (prepared instanceof Promise) throw new Error('took more than a turn');
  if ('refused' in prepared) throw new Error(`refused: ${JSON.stringify(prepared.refused)}`);
  return prepared;
}

/** The stored records and their partitions, as plain values. */
export function stored({ partitions, batches }: PreparedRecords): unknown {
  return {
    partitions: [...partitions],
    batches: batches.map(({ topic, partition, records }) => ({
      topic,
      partition,
      records: records.map(({ key, value }) => [key, value?.toString('latin1')]),
    })),
  };
}

/** @throws an error that has the request, when full preparation refuses it */
export function expectValid(type: PreparedEventType, body: Buffer): PreparedRecords {
  try {
    return inFull(type, body);
  } catch (error) {
    if (!isLendstreamError(error)) throw error;
    throw new Error(`Recognised, though parsing refuses it: ${body.toString()}`, { cause: error });
  }
}
