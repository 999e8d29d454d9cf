import { randomUUID } from 'node:crypto';
import type { Lendstream } from '../../src/client/client.ts';

/** An event of these tests: numbered, so that each can be told from the others. */
export interface Numbered {
  readonly number: number;
  readonly metadata: { readonly eid: string };
}

/** Defines an event type of its own for a test. @returns its name */
export async function defineNumbered(
  lendstream: Lendstream,
  partitions = 1,
  annotations: Record<string, string> = {},
): Promise<string> {
  const name = `numbers-${randomUUID()}`;
  await lendstream.createEventType({
    name,
    owning_application: 'tests',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    partition_strategy: 'hash',
    partition_key_fields: ['key'],
    annotations,
    schema: {
      type: 'json_schema',
      schema: '{"properties":{"number":{"type":"number"},"key":{"type":"string"}},"required":["number"]}',
    },
    default_statistic: {
      messages_per_minute: 1,
      message_size: 1,
      read_parallelism: partitions,
      write_parallelism: partitions,
    },
  });
  return name;
}
