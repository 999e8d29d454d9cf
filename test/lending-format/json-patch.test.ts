import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { type ExactJson, readExactObject, writeExact } from '../../src/lending-format/exact-json.ts';
import { type PatchFault, applyJsonPatch, hasFaults, readJsonPatch } from '../../src/lending-format/json-patch.ts';

const document =
  '{"name":"n","rate":12.50,"empty":null,"settings":{"days":[1,15],"inner":{"flag":true}},"a/b":{"~":1}}';

/** The document after the patch as text, or its faults. */
function patched(operations: unknown, text = document): string | readonly PatchFault[] {
  const read = readJsonPatch(JSON.stringify(operations));
  if (hasFaults(read)) return read;
  const result = applyJsonPatch(readExactObject(text), read);
  return 'fault' in result ? [result.fault] : writeExact(result.document);
}

/** The fields that a patch of `{}` leads to. */
function made(...operations: readonly unknown[]): unknown {
  const result = patched(operations, '{}');
  return typeof result === 'string' ? (JSON.parse(result) as unknown) : result;
}

describe('a JSON Patch', () => {
  it('adds, replaces, removes and moves, in the order of its operations', () => {
    const operations = [
      { op: 'ADD', path: '/notes', value: 'x' },
      { op: 'REPLACE', path: '/settings/days', value: [5] },
      { op: 'REMOVE', path: '/settings/inner' },
      { op: 'MOVE', from: '/notes', path: '/settings/notes' },
      { op: 'REPLACE', path: '/name', value: 'm' },
    ];
    expect(patched(operations)).to.equal(
      '{"name":"m","rate":12.50,"empty":null,"settings":{"days":[5],"notes":"x"},"a/b":{"~":1}}',
    );
  });

  it('takes operations in lower case, and paths without the slash in front', () => {
    expect(
      made(
        { op: 'add', path: 'state', value: 'ACTIVE' },
        { op: 'move', from: 'state', path: 'name' },
        { op: 'replace', path: 'notes', value: 'n' },
        { op: 'remove', path: 'notes' },
      ),
    ).to.deep.equal({ name: 'ACTIVE' });
  });

  it('reads ~1 as a slash and ~0 as a tilde', () => {
    expect(patched([{ op: 'REMOVE', path: '/a~1b/~0' }])).to.contain('"a/b":{}');
  });

  it('keeps each number as it was written', () => {
    const operations = '[{"op":"ADD","path":"/x","value":0.30}]';
    const read = readJsonPatch(operations);
    if (hasFaults(read)) expect.fail('It has faults.');
    const result = applyJsonPatch(readExactObject('{"y":45.00}'), read);
    expect(result).to.have.property('document');
    expect(writeExact((result as { document: ExactJson }).document)).to.equal('{"y":45.00,"x":0.30}');
  });

  it('inserts into a list before a place or at its end, and replaces at a place', () => {
    expect(
      made(
        { op: 'ADD', path: '/list', value: ['b'] },
        { op: 'ADD', path: '/list/0', value: 'a' },
        { op: 'ADD', path: '/list/2', value: 'd' },
        { op: 'ADD', path: '/list/-', value: 'e' },
        { op: 'REPLACE', path: '/list/2', value: 'c' },
        { op: 'REMOVE', path: '/list/3' },
      ),
    ).to.deep.equal({ list: ['a', 'b', 'c'] });
  });

  it('makes the objects that its path leads through, and a list where an item is added to its end', () => {
    expect(made({ op: 'REPLACE', path: '/a/b/c', value: 1 }, { op: 'ADD', path: '/a/list/-', value: 2 })).to.deep.equal(
      { a: { b: { c: 1 }, list: [2] } },
    );
    expect(patched([{ op: 'ADD', path: '/empty/x', value: 1 }])).to.contain('"empty":{"x":1}');
  });

  it('sets a field to null, and accepts the empty members that generated clients send', () => {
    expect(
      made(
        { op: 'ADD', path: 'x', value: null, from: null },
        { op: 'ADD', path: 'y', value: 1, from: '' },
        { op: 'REMOVE', path: 'y', value: null, from: '' },
      ),
    ).to.deep.equal({ x: null });
  });

  const faults: readonly (readonly [what: string, operations: readonly unknown[], index: number, member: string])[] = [
    ['an operation that is no object', [{ op: 'REMOVE', path: 'name' }, 5], 1, ''],
    ['an unknown operation', [{ op: 'COPY', from: 'name', path: 'x' }], 0, 'op'],
    ['a mixed spelling of an operation', [{ op: 'Add', path: 'x', value: 1 }], 0, 'op'],
    ['an unknown member', [{ op: 'ADD', path: 'x', value: 1, extra: 1 }], 0, 'extra'],
    ['a path that is no text', [{ op: 'ADD', path: 5, value: 1 }], 0, 'path'],
    ['the whole document', [{ op: 'REPLACE', path: '', value: {} }], 0, 'path'],
    ['an empty name', [{ op: 'ADD', path: '//name', value: 1 }], 0, 'path'],
    ['a slash at the end', [{ op: 'ADD', path: '/name/', value: 1 }], 0, 'path'],
    ['a lone tilde', [{ op: 'ADD', path: '/a~2', value: 1 }], 0, 'path'],
    ['the prototype', [{ op: 'ADD', path: '/__proto__/x', value: 1 }], 0, 'path'],
    ['a path that is too long', [{ op: 'ADD', path: 'x'.repeat(1_001), value: 1 }], 0, 'path'],
    ['ADD without a value', [{ op: 'ADD', path: 'x' }], 0, 'value'],
    ['REMOVE with a value', [{ op: 'REMOVE', path: 'name', value: 1 }], 0, 'value'],
    ['ADD with a from', [{ op: 'ADD', path: 'x', value: 1, from: 'name' }], 0, 'from'],
    ['MOVE without a from', [{ op: 'MOVE', path: 'x' }], 0, 'from'],
    ['MOVE into itself', [{ op: 'MOVE', from: '/settings', path: '/settings/inner/x' }], 0, 'path'],
    ['MOVE from nowhere', [{ op: 'MOVE', from: '/nothing', path: '/x' }], 0, 'from'],
    ['REMOVE of what is not there', [{ op: 'REMOVE', path: '/nothing' }], 0, 'path'],
    [
      'REMOVE of what was removed',
      [
        { op: 'REMOVE', path: '/name' },
        { op: 'REMOVE', path: '/name' },
      ],
      1,
      'path',
    ],
    ['a path through a text', [{ op: 'ADD', path: '/name/first', value: 1 }], 0, 'path'],
    ['a path through a number', [{ op: 'ADD', path: '/rate/value', value: 1 }], 0, 'path'],
    ['a place after the end of a list', [{ op: 'ADD', path: '/settings/days/3', value: 1 }], 0, 'path'],
    ['replacing the end of a list', [{ op: 'REPLACE', path: '/settings/days/2', value: 1 }], 0, 'path'],
    ['replacing the place -', [{ op: 'REPLACE', path: '/settings/days/-', value: 1 }], 0, 'path'],
    ['a place with a leading zero', [{ op: 'REPLACE', path: '/settings/days/00', value: 1 }], 0, 'path'],
    ['a negative place', [{ op: 'ADD', path: '/settings/days/-1', value: 1 }], 0, 'path'],
    ['a place in a list that is not there', [{ op: 'ADD', path: '/list/0', value: 1 }], 0, 'path'],
    ['a field of an inherited name', [{ op: 'REMOVE', path: '/toString' }], 0, 'path'],
  ];
  for (const [what, operations, index, member] of faults) {
    it(`refuses ${what}, and names the operation and its part`, () => {
      const result = patched(operations);
      if (typeof result === 'string') expect.fail(`It was done: ${result}`);
      expect(result.map((fault) => [fault.index, fault.member])).to.deep.equal([[index, member]]);
    });
  }

  it('names every operation of a wrong form, with the path that was sent', () => {
    const result = patched([
      { op: 'ADD', path: '/x' },
      { op: 'ADD', path: '/y', value: 1 },
      { op: 'GONE', path: 'z' },
    ]);
    expect(result).to.have.length(2);
    expect((result as readonly PatchFault[]).map(({ index, path }) => [index, path])).to.deep.equal([
      [0, '/x'],
      [2, 'z'],
    ]);
  });

  it('has 1 to 200 operations and a value of at most 32 levels', () => {
    const add = (value: unknown): unknown => ({ op: 'ADD', path: 'x', value });
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(made(...Array.from({ length: 200 }, (_, index) => add(index)))).to.deep.equal({ x: 199 });
    expect(() => made(...Array.from({ length: 201 }, () => add(1)))).to.throw(SyntaxError, '1 to 200');
    expect(() => made()).to.throw(SyntaxError, '1 to 200');
    expect(made(add(nested(32)))).to.deep.equal({ x: nested(32) });
    expect(made(add(nested(33)))).to.have.nested.property('[0].member', 'value');
  });

  it('is a JSON list, and nothing around it', () => {
    for (const body of ['', '{', '{}', 'null', '[]},"x":[', '[],"x":[]', '[{"op":"ADD","op":"MOVE","path":"x"}]']) {
      expect(() => readJsonPatch(body), body).to.throw(SyntaxError);
    }
    for (const levels of [2_000, 100_000]) {
      const body = `[{"op":"ADD","path":"x","value":${'['.repeat(levels)}${']'.repeat(levels)}}]`;
      let refused: unknown;
      try {
        refused = readJsonPatch(body);
      } catch (error) {
        refused = error;
      }
      expect(refused instanceof SyntaxError || Array.isArray(refused), `${levels} levels`).to.equal(true);
    }
  });

  it('leaves the document that it is given unchanged, whether it is done or not', () => {
    const name = fc.constantFrom('name', 'settings', 'days', 'inner', '0', '1', '-', 'new');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom('ADD', 'replace'), path, value: fc.jsonValue({ maxDepth: 2 }) }),
      fc.record({ op: fc.constant('REMOVE'), path }),
      fc.record({ op: fc.constant('MOVE'), path, from: path }),
    );
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 5 }), (operations) => {
        const read = readJsonPatch(JSON.stringify(operations));
        if (hasFaults(read)) return;
        const before = readExactObject(document);
        const result = applyJsonPatch(before, read);
        expect(writeExact(before)).to.equal(document);
        if ('fault' in result) expect(result.fault.index).to.be.within(0, operations.length - 1);
        else expect(writeExact(readExactObject(writeExact(result.document)))).to.equal(writeExact(result.document));
      }),
      { numRuns: 1_000 },
    );
  });
});
