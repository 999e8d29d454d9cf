import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { IndexedDefinitions, SortedDefinitions } from '../../../src/broker/definitions/definition-views.ts';

interface Definition {
  readonly rank: number;
  readonly tags: readonly string[];
}

const byTag = { kind: 'subscription', keysOf: ({ tags }: Definition) => tags } as const;
const byRank = {
  kind: 'subscription',
  compare: (left: Definition, right: Definition) => left.rank - right.rank,
} as const;

/** Few names, ranks and tags, so that changes meet. */
const changes = fc.array(
  fc.tuple(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.option(fc.record({ rank: fc.integer({ min: 0, max: 2 }), tags: fc.uniqueArray(fc.constantFrom('x', 'y')) }), {
      nil: undefined,
    }),
  ),
  { maxLength: 30 },
);

describe('the views of definitions', () => {
  it('show after any changes what a new view of the same definitions shows', () => {
    fc.assert(
      fc.property(changes, changes, (earlier, later) => {
        const definitions = new Map<string, Definition>();
        const store = (name: string, after: Definition | undefined): Definition | undefined => {
          const before = definitions.get(name);
          if (after === undefined) definitions.delete(name);
          else definitions.set(name, after);
          return before;
        };
        for (const [name, after] of earlier) store(name, after);
        const indexed = new IndexedDefinitions(byTag, definitions);
        const sorted = new SortedDefinitions(byRank, definitions.values());
        for (const [name, after] of later) {
          const before = store(name, after);
          indexed.change(name, { before, after });
          sorted.change({ before, after });
        }
        for (const tag of ['x', 'y']) {
          const expected = [...definitions.values()].filter(({ tags }) => tags.includes(tag));
          expect(indexed.get(tag)).to.have.members(expected).and.to.have.length(expected.length);
          expect(indexed.has(tag)).to.equal(expected.length > 0);
        }
        expect(sorted.values).to.have.members([...definitions.values()]);
        expect(sorted.values.map(({ rank }) => rank)).to.deep.equal(
          [...definitions.values()].map(({ rank }) => rank).sort((left, right) => left - right),
        );
      }),
    );
  });

  it('keep equal definitions in the order in which they came, also when one is changed', () => {
    const equal = (): Definition => ({ rank: 0, tags: ['x'] });
    const [first, second, third] = [equal(), equal(), equal()];
    const sorted = new SortedDefinitions(byRank, [first, second]);
    const indexed = new IndexedDefinitions(byTag, [
      ['first', first],
      ['second', second],
    ]);
    const changed = { rank: 0, tags: ['x', 'y'] };
    for (const [name, change] of [
      ['third', { before: undefined, after: third }],
      ['first', { before: first, after: changed }],
    ] as const) {
      sorted.change(change);
      indexed.change(name, change);
    }
    expect(sorted.values).to.have.ordered.members([changed, second, third]);
    expect(indexed.get('x')).to.have.ordered.members([changed, second, third]);
    expect(indexed.get('y')).to.deep.equal([changed]);
  });

  it('look at one definition for a change or a look-up, and compare few, however many there are', () => {
    const count = 1_024;
    const definitions = Array.from({ length: count }, (_, rank) => ({ rank, tags: [`${rank}`] }));
    let looks = 0;
    let comparisons = 0;
    const indexed = new IndexedDefinitions(
      { ...byTag, keysOf: ({ tags }: Definition) => ((looks += 1), tags) },
      definitions.map((definition) => [`${definition.rank}`, definition]),
    );
    const sorted = new SortedDefinitions(
      { ...byRank, compare: (left: Definition, right: Definition) => ((comparisons += 1), left.rank - right.rank) },
      definitions,
    );
    [looks, comparisons] = [0, 0];
    expect(indexed.get('700')).to.deep.equal([definitions[700]]);
    expect(looks).to.equal(0);
    const change = { before: definitions[500], after: { rank: 3.5, tags: ['new'] } };
    indexed.change('500', change);
    sorted.change(change);
    expect([indexed.has('500'), indexed.has('new'), sorted.values[4]]).to.deep.equal([false, true, change.after]);
    expect(looks).to.be.at.most(3);
    expect(comparisons).to.be.at.most(2 * (Math.log2(count) + 1) + 1);
  });
});
