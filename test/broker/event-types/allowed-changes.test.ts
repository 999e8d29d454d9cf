import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { EventType } from '../../../src/broker/definitions/event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { checkChange } from '../../../src/broker/event-types/allowed-changes.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { thrownBy } from '../../support/thrown-errors.ts';

const valid = eventTypeBody('orders.created', { schema: { type: 'json_schema', schema: '{}' } });

describe('checkChange', () => {
  const statistic = { messages_per_minute: 0, message_size: 1, read_parallelism: 1, write_parallelism: 1 };
  const definition = readEventType({ ...valid, default_statistic: statistic });
  const current = { ...definition, default_statistic: statistic } as unknown as EventType;

  it('allows permitted changes and keeps a statistic that is left out', () => {
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

  it('lets undefined event types become business event types', () => {
    const before = { ...current, category: 'undefined', enrichment_strategies: [] } as const;
    expect(checkChange(before, definition)).to.equal(statistic);
    expect(() => checkChange(before, { ...definition, compatibility_mode: 'compatible' })).to.throw(/category/);
  });

  const refused: [name: string, before: Partial<EventType>, wanted: Record<string, unknown>, message: string][] = [
    ['another name', {}, { name: 'x' }, 'path does not match resource name'],
    ['another category', {}, { category: 'data' }, 'category'],
    ['other enrichment', {}, { enrichment_strategies: [] }, 'enrichment'],
    ['only compaction', {}, { cleanup_policy: 'compact' }, 'cleanup policy'],
    ['the removal of compaction', { cleanup_policy: 'compact_and_delete' }, {}, 'cleanup policy'],
    ['the removal of authorization', { authorization: {} }, {}, 'Changing authorization object to `null`'],
    ['the removal of the audience', { audience: 'external-public' }, {}, 'audience'],
    [
      'another statistic',
      {},
      { default_statistic: { ...statistic, read_parallelism: 2 } },
      'default statistics must not be changed',
    ],
    ['a statistic added later', { default_statistic: null }, {}, 'default statistics must not be changed'],
  ];
  for (const [name, before, wanted, message] of refused) {
    it(`refuses ${name}`, () => {
      const refusal = thrownBy(() => checkChange({ ...current, ...before }, { ...definition, ...wanted }));
      expect(refusal.code).to.equal('UNPROCESSABLE');
      expect(refusal.message).to.include(message);
    });
  }
});
