import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkDefinition, checkEvent } from '../../../src/broker/publishing/dry-run.ts';
import { createdRecord } from '../../../src/broker/event-types/event-type-records.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';

const now = '2026-11-21T10:00:00.000Z';

const withSchema = (schema: string) => () =>
  readEventType(eventTypeBody('orders', { schema: { type: 'json_schema', schema } }));

const order = '{"type":"object","properties":{"order":{"type":"string"}}}';
const current = createdRecord(withSchema(order)(), now);

describe('checking an event type before it is saved', () => {
  it('gives a new event type its first version', () => {
    const { outcome: verdict, record } = checkDefinition(undefined, withSchema(order), now);
    expect(verdict).to.deep.equal({
      valid: true,
      detail: null,
      violations: [],
      current_version: null,
      version: '1.0.0',
      changes: [],
    });
    expect(record?.eventType.name).to.equal('orders');
  });

  it('names the next version and the changes', () => {
    const next = '{"type":"object","properties":{"order":{"type":"string"},"note":{"type":"string"}}}';
    const { outcome: verdict } = checkDefinition(current, withSchema(next), now);
    expect(verdict).to.include({ valid: true, current_version: '1.0.0', version: '1.1.0' });
    expect(verdict.changes.map(({ kind, pointer }) => [kind, pointer])).to.deep.equal([
      ['extending', '#/properties/note'],
    ]);
  });

  it('gives the reason of the refusal for a forbidden change', () => {
    const next = '{"type":"object","properties":{"order":{"type":"number"}}}';
    const { outcome: verdict, record } = checkDefinition(current, withSchema(next), now);
    expect(verdict).to.include({ valid: false, version: null });
    expect(verdict.detail).to.contain('#/properties/order');
    expect(verdict.changes.map(({ kind }) => kind)).to.deep.equal(['breaking']);
    expect(record).to.equal(undefined);
  });

  it('keeps the version of an unchanged schema', () => {
    expect(checkDefinition(current, withSchema(order), now).outcome).to.include({ valid: true, version: '1.0.0' });
  });

  it('lists violations of fields one by one', () => {
    const read = () => readEventType(eventTypeBody('1 name', { owning_application: null }));
    const { outcome: verdict } = checkDefinition(undefined, read, now);
    expect(verdict.violations.map(({ field }) => field)).to.have.members(['name', 'owning_application']);
  });

  it('describes what is wrong with a text that is no schema', () => {
    for (const text of ['{', '[]', '{"type":"strin"}', '{"properties":{"a":{"type":"strin"}}}']) {
      const { outcome: verdict } = checkDefinition(current, withSchema(text), now);
      expect(verdict, text).to.include({ valid: false });
      expect(verdict.detail, text).to.contain('nvalid');
    }
  });

  it('refuses input that is no definition at all', () => {
    expect(() => checkDefinition(undefined, () => readEventType({ name: 7 }), now)).to.throw('must be a string');
  });
});

describe('checking an event before it is published', () => {
  it('applies the rules of publishing', async () => {
    expect(await checkEvent(current, JSON.stringify({ metadata: exampleMetadata(), order: 'a' }))).to.deep.equal([]);
    const pointers = (await checkEvent(current, '{"order":7}')).map(({ pointer }) => pointer);
    expect(pointers).to.include('#/order');
  });

  for (const [title, event, message] of [
    ['a value that is no object', '[]', /item 0 of the array is not a JSON object/],
    ['a key repeated in a nested object', '{"order":{"a":1,"a":2}}', /Duplicate key/],
    ['an event that is nested too deep', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, /nested deeper than 100 levels/],
  ] as const) {
    it(`reports ${title}`, async () => {
      expect((await checkEvent(current, event)).map((violation) => violation.message).join()).to.match(message);
    });
  }

  it('compares numbers by all their digits', async () => {
    const type = createdRecord(withSchema('{"properties":{"n":{"type":"integer","maximum":9007199254740992}}}')(), now);
    const judge = async (digits: string) => {
      const found = await checkEvent(type, `{"metadata":${JSON.stringify(exampleMetadata())},"n":${digits}}`);
      return found.map(({ pointer }) => pointer);
    };
    expect(await judge('9007199254740992')).to.deep.equal([]);
    expect(await judge('9007199254740993')).to.deep.equal(['#/n']);
    expect(await judge('9007199254740991.5')).to.deep.equal(['#/n']);
  });
});
