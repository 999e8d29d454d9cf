import { expect } from 'chai';
import { describe, it } from 'mocha';
import { defaultStreamingLimits } from '../../../src/broker/definitions/streaming-limits.ts';
import { readEventType, retentionMillisecondsMinimum } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { thrownBy } from '../../support/thrown-errors.ts';

const valid = eventTypeBody('orders.created', { schema: { type: 'json_schema', schema: '{}' } });

describe('readEventType', () => {
  it('fills in the defaults of optional fields', () => {
    expect(readEventType({ ...valid, unknown: 1, created_at: 'ignored' })).to.deep.equal({
      name: 'orders.created',
      owning_application: 'core',
      category: 'business',
      enrichment_strategies: ['metadata_enrichment'],
      partition_strategy: 'random',
      partition_key_fields: [],
      compatibility_mode: 'forward',
      cleanup_policy: 'delete',
      default_statistic: null,
      authorization: null,
      ordering_key_fields: [],
      ordering_instance_ids: [],
      audience: null,
      schemaText: '{}',
      retentionMilliseconds: undefined,
      annotations: undefined,
      labels: undefined,
    });
  });

  it('accepts events of category undefined without enrichment', () => {
    const read = readEventType({ ...valid, category: 'undefined', enrichment_strategies: [] });
    expect(read).to.deep.include({ category: 'undefined', enrichment_strategies: [] });
  });

  it('accepts enum values in any case, and null for missing fields', () => {
    const read = readEventType({
      ...valid,
      category: 'BUSINESS',
      enrichment_strategies: ['Metadata_Enrichment'],
      compatibility_mode: 'None',
      cleanup_policy: 'COMPACT',
      partition_strategy: 'RANDOM',
      options: null,
      annotations: null,
      default_statistic: null,
    });
    expect([read.category, read.compatibility_mode, read.cleanup_policy]).to.deep.equal([
      'business',
      'none',
      'compact',
    ]);
  });

  const findings: [name: string, changes: Record<string, unknown>, line: string][] = [
    ['a missing name', { name: null }, 'Field "name" must not be null'],
    ['an empty name', { name: '' }, 'Field "name" the length of the name must be >= 1 and <= 255'],
    ['a long name', { name: 'x'.repeat(256) }, 'Field "name" the length of the name must be >= 1 and <= 255'],
    ['a name with invalid characters', { name: 'a b' }, 'Field "name" format not allowed'],
    ['a name that begins with a digit', { name: '1a' }, 'Field "name" format not allowed'],
    ['a name of the service', { name: 'Lendstream.loans' }, 'Field "name" must not begin with "lendstream."'],
    ['a missing category', { category: undefined }, 'Field "category" must not be null'],
    ['a missing owner', { owning_application: undefined }, 'Field "owning_application" must not be null'],
    ['a missing schema', { schema: undefined }, 'Field "schema" must not be null'],
    ['a schema without text', { schema: { type: 'json_schema' } }, 'Field "schema.schema" must not be null'],
    [
      'too long a retention',
      { options: { retention_time: defaultStreamingLimits.retentionMilliseconds + 1 } },
      'Field "options.retention_time" can not be more than 345600000',
    ],
    [
      'too short a retention',
      { options: { retention_time: retentionMillisecondsMinimum - 1 } },
      'Field "options.retention_time" can not be less than 10800000',
    ],
    ['enrichment missing', { enrichment_strategies: [] }, 'Field "enrichment_strategies" must contain'],
    [
      'enrichment twice',
      { enrichment_strategies: ['metadata_enrichment', 'metadata_enrichment'] },
      'Field "enrichment_strategies" must not contain duplicates',
    ],
    ['enrichment of undefined events', { category: 'undefined' }, 'Field "enrichment_strategies" must be empty'],
    [
      'compaction of undefined events',
      { category: 'undefined', cleanup_policy: 'compact' },
      'Field "cleanup_policy" must be delete',
    ],
    [
      'user-defined partitions of undefined events',
      { category: 'undefined', partition_strategy: 'user_defined' },
      'Field "partition_strategy" can not be user_defined',
    ],
    ['an unknown strategy', { partition_strategy: 'round' }, 'Field "partition_strategy" does not exist: round'],
    ['a hash without key fields', { partition_strategy: 'hash' }, 'Field "partition_key_fields" must be set'],
    [
      'a statistic without parallelism',
      { default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 1 } },
      'Field "default_statistic.write_parallelism" must be greater than or equal to 1',
    ],
    [
      'an empty list of readers',
      { authorization: { admins: [], readers: [], writers: [] } },
      'Field "authorization.readers"',
    ],
    ['instances without keys', { ordering_instance_ids: ['x'] }, 'Field "ordering_instance_ids" can not be set'],
    ['an annotation without a key', { annotations: { '': 'x' } }, 'Field "annotations[]" Key cannot be empty\n'],
    [
      'a label with invalid characters',
      { labels: { a: 'abc-' } },
      'Field "labels[a]" Should contain only allowed symbols\n',
    ],
    ['a name that no topic can have', { name: 'x'.repeat(250) }, 'Field "name" must contain at most 249 characters\n'],
    ["the service's own name", { name: 'lendstream' }, 'Field "name" must not begin with "lendstream."'],
    ["the service's names in another spelling", { name: 'LENDSTREAM_loans' }, 'must not begin with "lendstream."'],
    [
      'an owner with too long a name',
      { owning_application: 'x'.repeat(256) },
      'Field "owning_application" must contain at most 255 characters\n',
    ],
    [
      'too many fields to partition by',
      { partition_key_fields: Array.from({ length: 21 }, () => 'a') },
      'Field "partition_key_fields" must contain at most 20 elements\n',
    ],
    [
      'too long a path',
      { ordering_key_fields: ['a', 'x'.repeat(256)] },
      'Field "ordering_key_fields[1]" must contain at most 255 characters\n',
    ],
    [
      'an event authorization selector',
      { event_owner_selector: { type: 'static', name: 'a', value: 'b' } },
      'Field "event_owner_selector" is not supported',
    ],
  ];
  for (const [name, changes, line] of findings) {
    it(`refuses ${name}`, () => {
      const refusal = thrownBy(() => readEventType({ ...valid, ...changes }));
      expect(refusal.code).to.equal('UNPROCESSABLE');
      expect(refusal.message).to.include(line);
    });
  }

  it('accepts every text of the maximum length', () => {
    const read = readEventType({
      ...valid,
      name: 'x'.repeat(249),
      owning_application: 'x'.repeat(255),
      partition_key_fields: Array.from({ length: 20 }, () => 'x'.repeat(255)),
      event_owner_selector: null,
    });
    expect(read.name).to.have.length(249);
  });

  for (const milliseconds of [retentionMillisecondsMinimum, defaultStreamingLimits.retentionMilliseconds]) {
    it(`accepts the retention limit of ${milliseconds} ms`, () => {
      const read = readEventType({ ...valid, options: { retention_time: milliseconds } });
      expect(read.retentionMilliseconds).to.equal(milliseconds);
    });
  }

  it('reports all violations at once, one per line', () => {
    const { message } = thrownBy(() => readEventType({ ...valid, name: '', category: null }));
    expect(message.trimEnd().split('\n')).to.have.length(3);
  });

  for (const [name, changes, message] of [
    ['an unknown category', { category: 'x' }, 'Possible values: undefined, data, business'],
    ['a schema of another kind', { schema: { type: 'xml_schema', schema: '{}' } }, 'Possible values: json_schema'],
    ['a name that is no text', { name: 1 }, 'Field "name" must be a string'],
    ['options that are no object', { options: [] }, 'Field "options" must be an object'],
    [
      'half a millisecond',
      { options: { retention_time: 0.5 } },
      'Field "options.retention_time" must be a whole number',
    ],
    ['labels that are no texts', { labels: { a: 1 } }, 'Field "labels" must be an object of strings'],
  ] as const) {
    it(`cannot read ${name}`, () => {
      const refusal = thrownBy(() => readEventType({ ...valid, ...changes }));
      expect(refusal.code).to.equal('MALFORMED_REQUEST');
      expect(refusal.message).to.include(message);
    });
  }
});
