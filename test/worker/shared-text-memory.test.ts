import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SharedTextMemory } from '../../src/worker/shared-text-memory.ts';

describe('the memory of texts', () => {
  it('returns each text as it was written, whatever is written after it', () => {
    const memory = new SharedTextMemory();
    const texts = Array.from(
      { length: 3_000 },
      (_, index) => `{"number":${index},"name":"Ünïcode ${'x'.repeat(index % 400)}"}`,
    );
    const written = texts.map((text) => memory.write(text));
    expect(written.map((bytes) => bytes.toString())).to.deep.equal(texts);
  });

  it('accepts a text larger than any of its blocks, and small ones after it', () => {
    const memory = new SharedTextMemory();
    const large = 'é'.repeat(1024 * 1024);
    expect(memory.write(large).toString()).to.equal(large);
    expect(memory.write('small').toString()).to.equal('small');
    expect(memory.write('').length).to.equal(0);
  });

  it('allocates a block of 16 KiB first, and then doubles the size up to 256 KiB', () => {
    const memory = new SharedTextMemory();
    const text = 'x'.repeat(1_000);
    const blocks = new Set(Array.from({ length: 1_200 }, () => memory.write(text).buffer));
    const sizes = [...blocks].map(({ byteLength }) => byteLength / 1_024);
    expect(sizes).to.deep.equal([16, 32, 64, 128, 256, 256, 256, 256]);
  });

  it('fills a block to its last byte', () => {
    const memory = new SharedTextMemory();
    const texts = [memory.write('x'.repeat(16 * 1024 - 1)), memory.write('y'), memory.write('z')];
    expect(texts.map(({ buffer }) => buffer.byteLength / 1024)).to.deep.equal([16, 16, 32]);
  });

  it('keeps neighbouring texts in one block', () => {
    const memory = new SharedTextMemory();
    const [one, other] = [memory.write('one'), memory.write('other')];
    expect(one.buffer).to.equal(other.buffer);
  });
});
