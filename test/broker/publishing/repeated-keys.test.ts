import { expect } from 'chai';
import { describe, it } from 'mocha';
import { repeatedKey } from '../../../src/broker/publishing/repeated-keys.ts';

describe('the key that an event repeats', () => {
  const found = (event: string): string | undefined => {
    const body = Buffer.from(`[{"a":1},${event},{"a":2}]`);
    return repeatedKey(body, 9, 9 + Buffer.byteLength(event));
  };

  for (const [event, key] of [
    ['{"a":1,"b":2,"a":3}', '"a"'],
    ['{"a":1,"\\u0061":3}', '"a"'],
    ['{ "x" : { "a" : 1 } , "y" : [ { "a" : 1 , "é" : 2 , "é" : 3 } ] }', '"é"'],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}],"b":"a","d":["a","a"]}', undefined],
    ['{"a":"\\"a\\":1,{","b":[1,"a"]}', undefined],
    ['{"a":[{"b":1}],"c":{"a":1},"c":1}', '"c"'],
    ['{"":1,"":2}', '""'],
    ['{"\\n\\"":1,"\\n\\"":2}', '"\\n\\""'],
    ['{}', undefined],
  ] as const) {
    it(`${key === undefined ? 'is none' : `is ${key}`}: ${event}`, () => expect(found(event)).to.equal(key));
  }

  it('is shown up to a hundred characters', () => {
    const keyOf = (length: number) => found(`{"${'k'.repeat(length)}":1,"${'k'.repeat(length)}":2}`);
    expect(keyOf(100)).to.equal(`"${'k'.repeat(100)}"`);
    expect(keyOf(101)).to.equal(`"${'k'.repeat(100)}..."`);
  });
});
