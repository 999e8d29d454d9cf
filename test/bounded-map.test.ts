import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { BoundedMap } from '../src/bounded-map.ts';

/** The obvious map with a limit: a list in the order of use. */
class ListOfUses {
  readonly #maximum: number;
  #entries: { readonly key: number; readonly value: number }[] = [];

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  get size(): number {
    return this.#entries.length;
  }

  get(key: number): number | undefined {
    const found = this.#entries.find((entry) => entry.key === key);
    if (found !== undefined) this.set(key, found.value);
    return found?.value;
  }

  set(key: number, value: number): void {
    this.delete(key);
    this.#entries = [...this.#entries, { key, value }].slice(-this.#maximum);
  }

  delete(key: number): boolean {
    const sizeBefore = this.size;
    this.#entries = this.#entries.filter((entry) => entry.key !== key);
    return this.size < sizeBefore;
  }
}

const step = fc.record({ act: fc.constantFrom('get', 'set', 'delete'), key: fc.nat(7), value: fc.nat(99) });

describe('a map with a limit', () => {
  it('drops the entry that was set first when one more than its limit is set', () => {
    const map = new BoundedMap<string, number>(3);
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    expect(map.size).to.equal(3);

    map.set('d', 3);

    expect(map.size).to.equal(3);
    expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).to.deep.equal([undefined, 1, 2, 3]);
  });

  it('keeps an entry that was read or set again', () => {
    const map = new BoundedMap<string, number>(3);
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    map.get('a');
    map.set('b', 10);

    map.set('d', 3);
    map.set('e', 4);

    expect(['a', 'b', 'c', 'd', 'e'].map((key) => map.get(key))).to.deep.equal([undefined, 10, undefined, 3, 4]);
  });

  it('drops nothing when a value is replaced, or when an entry was deleted before', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 0);
    map.set('b', 1);
    map.set('b', 2);
    expect(map.delete('b')).to.equal(true);
    expect(map.delete('b')).to.equal(false);
    map.set('c', 3);

    expect(['a', 'b', 'c'].map((key) => map.get(key))).to.deep.equal([0, undefined, 3]);
  });

  it('holds one entry when the limit is one', () => {
    const map = new BoundedMap<string, number>(1);
    map.set('a', 0);
    map.set('b', 1);

    expect([map.size, map.get('a'), map.get('b')]).to.deep.equal([1, undefined, 1]);
  });

  it('has the same entries as a list of uses after any sequence of calls', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (maximum, steps) => {
        const map = new BoundedMap<number, number>(maximum);
        const list = new ListOfUses(maximum);
        for (const { act, key, value } of steps) {
          if (act === 'get') expect(map.get(key)).to.equal(list.get(key));
          else if (act === 'delete') expect(map.delete(key)).to.equal(list.delete(key));
          else {
            map.set(key, value);
            list.set(key, value);
          }
          expect(map.size).to.equal(list.size);
        }
      }),
    );
  });

  it('holds entries up to the sum of their sizes, and one that is larger than that until the next comes', () => {
    const map = new BoundedMap<string, number>(10, (size) => size);
    const held = (): string => [...map.entries()].map(([key]) => key).join('');
    map.set('a', 4);
    map.set('b', 6);
    expect(held()).to.equal('ab');
    map.get('a');
    map.set('c', 1);
    expect(held()).to.equal('ac');
    map.set('a', 9);
    expect(held()).to.equal('ac');
    map.set('c', 2);
    expect(held(), 'after an entry has grown').to.equal('c');
    map.delete('c');
    map.set('d', 11);
    expect(held()).to.equal('d');
    map.set('e', 10);
    expect(held()).to.equal('e');
  });
});
