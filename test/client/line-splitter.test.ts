import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { LineSplitter } from '../../src/client/line-splitter.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

/** All lines of a stream that arrives in these pieces. */
function linesOf(pieces: readonly Uint8Array[], splitter = new LineSplitter()): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    splitter.add(piece);
    for (let line = splitter.take(); line !== undefined; line = splitter.take()) lines.push(line);
  }
  return lines;
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ordered = [0, ...places.toSorted((a, b) => a - b), bytes.length];
  return ordered.slice(1).map((end, index) => bytes.subarray(ordered[index], end));
}

describe('the lines of a stream', () => {
  const text = '{"name":"Zoë"}\n\n{"price":"€ 7,–"}\r\n{"smile":"😀😀"}\n';
  const bytes = new TextEncoder().encode(text);
  const lines = text.split('\n').slice(0, -1);

  it('are the same for every cut in two, also within a character', () => {
    for (let place = 0; place <= bytes.length; place += 1) {
      expect(linesOf(cut(bytes, [place])), `cut at byte ${place}`).to.deep.equal(lines);
    }
  });

  it('are the same byte by byte', () => {
    expect(linesOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).to.deep.equal(lines);
  });

  it('are the same for all cuts of all texts', () => {
    const lineOf = fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' '));
    const property = fc.property(fc.array(lineOf), fc.array(fc.nat(), { maxLength: 8 }), (expected, places) => {
      const encoded = new TextEncoder().encode(expected.map((line) => `${line}\n`).join(''));
      const cuts = places.map((place) => (encoded.length === 0 ? 0 : place % encoded.length));
      expect(linesOf(cut(encoded, cuts))).to.deep.equal(expected);
    });
    fc.assert(property, propertyRuns(500));
  });

  it('leave what has no end yet, and count its bytes', () => {
    const splitter = new LineSplitter();
    expect(linesOf([bytes.subarray(0, 5)], splitter)).to.deep.equal([]);
    expect(splitter.bytes).to.equal(5);
    splitter.add(bytes.subarray(5));
    expect(splitter.take()).to.equal('{"name":"Zoë"}');
    expect(splitter.bytes).to.equal(bytes.length - '{"name":"Zoe"}\n'.length - 1);
  });

  it('have at most as many bytes as allowed, and not one more', () => {
    const ofBytes = (count: number): Uint8Array[] => cut(new TextEncoder().encode(`${'a'.repeat(count)}\n`), [3, 4]);
    expect(linesOf(ofBytes(8), new LineSplitter(8))).to.deep.equal(['aaaaaaaa']);
    expect(() => linesOf(ofBytes(9), new LineSplitter(8))).to.throw(RangeError, 'more than 8 bytes');
    // Without an end, memory would grow for as long as bytes arrive.
    expect(() => linesOf([new Uint8Array(9)], new LineSplitter(8))).to.throw(RangeError);
  });

  it('are refused when they are not UTF-8', () => {
    expect(() => linesOf([Uint8Array.of(0x22, 0xff, 0x22, 0x0a)])).to.throw(TypeError);
    expect(() => linesOf([Uint8Array.of(0xe2, 0x82), Uint8Array.of(0x0a)])).to.throw(TypeError);
  });
});
