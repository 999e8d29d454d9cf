import { expect } from 'chai';
import { describe, it } from 'mocha';
import { discard } from '../../../src/embedded/thread/discarded-memory.ts';

const mebibyte = 1024 * 1024;

describe('memory that is discarded', () => {
  it('is freed at once, without a collection', () => {
    const memory = Array.from({ length: 64 }, () => new ArrayBuffer(mebibyte));
    const before = process.memoryUsage().arrayBuffers;
    discard(memory);
    expect(before - process.memoryUsage().arrayBuffers).to.be.at.least(64 * mebibyte);
    expect(memory.every(({ byteLength }) => byteLength === 0)).to.equal(true);
  });

  it('may be none', () => {
    discard([]);
  });
});
