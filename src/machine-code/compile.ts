/**
 * Loops over bytes that the engine compiles, for checksums and requests: JavaScript has no instructions for 16 bytes.
 * In: routines as the text of their instructions. Out: functions with memory of their own.
 * Start with `compile` below; `assembler.ts` makes the module from the text, and `folding.ts` is the loop of checksums.
 */

import { assemble, type Routine } from './assembler.ts';

/** What is used of the engine's interface, which the types of Node.js leave out. */
interface Engine<Functions> {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => {
    readonly exports: Functions & { readonly memory: { readonly buffer: ArrayBuffer } };
  };
}

const pageBytes = 64 * 1024;

/**
 * The routines by their names, with memory of their own, zeros at first; undefined where the processor lacks
 * instructions for 16 bytes or the engine may not compile.
 */
export function compile<Functions extends object>(
  routines: readonly Routine[],
  memoryBytes: number,
): (Functions & { readonly memory: Uint8Array }) | undefined {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Engine<Functions> | undefined };
  if (WebAssembly === undefined) return undefined;
  try {
    const module = new WebAssembly.Module(assemble(routines, Math.ceil(memoryBytes / pageBytes)));
    const { exports } = new WebAssembly.Instance(module);
    return { ...exports, memory: new Uint8Array(exports.memory.buffer) };
  } catch {
    return undefined;
  }
}
