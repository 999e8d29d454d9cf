import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { ChunkBuilder, type Chunk } from '../../../src/broker/streaming/chunk-builder.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

describe('the bytes of one write', () => {
  it('writes large runs of events without a copy, and copies small ones together', () => {
    const chunk = new ChunkBuilder();
    const large = Buffer.alloc(128 * 1024, 'l');
    const small = Buffer.from('small');
    chunk.addText('a');
    chunk.addBytes(small, 0, small.length);
    chunk.addBytes(large, 1, large.length);
    chunk.addText('b');
    chunk.addBytes(small, 1, 3);
    const size = chunk.size;
    const built = chunk.build();
    expect(built.toString()).to.equal(`asmall${large.toString().slice(1)}bma`);
    expect(built.length).to.equal(size);
    expect(built.pieces.map(({ length }) => length)).to.deep.equal([6, large.length - 1, 3]);
    expect(built.pieces[1]?.buffer).to.equal(large.buffer);
  });

  it('has no empty piece behind a large run of events', () => {
    const chunk = new ChunkBuilder();
    const large = Buffer.alloc(64 * 1024, 'l');
    chunk.addBytes(large, 0, large.length);
    expect(chunk.build().pieces.map(({ length }) => length)).to.deep.equal([large.length]);
  });

  it('is copied into several pieces when one would exceed the reusable memory', () => {
    const chunk = new ChunkBuilder();
    const part = Buffer.alloc(60 * 1024, 'p');
    for (let count = 0; count < 20; count += 1) chunk.addBytes(part, 0, part.length);
    const built = chunk.build();
    expect(built.pieces.map(({ length }) => length)).to.deep.equal([8, 8, 4].map((count) => count * part.length));
    expect(built.toString()).to.equal('p'.repeat(20 * part.length));
  });

  it('joins values that are not adjacent with commas, whatever their sizes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('', '{}', '"é"', 'x'.repeat(9_000), 'y'.repeat(70_000)), { minLength: 1 }),
        (values) => {
          const framed = values.map((value) => Buffer.from(`##${value}##`));
          let start = 0;
          const places = framed.map(({ length }) => {
            start += length;
            return [start - length + 2, start - 2] as const;
          });
          const batch = {
            contiguous: false,
            bytes: Buffer.concat(framed),
            valueStarts: Uint32Array.from(places, ([from]) => from),
            valueEnds: Uint32Array.from(places, ([, to]) => to),
          };
          const chunk = new ChunkBuilder();
          chunk.addText('[');
          chunk.addRun({ batch, from: 0, to: values.length, isLast: false });
          chunk.addText(']');
          const size = chunk.size;
          const built = chunk.build();
          expect(built.toString()).to.equal(`[${values.join(',')}]`);
          expect(built.length).to.equal(size);
        },
      ),
    );
  });

  it('is built in memory that is reused after its release, and not before', () => {
    const build = (letter: string): Chunk => {
      const chunk = new ChunkBuilder();
      for (let part = 0; part < 8; part += 1) chunk.addText(letter.repeat(8 * 1024 - 1));
      return chunk.build();
    };
    const first = build('a');
    const second = build('b');
    expect(second.pieces[0]?.buffer).to.not.equal(first.pieces[0]?.buffer);
    expect(first.toString()).to.match(/^a+$/);
    const memory = first.pieces[0]?.buffer;
    first.release();
    first.release();
    const [third, fourth] = [build('c'), build('d')];
    expect(third.pieces[0]?.buffer).to.equal(memory);
    expect(fourth.pieces[0]?.buffer).to.not.equal(memory);
    expect(third.toString()).to.match(/^c+$/);
    expect(second.toString()).to.match(/^b+$/);
  });

  it('keeps at most sixteen pieces of memory for reuse', () => {
    const buildTwenty = (): Chunk[] =>
      Array.from({ length: 20 }, () => {
        const chunk = new ChunkBuilder();
        chunk.addText('a'.repeat(40 * 1024));
        return chunk.build();
      });
    const memoryOf = (chunk: Chunk): unknown => chunk.pieces[0]?.buffer;
    const first = buildTwenty();
    const known = new Set(first.map(memoryOf));
    for (const chunk of first) chunk.release();
    const second = buildTwenty();
    expect(second.filter((chunk) => known.has(memoryOf(chunk)))).to.have.length(16);
    for (const chunk of second) chunk.release();
  });

  it('makes one piece of runs that follow each other in memory with a comma between them', () => {
    const values = ['a', 'b', 'c'].map((letter) => letter.repeat(30 * 1024));
    const built = (between: readonly string[], otherMemory = false): void => {
      const bytes = Buffer.from(values.map((value, index) => value + (between[index] ?? '')).join(''));
      const batches = values.map((value, index) => {
        const start = bytes.indexOf(value);
        return {
          contiguous: true,
          bytes: otherMemory && index === 1 ? Buffer.from(bytes) : bytes,
          valueStarts: Uint32Array.of(start),
          valueEnds: Uint32Array.of(start + value.length),
        };
      });
      const chunk = new ChunkBuilder();
      for (const [index, batch] of batches.entries()) {
        const run = { batch, from: 0, to: 1, isLast: true };
        if (index === 0) chunk.addRun(run);
        else chunk.addNextRun(run);
      }
      const { size } = chunk;
      const result = chunk.build();
      expect(result.toString()).to.equal(values.join(','));
      expect(result.length).to.equal(size);
      // What is large enough is referenced, and the rest is copied.
      expect(result.pieces.some(({ buffer }) => buffer === bytes.buffer)).to.equal(
        between.every((text) => text === ',') && !otherMemory,
      );
    };
    built([',', ',']);
    built([';', ';']);
    built([',,', ',,']);
    built(['', '']);
    built([',', ','], true);
  });

  it('releases a batch with its last run, or when the line is released, and only once', () => {
    const released: string[] = [];
    const [first, second] = ['a', 'b'].map((letter) => {
      const chunk = new ChunkBuilder();
      const batch = { ...recordBatch(numberedEntries(0, 3), true), release: () => void released.push(letter) };
      chunk.addRun({ batch, from: 0, to: 2, isLast: false });
      chunk.addRun({ batch, from: 2, to: 4, isLast: true });
      return chunk.build();
    });
    expect(first?.toString()).to.equal('0,12,3');
    expect(released).to.deep.equal([]);
    second?.release();
    second?.release();
    expect(released).to.deep.equal(['b']);
    first?.release();
    expect(released).to.deep.equal(['b', 'a']);
  });
});
