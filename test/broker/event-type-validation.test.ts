import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { EventType } from '../../src/broker/event-type.ts';
import {
  checkChange,
  keyedViolations,
  partitionCountFor,
  readEventType,
  retentionMillisecondsMaximum,
  retentionMillisecondsMinimum,
} from '../../src/broker/event-type-validation.ts';
import { LendstreamError } from '../../src/errors.ts';

const valid = {
  name: 'orders.created',
  owning_application: 'core',
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema: '{}' },
};

function refusalOf(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof LendstreamError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'none', message: '' };
}

describe('readEventType', () => {
  it('fills in what may be left out', () => {
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

  it('takes enum values in any letter case, and null for what is left out', () => {
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
    ['no name', { name: null }, 'Field "name" must not be null'],
    ['an empty name', { name: '' }, 'Field "name" the length of the name must be >= 1 and <= 255'],
    ['a long name', { name: 'x'.repeat(256) }, 'Field "name" the length of the name must be >= 1 and <= 255'],
    ['a name of odd characters', { name: 'a b' }, 'Field "name" format not allowed'],
    ['a name that begins with a digit', { name: '1a' }, 'Field "name" format not allowed'],
    ["one of the service's names", { name: 'Lendstream.loans' }, 'Field "name" must not begin with "lendstream."'],
    ['no category', { category: undefined }, 'Field "category" must not be null'],
    ['no owner', { owning_application: undefined }, 'Field "owning_application" must not be null'],
    ['no schema', { schema: undefined }, 'Field "schema" must not be null'],
    ['a schema without text', { schema: { type: 'json_schema' } }, 'Field "schema.schema" must not be null'],
    [
      'too long a retention',
      { options: { retention_time: retentionMillisecondsMaximum + 1 } },
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
    ['a hash of nothing', { partition_strategy: 'hash' }, 'Field "partition_key_fields" must be set'],
    [
      'a statistic without parallelism',
      { default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 1 } },
      'Field "default_statistic.write_parallelism" must be greater than or equal to 1',
    ],
    ['nobody as reader', { authorization: { admins: [], readers: [], writers: [] } }, 'Field "authorization.readers"'],
    ['instances without keys', { ordering_instance_ids: ['x'] }, 'Field "ordering_instance_ids" can not be set'],
    ['an annotation without a key', { annotations: { '': 'x' } }, 'Field "annotations" Key cannot be empty'],
  ];
  for (const [name, changes, line] of findings) {
    it(`refuses ${name}`, () => {
      const refusal = refusalOf(() => readEventType({ ...valid, ...changes }));
      expect(refusal.code).to.equal('UNPROCESSABLE');
      expect(refusal.message).to.include(line);
    });
  }

  it('reports all findings at once, one in each line', () => {
    const { message } = refusalOf(() => readEventType({ ...valid, name: '', category: null }));
    expect(message.trimEnd().split('\n')).to.have.length(3);
  });

  for (const [name, changes, message] of [
    ['an unknown category', { category: 'x' }, 'Possible values: undefined, data, business'],
    ['a schema of another kind', { schema: { type: 'avro_schema', schema: '{}' } }, 'Possible values: json_schema'],
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
      const refusal = refusalOf(() => readEventType({ ...valid, ...changes }));
      expect(refusal.code).to.equal('MALFORMED_REQUEST');
      expect(refusal.message).to.include(message);
    });
  }
});

describe('keyedViolations', () => {
  const cases: [key: string, value: string | null, message: string | null][] = [
    ['simple', 'x', null],
    ['example.org/a-b_c.d9', null, null],
    ['a'.repeat(63), 'x'.repeat(63), null],
    ['a'.repeat(64), 'x', 'Key name is longer than 63 characters'],
    ['', 'x', 'Key cannot be empty'],
    ['-a', 'x', 'Key name should start and end with a letter or a digit'],
    ['a/', 'x', 'Key name cannot be empty'],
    ['/a', 'x', 'Key prefix cannot be empty'],
    [`${'p'.repeat(254)}/a`, 'x', 'Key prefix is longer than 253 characters'],
    ['a_b/c', 'x', 'Key prefix should be a DNS name'],
    ['a', 'x'.repeat(64), 'Value of "a" is longer than 63 characters'],
  ];
  for (const [key, value, message] of cases) {
    it(`says of "${key.slice(0, 20)}": ${message}`, () => {
      const expected = message === null ? [] : [{ field: 'labels', message }];
      expect(keyedViolations('labels', { [key]: value }, 63)).to.deep.equal(expected);
    });
  }
});

describe('partitionCountFor', () => {
  it('is the larger parallelism, up to the limit, and one without a statistic', () => {
    const statistic = (read: number, write: number) =>
      partitionCountFor({ messages_per_minute: 0, message_size: 1, read_parallelism: read, write_parallelism: write });
    expect([
      partitionCountFor(null),
      statistic(1, 1),
      statistic(2, 5),
      statistic(8, 1),
      statistic(9, 100),
    ]).to.deep.equal([1, 1, 5, 8, 8]);
  });
});

describe('checkChange', () => {
  const statistic = { messages_per_minute: 0, message_size: 1, read_parallelism: 1, write_parallelism: 1 };
  const definition = readEventType({ ...valid, default_statistic: statistic });
  const current = { ...definition, default_statistic: statistic } as unknown as EventType;

  it('allows what may change and keeps the statistic that is left out', () => {
    const wanted = {
      ...definition,
      default_statistic: null,
      partition_strategy: 'hash',
      compatibility_mode: 'none',
    } as const;
    expect(checkChange(current, wanted)).to.equal(statistic);
    expect(
      checkChange(current, { ...definition, owning_application: 'other', cleanup_policy: 'compact_and_delete' }),
    ).to.equal(statistic);
  });

  it('lets undefined events become business events', () => {
    const before = { ...current, category: 'undefined', enrichment_strategies: [] } as const;
    expect(checkChange(before, definition)).to.equal(statistic);
    expect(() => checkChange(before, { ...definition, compatibility_mode: 'compatible' })).to.throw(/category/);
  });

  const refused: [name: string, before: Partial<EventType>, wanted: Record<string, unknown>, message: string][] = [
    ['another name', {}, { name: 'x' }, 'path does not match resource name'],
    ['another category', {}, { category: 'data' }, 'category'],
    ['other enrichment', {}, { enrichment_strategies: [] }, 'enrichment'],
    ['compaction alone', {}, { cleanup_policy: 'compact' }, 'cleanup policy'],
    ['no compaction any more', { cleanup_policy: 'compact_and_delete' }, {}, 'cleanup policy'],
    ['no authorization any more', { authorization: {} }, {}, 'Changing authorization object to `null`'],
    ['no audience any more', { audience: 'external-public' }, {}, 'audience'],
    [
      'another statistic',
      {},
      { default_statistic: { ...statistic, read_parallelism: 2 } },
      'default statistics must not be changed',
    ],
    ['a late statistic', { default_statistic: null }, {}, 'default statistics must not be changed'],
  ];
  for (const [name, before, wanted, message] of refused) {
    it(`refuses ${name}`, () => {
      const refusal = refusalOf(() => checkChange({ ...current, ...before }, { ...definition, ...wanted }));
      expect(refusal.code).to.equal('UNPROCESSABLE');
      expect(refusal.message).to.include(message);
    });
  }
});
