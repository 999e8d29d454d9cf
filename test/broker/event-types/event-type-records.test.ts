import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  changedRecord,
  createdRecord,
  recordWithSchema,
  systemRecord,
  topicOf,
} from '../../../src/broker/event-types/event-type-records.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

const definition = readEventType(eventTypeBody('orders', { labels: { team: 'a' } }));
const created = createdRecord(definition, 'then');

describe('createdRecord', () => {
  it('starts with version 1.0.0 and the defaults', () => {
    expect(created.eventType).to.deep.include({ created_at: 'then', updated_at: 'then', annotations: {} });
    expect(created.eventType.options).to.deep.equal({ retention_time: 172_800_000 });
    expect(created.schemas.map(({ version }) => version)).to.deep.equal(['1.0.0']);
    expect(created).to.include({ partitionCount: 1, system: false });
    const { labels: _left, ...rest } = definition;
    const plain = createdRecord({ ...rest, labels: undefined, annotations: { a: 'b' } }, 'then').eventType;
    expect(plain).to.deep.include({ labels: {}, annotations: { a: 'b' } });
    expect(created.eventType.labels).to.deep.equal({ team: 'a' });
  });
});

describe('changedRecord', () => {
  it('keeps the fields that the definition leaves out, and the creation time', () => {
    const { labels: _left, ...rest } = definition;
    const changed = changedRecord(created, { ...rest, labels: undefined, owning_application: 'other' }, 'now');
    expect(changed.eventType).to.deep.include({
      owning_application: 'other',
      labels: { team: 'a' },
      created_at: 'then',
      updated_at: 'now',
    });
    expect(changed.schemas).to.equal(created.schemas);
  });

  it('has the new schema in force, behind those before it', () => {
    const schemaText = definition.schemaText.replace('{"type"', '{"title":"Order","type"');
    const changed = changedRecord(created, { ...definition, schemaText }, 'now', 'someone');
    expect(changed.schemas.map(({ version }) => version)).to.deep.equal(['1.0.0', '1.0.1']);
    expect(changed.eventType.schema).to.equal(changed.schemas[1]);
    expect(changed.eventType.schema).to.include({ schema: schemaText, created_at: 'now' });
  });

  it('has the new retention, or the previous one when the definition leaves it out', () => {
    const longer = changedRecord(created, { ...definition, retentionMilliseconds: 200_000_000 }, 'now');
    expect(longer.eventType.options).to.deep.equal({ retention_time: 200_000_000 });
    expect(changedRecord(longer, definition, 'now').eventType.options).to.deep.equal({ retention_time: 200_000_000 });
  });
});

describe('the time since when repeated events are stored once', () => {
  const annotation = 'lendstream/deduplication-window-seconds';
  const asking = (seconds: string) => ({ ...definition, annotations: { [annotation]: seconds } });
  const without = { ...definition, annotations: {} };

  it('is that of the creation, which is noted already, where the annotation was there from the beginning', () => {
    const first = createdRecord(asking('60'), 'then');
    expect(first).to.not.have.property('deduplicatedSince');
    expect(changedRecord(first, asking('600'), 'now')).to.not.have.property('deduplicatedSince');
  });

  it('is that of the change that brought the annotation, and stays until the annotation goes', () => {
    const asked = changedRecord(created, asking('60'), 'one');
    expect(asked.deduplicatedSince).to.equal('one');
    const kept = changedRecord(asked, { ...asking('600'), annotations: undefined, labels: { a: 'b' } }, 'two');
    expect(kept.deduplicatedSince).to.equal('one');
    expect(changedRecord(kept, asking('600'), 'three').deduplicatedSince).to.equal('one');
    const text = definition.schemaText.replace('{"type"', '{"title":"Order","type"');
    expect(recordWithSchema(kept, text, 'three').deduplicatedSince).to.equal('one');
    const gone = changedRecord(kept, without, 'four');
    expect(gone).to.not.have.property('deduplicatedSince');
    expect(changedRecord(gone, without, 'five')).to.not.have.property('deduplicatedSince');
    expect(changedRecord(gone, asking('60'), 'six').deduplicatedSince).to.equal('six');
  });

  it('is that of the change that brings it back to a type that had it from the beginning', () => {
    const gone = changedRecord(createdRecord(asking('60'), 'then'), without, 'one');
    expect(changedRecord(gone, asking('60'), 'two').deduplicatedSince).to.equal('two');
  });
});

describe('recordWithSchema', () => {
  it('is unchanged for the schema in force, and has one more version for another', () => {
    expect(recordWithSchema(created, definition.schemaText, 'now')).to.equal(created);
    const text = definition.schemaText.replace('{"type"', '{"title":"Order","type"');
    const next = recordWithSchema(created, text, 'now');
    expect(next.schemas.map(({ version }) => version)).to.deep.equal(['1.0.0', '1.0.1']);
    expect(next.eventType.schema).to.deep.include({ schema: text, version: '1.0.1', created_at: 'now' });
  });
});

describe('systemRecord', () => {
  const type = {
    name: 'loan_state_changed',
    schema: { type: 'object' },
    partitionCount: 12,
    partitionKeyFields: [],
    retentionMilliseconds: 5,
  };

  it('changes nothing when nothing changed, and reports when something did', () => {
    const first = systemRecord(type, undefined, 'then');
    expect(systemRecord(type, first, 'now')).to.deep.equal(first);
    const next = systemRecord({ ...type, retentionMilliseconds: 6 }, first, 'now');
    expect(next.eventType).to.include({ created_at: 'then', updated_at: 'now' });
    expect(next.schemas).to.deep.equal(first.schemas);
  });

  it('has the marks of its type, and only those', () => {
    const marks = { keptUntilDone: true, absentKeyFieldsAllowed: true, writtenByServiceAlone: true };
    expect(systemRecord({ ...type, ...marks }, undefined, 'now')).to.include(marks);
    expect(systemRecord(type, undefined, 'now')).to.not.have.any.keys(...Object.keys(marks));
  });
});

describe('topicOf', () => {
  it('has the name of the type', () => {
    expect(topicOf(created)).to.deep.equal({
      name: 'orders',
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 172_800_000,
    });
  });
});
