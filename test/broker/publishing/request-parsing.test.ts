import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventDepthMaximum, parseEvents } from '../../../src/broker/publishing/request-parsing.ts';

describe('parseEvents', () => {
  const unreadable: [name: string, body: string | Buffer, message: RegExp][] = [
    ['a body that is no JSON', '[{]', /^Error occurred when parsing event\(s\)\. /],
    ['a body that is no array', '{}', /an array of events is expected/],
    ['text after the array', '[{}] x', /parsing event/],
    ['two trailing commas', '[{},,]', /parsing event/],
    ['only a comma', '[,]', /parsing event/],
    ['an item that is no object', '[{},1]', /item 1 of the array is not a JSON object/],
    ['an item that is an array', '[[]]', /item 0 of the array is not a JSON object/],
    ['a repeated key', '[{"a":1,"\\u0061":2}]', /Duplicate key "a" in item 0/],
    [
      'a repeated key of the metadata',
      '[{"metadata":{"eid":1,"eid":2}}]',
      /Duplicate key "eid" in the metadata of item 0/,
    ],
    ['a repeated key within a field', '[{"d":{"n":1,"n":"evil"}}]', /Duplicate key "n" in item 0/],
    ['a repeated key within a list', '[{},{"d":[1,[{"n":1,"m":[],"\\u006e":2}]]}]', /Duplicate key "n" in item 1/],
    [
      'a repeated key at the maximum depth',
      `[${'{"a":'.repeat(99)}{"n":1,"n":2}${'}'.repeat(99)}]`,
      /Duplicate key "n" in item 0/,
    ],
    [
      'a repeated key below the metadata',
      '[{"metadata":{"span_ctx":{"a":"1","a":"2"}}}]',
      /Duplicate key "a" in item 0/,
    ],
    ['metadata twice', '[{"metadata":{},"metadata":{}}]', /Duplicate key "metadata" in item 0/],
    [
      'an event that is nested too deep',
      `[${'{"a":'.repeat(101)}1${'}'.repeat(101)}]`,
      /nested deeper than 100 levels/,
    ],
    ['bytes that are no UTF-8', Buffer.from([0x5b, 0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x5d]), /not UTF-8/],
  ];
  for (const [name, body, message] of unreadable) {
    it(`refuses ${name}`, () => {
      expect(() => parseEvents(Buffer.from(body)))
        .to.throw(message)
        .with.property('code', 'MALFORMED_REQUEST');
    });
  }

  it('accepts an event with the maximum nesting', () => {
    const body = Buffer.from(`[${'{"a":'.repeat(eventDepthMaximum)}1${'}'.repeat(eventDepthMaximum)}]`);
    expect(eventDepthMaximum).to.equal(100);
    expect(parseEvents(body).events).to.have.length(1);
  });

  it('accepts the same keys in different objects, and texts that look like a repeated key', () => {
    const event = { a: { a: { a: '"a":1,"a":2' } }, b: [{ a: 1 }, { a: 2 }], c: ['a', ':', 'a'] };
    expect(parseEvents(Buffer.from(JSON.stringify([event, event], null, 2))).events).to.deep.equal([event, event]);
  });

  it('tolerates a comma before the closing bracket', () => {
    expect(parseEvents(Buffer.from('[{"a":1} , ] ')).events).to.deep.equal([{ a: 1 }]);
  });
});
