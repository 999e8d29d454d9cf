import { assemble, type Routine } from './assembler.ts';

/**
 * Two loops over the bytes of batches that the engine compiles to machine code with 16 bytes a step: JavaScript has no
 * such instructions, and an ordinary copy of each value costs more for the call than for the bytes.
 */

/**
 * The checksum's polynomial divides x^209 + x^144 + x^54 + x^39 + x^14 + 1, and so it divides the same with every
 * exponent times 32, since squaring a polynomial of bits doubles its exponents. A part of a message may therefore be
 * removed if it is added (by exclusive or) to what follows 4 bytes later for each by which an exponent is below 209.
 * The least of these distances is 260 bytes, so 16 bytes are removed at a time.
 */
const degree = 209;
const exponents = [144, 54, 39, 14, 0] as const;
const bytesPerExponent = 4;

/** How many bytes after the removed ones are changed. */
export const foldedBytes = degree * bytesPerExponent;

/**
 * `fold` writes each 16 bytes from `at` to `end` with the removed bytes added to them that are at the distances before
 * `removed`. It is called with `to` equal to `removed`, for bytes that are removed themselves, and then with the bytes
 * that stay, where `removed` has zeros from there on.
 */
const fold: Routine = {
  name: 'fold',
  parameters: ['at', 'end', 'removed', 'to'],
  returns: false,
  code: `
    local.get removed i32.const ${foldedBytes} i32.sub local.set removed
    loop
      local.get to
      local.get at v128.load 0
      ${exponents.map((exponent) => `local.get removed v128.load ${exponent * bytesPerExponent} v128.xor`).join('\n')}
      v128.store 0
      local.get to i32.const 16 i32.add local.set to
      local.get removed i32.const 16 i32.add local.set removed
      local.get at i32.const 16 i32.add local.tee at
      local.get end i32.lt_u br_if 0
    end`,
};

/**
 * `join` copies values to `to`, each with a comma after it, and returns the position after the last comma. The lists at
 * `starts`, which is not empty and ends at `startsEnd`, and at `ends` say where the values are in the bytes at `from`.
 * `starts` is overwritten with where they are then in the bytes at `base`, and where they end is written to `newEnds`,
 * which may be the same list as `ends`. Up to 15 bytes more are read after a value, and written after the last one.
 */
const join: Routine = {
  name: 'join',
  parameters: ['starts', 'startsEnd', 'ends', 'newEnds', 'from', 'to', 'base'],
  variables: ['at', 'end'],
  returns: true,
  code: `
    loop
      local.get from local.get starts i32.load 0 i32.add local.set at
      local.get from local.get ends i32.load 0 i32.add local.set end
      local.get starts local.get to local.get base i32.sub i32.store 0
      block
        local.get at local.get end i32.ge_u br_if 0
        loop
          local.get to local.get at v128.load 0 v128.store 0
          local.get to i32.const 16 i32.add local.set to
          local.get at i32.const 16 i32.add local.tee at
          local.get end i32.lt_u br_if 0
        end
      end
      local.get to local.get at local.get end i32.sub i32.sub local.set to
      local.get newEnds local.get to local.get base i32.sub i32.store 0
      local.get to i32.const 44 i32.store8 0
      local.get to i32.const 1 i32.add local.set to
      local.get ends i32.const 4 i32.add local.set ends
      local.get newEnds i32.const 4 i32.add local.set newEnds
      local.get starts i32.const 4 i32.add local.tee starts
      local.get startsEnd i32.lt_u br_if 0
    end
    local.get to`,
};

export interface Routines {
  readonly memory: Uint8Array;
  fold(at: number, end: number, removed: number, to: number): void;
  join(
    starts: number,
    startsEnd: number,
    ends: number,
    newEnds: number,
    from: number,
    to: number,
    base: number,
  ): number;
}

/** What is used of the engine's interface, which the types of Node.js leave out. */
interface Engine {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => {
    readonly exports: Omit<Routines, 'memory'> & { readonly memory: { readonly buffer: ArrayBuffer } };
  };
}

const pageBytes = 64 * 1024;

/**
 * The routines with memory of their own, zeros at first; undefined where the processor lacks instructions for 16 bytes
 * or the engine may not compile.
 */
export function compileRoutines(memoryBytes: number): Routines | undefined {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Engine | undefined };
  if (WebAssembly === undefined) return undefined;
  try {
    const module = new WebAssembly.Module(assemble([fold, join], Math.ceil(memoryBytes / pageBytes)));
    const { memory, ...routines } = new WebAssembly.Instance(module).exports;
    return { ...routines, memory: new Uint8Array(memory.buffer) };
  } catch {
    return undefined;
  }
}
