import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { FrameAssembler } from '../../../src/kafka/protocol/response-frames.ts';

function framed(bodies: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    bodies.flatMap((body) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length);
      return [length, body];
    }),
  );
}

describe('the frames of a connection', () => {
  it('are complete and in order, however their bytes were split, and hold none of the received memory', () => {
    const body = fc.uint8Array({ minLength: 1, maxLength: 3_000 });
    fc.assert(
      fc.property(
        fc.array(body, { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5_000 })),
        (bodies, cuts) => {
          const frames: Buffer[] = [];
          const assembler = new FrameAssembler((frame) => frames.push(frame));
          const bytes = framed(bodies);
          const reused = Buffer.alloc(5_000);
          for (let position = 0; position < bytes.length;) {
            const size = Math.min(cuts.next().value as number, bytes.length - position);
            bytes.copy(reused, 0, position, position + size);
            assembler.append(reused.subarray(0, size));
            reused.fill(0xee);
            position += size;
          }
          expect(frames.map((frame) => frame.toString('hex'))).to.deep.equal(
            bodies.map((each) => Buffer.from(each).toString('hex')),
          );
        },
      ),
    );
  });

  it('are complete when the rest of a large one is read into its place', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lengths, fc.infiniteStream(fc.integer({ min: 1, max: 40_000 })), (sizes, cuts) => {
        const bodies = sizes.map((size, index) => new Uint8Array(size).fill(index + 1));
        const frames: Buffer[] = [];
        const assembler = new FrameAssembler((frame) => frames.push(frame));
        const bytes = framed(bodies);
        const reused = Buffer.alloc(40_000);
        for (let position = 0; position < bytes.length;) {
          const { rest } = assembler;
          const size = Math.min(cuts.next().value as number, bytes.length - position, rest?.length ?? Infinity);
          bytes.copy(rest ?? reused, 0, position, position + size);
          if (rest === undefined) assembler.append(reused.subarray(0, size));
          else assembler.receivedInPlace(size);
          position += size;
        }
        expect(frames.map(({ length }) => length)).to.deep.equal(sizes);
        expect(frames.every((frame, index) => frame.equals(bodies[index] as Uint8Array))).to.equal(true);
      }),
    );
  });

  it('have a place for the rest when it is large, and none when it is small', () => {
    const assembler = new FrameAssembler(() => {});
    expect(assembler.rest).to.equal(undefined);
    assembler.append(framed([new Uint8Array(20_000)]).subarray(0, 4 + 20_000 - 16 * 1024));
    expect(assembler.rest).to.have.length(16 * 1024);
    assembler.receivedInPlace(1);
    expect(assembler.rest).to.equal(undefined);
  });

  it('may have one byte', () => {
    const frames: Buffer[] = [];
    new FrameAssembler((frame) => frames.push(frame)).append(framed([Uint8Array.of(7), Uint8Array.of(8)]));
    expect(frames).to.deep.equal([Buffer.of(7), Buffer.of(8)]);
  });

  for (const length of [0, -1, 256 * 1024 * 1024 + 1, 2_000_000_000]) {
    it(`are refused with a length of ${length}`, () => {
      const assembler = new FrameAssembler(() => {});
      const bytes = Buffer.alloc(8);
      bytes.writeInt32BE(length);
      expect(() => assembler.append(bytes)).to.throw(RangeError);
    });
  }
});
