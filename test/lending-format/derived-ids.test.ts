import { expect } from 'chai';
import { describe, it } from 'mocha';
import { v5 } from 'uuid';
import { eventId, keysOf } from '../../src/lending-format/derived-ids.ts';

describe('identities by the position of a command', () => {
  for (const [partition, offset] of [
    [0, 0],
    [3, 12_345_678],
    [999, Number.MAX_SAFE_INTEGER],
  ] as const) {
    it(`are name-based UUIDs at ${partition}, ${offset}`, () => {
      for (let index = 0; index < 40; index += 1) {
        expect(eventId({ partition, offset }, index)).to.equal(
          v5(`${partition}|${offset}|${index}`, '6f0f3a46-5a0c-5b9e-9d0a-3f3f7c1f6d01'),
        );
        const purpose = `fee/${index}`;
        expect(keysOf({ partition, offset })(purpose)).to.equal(
          v5(`${partition}|${offset}|${purpose}`, '0b8f3a5e-4f0d-5d5c-8a3a-92c4f0a7e6b2').replaceAll('-', ''),
        );
      }
    });
  }
});
