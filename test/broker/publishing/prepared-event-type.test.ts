import { expect } from 'chai';
import { describe, it } from 'mocha';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

describe('prepareEventType', () => {
  function prepared(schemaOfEvents?: string, changes: Record<string, unknown> = {}, marks: object = {}) {
    const { schemaText, retentionMilliseconds, annotations, labels, ...described } = readEventType(
      eventTypeBody('orders', {
        category: 'data',
        partition_strategy: 'hash',
        partition_key_fields: ['a.b'],
        ...changes,
      }),
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
      ...marks,
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

  it('has only what its definition and its record say', () => {
    const facts = ({ absentKeyFieldsAllowed, isEnriched, isCompacted }: ReturnType<typeof prepared>) => ({
      absentKeyFieldsAllowed,
      isEnriched,
      isCompacted,
    });
    expect(facts(prepared())).to.deep.equal({ absentKeyFieldsAllowed: false, isEnriched: true, isCompacted: false });
    const changes = { category: 'business', cleanup_policy: 'compact_and_delete' };
    const other = prepared(undefined, changes, { absentKeyFieldsAllowed: true });
    expect(facts(other)).to.deep.equal({ absentKeyFieldsAllowed: true, isEnriched: true, isCompacted: true });
    expect(other.keyPaths).to.deep.equal([['a', 'b']]);
    const bare = { category: 'undefined', enrichment_strategies: [] };
    expect(facts(prepared(undefined, bare)).isEnriched).to.equal(false);
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
