import { expect } from 'chai';
import { describe, it } from 'mocha';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

describe('prepareEventType', () => {
  function prepared(schemaOfEvents?: string) {
    const { schemaText, retentionMilliseconds, annotations, labels, ...described } = readEventType(
      eventTypeBody('orders', { category: 'data', partition_strategy: 'hash', partition_key_fields: ['a.b'] }),
    );
    expect([retentionMilliseconds, annotations, labels]).to.deep.equal([undefined, undefined, undefined]);
    const schema = {
      type: 'json_schema',
      schema: schemaOfEvents ?? schemaText,
      version: '1.2.0',
      created_at: 'now',
    } as const;
    return prepareEventType({
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
  }

  it('takes what each event needs from the definition', () => {
    expect(prepared()).to.deep.include({
      version: '1.2.0',
      partitionCount: 3,
      keyPaths: [['data', 'a', 'b']],
      isEnriched: true,
    });
  });

  it('compiles the rules at their first use, once', () => {
    const type = prepared();
    const { rules } = type;
    expect(type.compile()).to.equal(false);
    expect(type.rules).to.equal(rules);
    expect(prepared().compile()).to.equal(true);
    const unusable = prepared('{"title":7}');
    expect(unusable.keyPaths).to.deep.equal([['data', 'a', 'b']]);
    expect(() => unusable.compile()).to.throw('#/properties/data/title: must be string');
    expect(() => unusable.rules).to.throw('#/properties/data/title: must be string');
  });
});
