import { expect } from 'chai';
import { describe, it } from 'mocha';
import { walkEvents } from '../../../../src/broker/publishing/plain-rules/event-walk.ts';
import { plainRulesOf, type PlainRules } from '../../../../src/broker/publishing/plain-rules/plain-rules.ts';
import { isDateTime } from '../../../../src/clock.ts';
import { eventField, fieldsOfEach } from '../../../../src/broker/publishing/request-memory/event-fields.ts';
import { idsAndNeighbours, isUuid, timesAndNeighbours } from '../formatted-texts.ts';

const wantedPaths = [['metadata', 'eid'], ['key']];
const each = fieldsOfEach(wantedPaths.length);

function rulesOf(schema: object): PlainRules {
  const rules = plainRulesOf({ ...schema }, { wantedPaths, hasMetadata: true });
  if (rules === null) throw new Error('the schema has no plain rules');
  return rules;
}

/** The texts between the positions that a walk found, by event. */
function partsOf(request: string, eventsMaximum = 1_000): string[][] | undefined {
  const body = Buffer.from(request);
  const text = body.toString('latin1');
  // As after a request before.
  const fields = new Int32Array(eventsMaximum * each).fill(7);
  const count = walkEvents(body, rulesOf({}), wantedPaths.length, fields);
  if (count === undefined) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const part = (from: number, to: number): string =>
      text.slice(fields[index * each + from], fields[index * each + to]);
    const { start, end, metadataStart, metadataEnd, wanted } = eventField;
    return [part(start, end), part(metadataStart, metadataEnd), part(wanted, wanted + 1), part(wanted + 2, wanted + 3)];
  });
}

describe('walkEvents', () => {
  it('finds the parts of each event, in any order', () => {
    const first = '{"metadata":{"eid":"a"},"key":"b","more":{"metadata":{"eid":"no"},"key":"no"}}';
    const second = '{"key":"","a":[{"key":"no"}],"metadata":{"occurred_at":"now","eid":"c"}}';
    expect(partsOf(`[${first},${second}]`)).to.deep.equal([
      [first, '{"eid":"a"}', 'a', 'b'],
      [second, '{"occurred_at":"now","eid":"c"}', 'c', ''],
    ]);
  });

  it('finds the parts of as many events as there is room for', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => `{"key":"k${index}","metadata":{"eid":"e${index}"}}`);
    const expected = events.map((event, index) => [event, `{"eid":"e${index}"}`, `e${index}`, `k${index}`]);
    expect(partsOf(`[${events.join(',')}]`)).to.deep.equal(expected);
    expect(partsOf(`[${events.join(',')}]`, events.length - 1)).to.equal(undefined);
  });

  it('gives up on an event without one of the wanted texts, and on one whose texts have escapes', () => {
    expect(partsOf('[{"metadata":{"eid":"a"}}]')).to.equal(undefined);
    expect(partsOf(String.raw`[{"metadata":{"eid":"a"},"key":"\u0041"}]`)).to.equal(undefined);
    expect(partsOf(String.raw`[{"metadata":{"eid":"a"},"key":"A","other":"\u0041"}]`)).to.have.length(1);
  });

  it('notes whether metadata has more than the usual fields, for each event', () => {
    const plain = '{"metadata":{"eid":"a","occurred_at":"b","event_type":"c"},"key":""}';
    const further = '{"metadata":{"eid":"a","flow_id":"b"},"key":""}';
    const body = Buffer.from(`[${further},${plain},${further}]`);
    const metadata = { properties: { flow_id: { type: 'string' } } };
    const fields = new Int32Array(3 * each).fill(7);
    expect(walkEvents(body, rulesOf({ properties: { metadata } }), 2, fields)).to.equal(3);
    const notes = [0, 1, 2].map((index) => fields[index * each + eventField.hasFurtherMetadata]);
    expect(notes).to.deep.equal([1, 0, 1]);
  });

  describe('of a text with a format', () => {
    const rules = rulesOf({
      properties: { time: { type: 'string', format: 'date-time' }, id: { type: 'string', format: 'uuid' } },
    });

    function isKnown(name: 'time' | 'id', text: string): boolean {
      const body = Buffer.from(`[{"metadata":{"eid":"a"},"key":"b","${name}":"${text}"}]`);
      return walkEvents(body, rules, wantedPaths.length, new Int32Array(each)) === 1;
    }

    it('knows a time exactly when it is one', () => {
      for (const time of timesAndNeighbours()) {
        expect(isKnown('time', time), time).to.equal(isDateTime(time));
      }
    });

    it('knows an id exactly when it is a UUID', () => {
      for (const id of idsAndNeighbours()) expect(isKnown('id', id), id).to.equal(isUuid(id));
    });
  });
});
