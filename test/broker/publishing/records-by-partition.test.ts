import { expect } from 'chai';
import { describe, it } from 'mocha';
import { packByPartition } from '../../../src/broker/publishing/records-by-partition.ts';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

describe('packByPartition', () => {
  it('puts the events of each partition into one append, in their order, with their keys', () => {
    const { schemaText, ...described } = readEventType(eventTypeBody('orders'));
    const schema = { type: 'json_schema', schema: schemaText, version: '1.0.0', created_at: 'now' } as const;
    const options = { retention_time: 1 };
    const dates = { created_at: 'now', updated_at: 'now' };
    const eventType = { ...described, schema, options, annotations: {}, labels: {}, ...dates };
    const type = prepareEventType({ eventType, partitionCount: 4, schemas: [schema], system: false });
    const texts = ['{"n":0}', '{"n":10}', '{"n":200}', '{"n":3}'];
    const batches = packByPartition(
      type,
      Int32Array.from([2, 0, 2, 2]),
      ['a', null, 'b', null],
      (index, partition) => `${texts[index]}@${partition}`,
    );
    const stored = batches.map(({ topic, partition, records }) => ({
      topic,
      partition,
      records: records.map(({ key, value }) => [key, String(value)]),
    }));
    expect(stored).to.deep.equal([
      { topic: 'orders', partition: 0, records: [[null, '{"n":10}@0']] },
      {
        topic: 'orders',
        partition: 2,
        records: [
          ['a', '{"n":0}@2'],
          ['b', '{"n":200}@2'],
          [null, '{"n":3}@2'],
        ],
      },
    ]);
  });
});
