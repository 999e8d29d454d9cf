import { expect } from 'chai';
import { array, assert, boolean, constantFrom, integer, oneof, property, string, tuple } from 'fast-check';
import { describe, it } from 'mocha';
import { Gathering } from '../../../../src/broker/publishing/request-memory/gathering.ts';
import {
  addedBytesMaximum,
  gatheredBytesMaximum,
  listedMaximum,
  RequestMemory,
  requestBytesMaximum,
  type Part,
} from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { withoutEngine } from '../without-engine.ts';

const memories = { compiled: RequestMemory.create(), 'step by step': withoutEngine(() => RequestMemory.create()) };

/** An event from a start to an end, which are the only fields that it has. */
const whole: readonly Part[] = [{ from: 0, to: 1 }];

/** What was gathered, by event. */
function texts(gathering: Gathering): string[] {
  const all = gathering.bytes().toString('latin1');
  let start = 0;
  const each = Array.from(gathering.ends, (end) => {
    const text = all.slice(start, end);
    expect(all[end]).to.equal(end === all.length ? undefined : ',');
    start = end + 1;
    return text;
  });
  expect(start).to.equal(all.length + 1);
  return each;
}

for (const [name, memory] of Object.entries(memories)) {
  describe(`gathering, ${name}`, () => {
    const load = (request: Buffer, ...ranges: (readonly [start: number, end: number])[]): void => {
      expect(memory.load(request)).to.equal(true);
      for (const [index, range] of ranges.entries()) memory.fields.set(range, 2 * index);
    };

    it('joins parts of every length', () => {
      const lengths = [0, 1, 2, 15, 16, 17, 31, 32, 33, 64];
      const request = Buffer.from(Array.from({ length: 300 }, (_, at) => 33 + (at % 90)));
      const range = tuple(integer({ min: 0, max: 200 }), oneof(constantFrom(...lengths), integer({ min: 0, max: 99 })));
      const part = oneof(string({ unit: 'binary-ascii', maxLength: 40 }), tuple(boolean(), boolean()));
      assert(
        property(
          array(range, { minLength: 1, maxLength: 9 }),
          array(part, { minLength: 1, maxLength: 5 }),
          (all, kinds) => {
            load(request, ...all.map(([start, length]) => [start, start + length] as const));
            // A part begins and ends where the event does, or is empty at one of them.
            const parts = kinds.map((kind): Part =>
              typeof kind === 'string' ? kind : { from: +kind[0], to: +kind[1] },
            );
            const isForwards = kinds.every((kind) => typeof kind === 'string' || kind[0] <= kind[1]);
            if (!isForwards) return;
            const gathering = new Gathering(memory, all.length, 'comma');
            all.forEach(([, length], index) =>
              expect(gathering.add(2 * index, kinds.length * length, parts)).to.equal(true),
            );
            const expected = all.map(([start, length]) => {
              const at = [start, start + length];
              return parts
                .map((each) =>
                  typeof each === 'string' ? each : request.toString('latin1', at[each.from], at[each.to]),
                )
                .join('');
            });
            expect(texts(gathering)).to.deep.equal(expected);
          },
        ),
        { numRuns: 300 },
      );
    });

    it('is empty without events', () => {
      for (const between of ['comma', 'nothing'] as const) {
        const gathering = new Gathering(memory, 0, between);
        expect(gathering.bytes()).to.have.length(0);
        expect(gathering.ends).to.have.length(0);
      }
    });

    it('reaches the last byte of the largest request', () => {
      const request = Buffer.alloc(requestBytesMaximum, 'x');
      request.write('the end', requestBytesMaximum - 7);
      load(request, [requestBytesMaximum - 7, requestBytesMaximum], [0, 1]);
      expect(memory.request.length).to.equal(requestBytesMaximum);
      const gathering = new Gathering(memory, 2, 'comma');
      for (const field of [0, 2]) expect(gathering.add(field, 7, whole)).to.equal(true);
      expect(texts(gathering)).to.deep.equal(['the end', 'x']);
      expect(memory.load(Buffer.alloc(requestBytesMaximum + 1))).to.equal(false);
    });

    it('takes turns when there are more events than a turn has', () => {
      load(Buffer.from('abcdefghij'), ...Array.from({ length: 10 }, (_, at) => [at, at + 1] as const));
      for (const count of [listedMaximum, listedMaximum + 1, 2 * listedMaximum, 2 * listedMaximum + 3]) {
        const gathering = new Gathering(memory, count, 'comma');
        for (let index = 0; index < count; index += 1) expect(gathering.add(2 * (index % 10), 1, whole)).to.equal(true);
        expect(texts(gathering).join('')).to.equal('abcdefghij'.repeat(Math.ceil(count / 10)).slice(0, count));
      }
    });

    it('takes turns when events are larger together than a turn may be', () => {
      const half = gatheredBytesMaximum / 2 - 1;
      load(Buffer.alloc(gatheredBytesMaximum + 1, 'y'), [0, half], [0, half + 1], [0, gatheredBytesMaximum - 1]);
      const gathering = new Gathering(memory, 6, 'comma');
      const sizes = [half, half, half + 1, half + 1, gatheredBytesMaximum - 1, half];
      const fieldOf = (size: number): number => [half, half + 1, gatheredBytesMaximum - 1].indexOf(size) * 2;
      for (const size of sizes) expect(gathering.add(fieldOf(size), size, whole)).to.equal(true);
      expect(texts(gathering).map(({ length }) => length)).to.deep.equal(sizes);
      expect(new Gathering(memory, 1, 'comma').add(0, gatheredBytesMaximum, whole)).to.equal(false);
      expect(new Gathering(memory, 1, 'comma').add(0, gatheredBytesMaximum - 2, [...whole, 'zz'])).to.equal(false);
    });

    it('takes turns when there are more texts than a turn has', () => {
      load(Buffer.from('ab'), [0, 1], [1, 2]);
      const textOf = (index: number): string => `${index} `.repeat(10_000);
      const count = 20;
      const gathering = new Gathering(memory, count, 'comma');
      for (let index = 0; index < count; index += 1) {
        expect(gathering.add(2 * (index % 2), 1, [textOf(index), ...whole])).to.equal(true);
      }
      const expected = Array.from({ length: count }, (_, index) => textOf(index) + 'ab'[index % 2]);
      expect(texts(gathering)).to.deep.equal(expected);
    });

    it('puts nothing between events where that is asked for, in several turns as well', () => {
      load(Buffer.from('abcdefghij'), ...Array.from({ length: 10 }, (_, at) => [at, at + (at % 3)] as const));
      for (const count of [1, 10, listedMaximum, listedMaximum + 1, 2 * listedMaximum + 3]) {
        const gathering = new Gathering(memory, count, 'nothing');
        for (let index = 0; index < count; index += 1) gathering.add(2 * (index % 10), 2, [...whole, '.']);
        const expected = Array.from({ length: count }, (_, at) =>
          'abcdefghij'.slice(at % 10, (at % 10) + ((at % 10) % 3)).concat('.'),
        );
        expect(gathering.bytes().toString()).to.equal(expected.join(''));
        let end = 0;
        expect([...gathering.ends]).to.deep.equal(expected.map(({ length }) => (end += length)));
      }
    });

    it('adds events in any order', () => {
      load(Buffer.from('abcdefghij'), ...Array.from({ length: 10 }, (_, at) => [at, at + 1] as const));
      const events = Int32Array.of(7, 3, 9, 0, 3);
      const gathering = new Gathering(memory, 8, 'comma');
      expect(gathering.addAll(events, 1, 5, 2, () => 1, [...whole, '!'])).to.equal(true);
      expect(gathering.addAll(events, 2, 2, 2, () => 1, whole)).to.equal(true);
      expect(gathering.add(2, 1, whole)).to.equal(true);
      expect(gathering.addAll(events, 0, 3, 2, () => 1, whole)).to.equal(true);
      expect(texts(gathering)).to.deep.equal(['d!', 'j!', 'a!', 'd!', 'b', 'h', 'd', 'j']);
    });

    it('adds as many events as are asked for, in one turn or in several', () => {
      load(Buffer.from('ab'), [0, 1], [1, 2]);
      for (const count of [listedMaximum - 1, listedMaximum, listedMaximum + 1, 2 * listedMaximum + 1]) {
        const events = Int32Array.from({ length: count }, (_, index) => index % 2);
        for (const first of [0, 1]) {
          const gathering = new Gathering(memory, count, 'nothing');
          expect(gathering.addAll(events, 0, first, 2, () => 1, whole)).to.equal(true);
          expect(gathering.addAll(events, first, count, 2, () => 1, whole)).to.equal(true);
          expect(gathering.bytes().toString('latin1')).to.equal('ab'.repeat(count).slice(0, count));
        }
      }
    });

    it('adds events of as many bytes as a turn has, and of more', () => {
      const half = gatheredBytesMaximum / 2;
      for (const length of [half - 2, half - 1, half, half + 1]) {
        load(Buffer.alloc(length, 'long '), [0, length], [0, 1]);
        const gathering = new Gathering(memory, 3, 'comma');
        const bytesOf = (field: number): number => (field === 0 ? length : 1);
        expect(gathering.addAll(Int32Array.of(0, 0, 1), 0, 3, 2, bytesOf, whole)).to.equal(true);
        const all = gathering.bytes();
        expect([...gathering.ends]).to.deep.equal([length, 2 * length + 1, 2 * length + 3]);
        expect(all.length).to.equal(2 * length + 3);
        expect(all.subarray(0, length).equals(all.subarray(length + 1, 2 * length + 1))).to.equal(true);
      }
    });

    it('has no room for an event that is larger than a turn has', () => {
      load(Buffer.from('ab'), [0, 1], [1, 2]);
      const events = Int32Array.of(0, 1);
      const add = (bytes: number, parts: readonly Part[]): boolean =>
        new Gathering(memory, 2, 'comma').addAll(events, 0, 2, 2, (field) => (field === 0 ? 1 : bytes), parts);
      expect(add(gatheredBytesMaximum - 1, whole)).to.equal(true);
      expect(add(gatheredBytesMaximum, whole)).to.equal(false);
      expect(add(gatheredBytesMaximum - 2, [...whole, 'x'])).to.equal(true);
      expect(add(gatheredBytesMaximum - 1, [...whole, 'x'])).to.equal(false);
      expect(add(1, ['x'.repeat(addedBytesMaximum)])).to.equal(false);
    });

    it('has no room for a text that is larger than a turn has', () => {
      const recipeBytes = 4 + 12;
      const text = 'x'.repeat(addedBytesMaximum - recipeBytes);
      expect(new Gathering(memory, 1, 'comma').add(0, 0, [`${text}x`])).to.equal(false);
      const gathering = new Gathering(memory, 1, 'comma');
      expect(gathering.add(0, 0, [text])).to.equal(true);
      expect(texts(gathering)).to.deep.equal([text]);
    });
  });
}
