import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createdRecord } from '../../../src/broker/event-types/event-type-records.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { fullReportBytesMaximum, outcomeOf, violationsOf } from '../../../src/broker/publishing/event-validation.ts';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';
import { undescribed } from '../../../src/broker/schemas/schema-validator.ts';
import { ValidationBudget } from '../../../src/broker/schemas/validation-budget.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';

const schema = '{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}';
const definition = readEventType(eventTypeBody('orders', { schema: { type: 'json_schema', schema } }));
const type = prepareEventType(createdRecord(definition, '2026-11-21T10:00:00.000Z'));

/** An event of so many bytes, as a request carries it. */
function eventOf(fields: object, bytes = 0) {
  const event = { metadata: exampleMetadata(), ...fields };
  const padding = Math.max(0, bytes - JSON.stringify({ ...event, padding: '' }).length);
  const parsed = parseEvents(Buffer.from(JSON.stringify([{ ...event, padding: 'x'.repeat(padding) }])));
  return { parsed, budget: new ValidationBudget(parsed.body.length) };
}

/** Runs to the end; `turns` counts how often other work had its turn. */
function pointersOf(fields: object, bytes?: number) {
  const { parsed, budget } = eventOf(fields, bytes);
  const validation = violationsOf(type, parsed, 0, budget);
  let turns = 0;
  for (;;) {
    const step = validation.next();
    if (step.done === true) return { turns, pointers: step.value.map(({ pointer }) => pointer) };
    turns += 1;
  }
}

describe('the violations of an event', () => {
  it('are none for an event that its schema accepts, without a turn for other work', () => {
    expect(pointersOf({ a: 'x' })).to.deep.equal({ turns: 0, pointers: [] });
  });

  it('are all described up to the size of a full report, beyond it only the first', () => {
    expect(pointersOf({ a: 1, b: 2 }, fullReportBytesMaximum).pointers).to.have.members(['#/a', '#/b']);
    expect(pointersOf({ a: 1, b: 2 }, fullReportBytesMaximum + 1).pointers).to.have.length(1);
  });

  it('are described after other work had its turn, since that compiles code', () => {
    expect(pointersOf({ a: 1 }).turns).to.equal(2);
  });

  it('are not described when only the outcome is needed', () => {
    const { parsed, budget } = eventOf({ a: 1 });
    expect(outcomeOf(type, parsed, 0, budget)).to.equal(undescribed);
  });
});
