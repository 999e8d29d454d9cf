import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LineBuilder } from '../../../src/lending/codec/line-builder.ts';

describe('a line written after an earlier one', () => {
  it('consists of what was written and copied, in that order', () => {
    const line = new LineBuilder(Buffer.from('one Öl, two'));
    line.write('"ü"');
    line.write(':');
    line.copy(4, 7);
    line.copy(0, 3);
    line.write('!');
    expect(line.toBuffer().toString()).to.equal('"ü":Ölone!');
  });

  it('is empty when nothing was written', () => {
    const line = new LineBuilder(Buffer.from('before'));
    line.write('');
    line.copy(2, 2);
    expect(line.toBuffer().length).to.equal(0);
  });

  it('shares no memory with the earlier line', () => {
    const before = Buffer.from('before');
    const line = new LineBuilder(before);
    line.copy(0, before.length);
    const after = line.toBuffer();
    before.fill('x');
    expect(after.toString()).to.equal('before');
  });
});
