import { expect } from 'chai';
import { describe, it } from 'mocha';
import { assemble } from '../../src/machine-code/assembler.ts';

const sum = { name: 'sum', parameters: ['a', 'b'], returns: true, code: 'local.get a local.get b i32.add' };

describe('the assembler', () => {
  it('writes the binary format', () => {
    const sections = [
      '0061736d01000000',
      '010701 60027f7f017f',
      '030201 00',
      '050401 00c801',
      '071002 0373756d0000 066d656d6f72790200',
      '0a0901 0700200020016a0b',
    ];
    expect(Buffer.from(assemble([sum], 200)).toString('hex')).to.equal(sections.join('').replaceAll(' ', ''));
  });

  const refused: [code: string, message: string][] = [
    ['i32.div', 'No instruction: i32.div'],
    ['local.get c', 'No variable: c'],
    ['i32.const x', 'No number: x'],
    ['v128.load', 'No offset: '],
  ];
  for (const [code, message] of refused) {
    it(`refuses ${code}`, () => {
      expect(() => assemble([{ ...sum, code }], 1)).to.throw(message);
    });
  }
});
