import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LineAfter } from '../../../src/lending/codec/line-after.ts';

describe('a line after another', () => {
  it('is what was written and copied, in that order', () => {
    const line = new LineAfter(Buffer.from('one Öl, two'));
    line.write('"ü"');
    line.write(':');
    line.copy(4, 7);
    line.copy(0, 3);
    line.write('!');
    expect(line.toBuffer().toString()).to.equal('"ü":Ölone!');
  });

  it('is empty when nothing was', () => {
    const line = new LineAfter(Buffer.from('before'));
    line.write('');
    line.copy(2, 2);
    expect(line.toBuffer().length).to.equal(0);
  });

  it('shares no memory with the line before', () => {
    const before = Buffer.from('before');
    const line = new LineAfter(before);
    line.copy(0, before.length);
    const after = line.toBuffer();
    before.fill('x');
    expect(after.toString()).to.equal('before');
  });
});
