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
