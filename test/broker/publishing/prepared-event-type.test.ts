import { expect } from 'chai';
import { describe, it } from 'mocha';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

describe('prepareEventType', () => {
  it('takes what each event needs from the definition', () => {
    const { schemaText, retentionMilliseconds, annotations, labels, ...described } = readEventType(
      eventTypeBody('orders', { category: 'data', partition_strategy: 'hash', partition_key_fields: ['a.b'] }),
    );
    expect([retentionMilliseconds, annotations, labels]).to.deep.equal([undefined, undefined, undefined]);
    const schema = { type: 'json_schema', schema: schemaText, version: '1.2.0', created_at: 'now' } as const;
    const prepared = prepareEventType({
      eventType: {
        ...described,
        schema,
        options: { retention_time: 1 },
        annotations: {},
        labels: {},
        created_at: 'now',
        updated_at: 'now',
      },
      partitionCount: 3,
      schemas: [schema],
      system: false,
    });
    expect(prepared).to.deep.include({
      version: '1.2.0',
      partitionCount: 3,
      keyPaths: [['data', 'a', 'b']],
      isEnriched: true,
    });
  });
});
