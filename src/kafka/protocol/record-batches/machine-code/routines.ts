import type { Routine } from '../../../../machine-code/assembler.ts';
import { compile } from '../../../../machine-code/compile.ts';
import { foldRoutine, type Fold, type SparsePolynomial } from '../../../../machine-code/folding.ts';

/**
 * Two loops over the bytes of batches that the engine compiles to machine code with 16 bytes a step: JavaScript has no
 * such instructions, and an ordinary copy of each value costs more for the call than for the bytes.
 */

/** The polynomial of CRC-32C divides x^209 + x^144 + x^54 + x^39 + x^14 + 1, see `folding.ts`. */
export const sparsePolynomial: SparsePolynomial = { degree: 209, exponents: [144, 54, 39, 14, 0] };

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

interface Join {
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

export type Routines = Fold & Join & { readonly memory: Uint8Array };

/** The routines with memory of their own, zeros at first; undefined where they cannot be compiled. */
export function compileRoutines(memoryBytes: number): Routines | undefined {
  return compile<Fold & Join>([foldRoutine(sparsePolynomial), join], memoryBytes);
}
