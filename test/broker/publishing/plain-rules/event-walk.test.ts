import { expect } from 'chai';
import { describe, it } from 'mocha';
import { partField, walkEvents } from '../../../../src/broker/publishing/plain-rules/event-walk.ts';
import { plainRulesOf, type PlainRules } from '../../../../src/broker/publishing/plain-rules/plain-rules.ts';

const wantedPaths = [['metadata', 'eid'], ['key']];

function rulesOf(schema: object): PlainRules {
  const rules = plainRulesOf({ ...schema }, { wantedPaths, hasMetadata: true });
  if (rules === null) throw new Error('the schema has no plain rules');
  return rules;
}

/** The texts between the positions that a walk found, by event. */
function partsOf(request: string): string[][] | undefined {
  const body = Buffer.from(request);
  const text = body.toString('latin1');
  const walked = walkEvents(body, text, rulesOf({}), wantedPaths.length);
  if (walked === undefined) return undefined;
  const { count, fields, fieldsOfEach } = walked;
  return Array.from({ length: count }, (_, index) => {
    const part = (from: number, to: number): string =>
      text.slice(fields[index * fieldsOfEach + from], fields[index * fieldsOfEach + to]);
    const { start, end, metadataStart, metadataEnd, wanted } = partField;
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

  it('finds the parts of as many events as come', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => `{"key":"k${index}","metadata":{"eid":"e${index}"}}`);
    const expected = events.map((event, index) => [event, `{"eid":"e${index}"}`, `e${index}`, `k${index}`]);
    expect(partsOf(`[${events.join(',')}]`)).to.deep.equal(expected);
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
    const walked = walkEvents(body, body.toString('latin1'), rulesOf({ properties: { metadata } }), 2);
    const notes = [0, 1, 2].map((index) => walked?.fields[index * walked.fieldsOfEach + partField.hasFurtherMetadata]);
    expect(notes).to.deep.equal([1, 0, 1]);
  });
});
