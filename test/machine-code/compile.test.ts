import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compile } from '../../src/machine-code/compile.ts';

const sum = { name: 'sum', parameters: ['a', 'b'], returns: true, code: 'local.get a local.get b i32.add' };

interface Sum {
  sum(a: number, b: number): number;
}

describe('compiled routines', () => {
  it('run, beside memory of at least the size that was asked for', () => {
    const compiled = compile<Sum>([sum], 64 * 1024 + 1);
    expect(compiled?.sum(2, 3)).to.equal(5);
    expect(compiled?.memory.length).to.equal(128 * 1024);
  });

  it('are left out where the engine refuses them', () => {
    const unbalanced = { ...sum, code: 'i32.add' };
    expect(compile<Sum>([unbalanced], 1)).to.equal(undefined);
  });

  it('are left out where the engine cannot compile', () => {
    const described = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly');
    Object.defineProperty(globalThis, 'WebAssembly', { value: undefined, configurable: true });
    try {
      expect(compile<Sum>([sum], 1)).to.equal(undefined);
    } finally {
      Object.defineProperty(globalThis, 'WebAssembly', described ?? {});
    }
  });
});
