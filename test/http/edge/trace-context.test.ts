import { expect } from 'chai';
import type { Request } from 'express';
import { describe, it } from 'mocha';
import { traceparentCharactersMaximum, traceparentOf } from '../../../src/http/edge/trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';
const read = (traceparent?: string): string | undefined =>
  traceparentOf({ headers: traceparent === undefined ? {} : { traceparent } } as unknown as Request);

describe('traceparentOf', () => {
  it('is the header of version 00 as it was sent', () => {
    const sent = `00-${trace}-${span}-01`;
    expect(read(sent)).to.equal(sent);
    expect(read()).to.equal(undefined);
  });

  it('reads the known part of a later version, up to the limit of its length', () => {
    const known = `${trace}-${span}-00`;
    expect(read(`cc-${known}`)).to.equal(`00-${known}`);
    const long = `cc-${known}-`.padEnd(traceparentCharactersMaximum, 'x');
    expect(read(long)).to.equal(`00-${known}`);
    expect(read(`${long}x`)).to.equal(undefined);
  });

  it('ignores what the standard calls invalid', () => {
    for (const sent of [
      '',
      'x',
      `00-${trace}-${span}`,
      `00-${trace}-${span}-01-more`,
      `00-${trace}-${span}-01 `,
      `cc-${trace}-${span}-01more`,
      `ff-${trace}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${trace.slice(1)}-${span}-01`,
      `00-${trace}-${span}-0g`,
      // Sent twice, as Node joins it.
      `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
    ]) {
      expect(read(sent), sent).to.equal(undefined);
    }
  });
});
