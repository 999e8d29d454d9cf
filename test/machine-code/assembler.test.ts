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

  /** The instructions of a routine, as hexadecimal digits. */
  const bodyOf = (code: string, vectors: readonly string[] = []): string => {
    const bytes = Buffer.from(assemble([{ ...sum, returns: false, vectors, code }], 1)).toString('hex');
    return bytes.slice(bytes.lastIndexOf('0a') + 8);
  };

  it('names blocks', () => {
    const named = 'block $a loop $b if $b br $b else br_if $a end br $a end block br 2 br $a end end';
    const numbered = 'block loop if br 0 else br_if 2 end br 1 end block br 2 br 1 end end';
    expect(bodyOf(named)).to.equal(bodyOf(numbered));
  });

  it('declares vectors after the other variables, and writes constant ones', () => {
    const vector = '00112233445566778899aabbccddeeff';
    expect(bodyOf(`v128.const ${vector} local.set v`, ['v'])).to.equal(`01017bfd0c${vector}21020b`);
  });

  const refused: [code: string, message: string][] = [
    ['i32.div', 'No instruction: i32.div'],
    ['local.get c', 'No variable: c'],
    ['i32.const x', 'No number: x'],
    ['v128.load', 'No offset: '],
    ['block $a end br $a', 'No jump: $a'],
    ['v128.const 00', 'No vector: 00'],
  ];
  for (const [code, message] of refused) {
    it(`refuses ${code}`, () => {
      expect(() => assemble([{ ...sum, code }], 1)).to.throw(message);
    });
  }
});
