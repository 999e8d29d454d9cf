import type { Routine } from './assembler.ts';

/**
 * Reduces bytes to fewer that have the same checksum. If the polynomial of a checksum divides one that has few terms,
 * it divides the same with every exponent times 32, since squaring a polynomial of bits doubles its exponents. A part
 * of a message may therefore be removed if it is added (by exclusive or) to what follows 4 bytes later for each by
 * which an exponent is below the degree. The engine compiles the loop with 16 bytes a step, for which JavaScript has no
 * instructions.
 */

const [bytesPerExponent, remainderBytes] = [4, 4];

/** How many bytes are removed at a time. */
export const stepBytes = 16;

/** A polynomial of few terms: of the degree, and of the exponents, which are at least four below it. */
export interface SparsePolynomial {
  readonly degree: number;
  readonly exponents: readonly number[];
}

/** The loop over the bytes of a message, which {@link foldLoaded} calls. */
export interface Fold {
  readonly fold: (at: number, end: number, removed: number, to: number) => void;
}

/** How many bytes after the removed ones are changed. */
export function foldedBytesOf({ degree }: SparsePolynomial): number {
  return degree * bytesPerExponent;
}

/**
 * `fold` writes each 16 bytes from `at` to `end` with the removed bytes added to them that are at the distances before
 * `removed`. It is called with `to` equal to `removed`, for bytes that are removed themselves, and then with the bytes
 * that stay, where `removed` has zeros from there on.
 */
export function foldRoutine(polynomial: SparsePolynomial): Routine {
  const added = polynomial.exponents.map(
    (exponent) => `local.get removed v128.load ${exponent * bytesPerExponent} v128.xor`,
  );
  return {
    name: 'fold',
    parameters: ['at', 'end', 'removed', 'to'],
    returns: false,
    code: `
      local.get removed i32.const ${foldedBytesOf(polynomial)} i32.sub local.set removed
      loop
        local.get to
        local.get at v128.load 0
        ${added.join('\n')}
        v128.store 0
        local.get to i32.const ${stepBytes} i32.add local.set to
        local.get removed i32.const ${stepBytes} i32.add local.set removed
        local.get at i32.const ${stepBytes} i32.add local.tee at
        local.get end i32.lt_u br_if 0
      end`,
  };
}

/** Where the bytes of a fold are in the memory of its routine. Reads and writes may pass an end by a step. */
export interface FoldPlaces {
  readonly loadedAt: number;
  /** Room for as many bytes as are loaded and {@link foldRoomOf}. As much before it as that is always zero. */
  readonly removedAt: number;
  /** Room for {@link foldRoomOf} and a step. */
  readonly resultAt: number;
}

/** Bytes that have the same checksum as others if they are taken as the continuation of nothing. */
export interface FoldedBytes {
  readonly memory: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** How many bytes may stay when a message is folded, as whole steps. */
export function foldRoomOf(polynomial: SparsePolynomial): number {
  return (Math.ceil(foldedBytesOf(polynomial) / stepBytes) + 1) * stepBytes;
}

/**
 * Reduces loaded bytes to fewer, on which their checksum depends. They stay as they are.
 * @param length At least that of {@link foldRoomOf}, so that there are bytes to remove.
 * @param remainder Of the checksum of the bytes before them: -1 if there are none.
 */
export function foldLoaded(
  { fold, memory }: Fold & { readonly memory: Uint8Array },
  polynomial: SparsePolynomial,
  { loadedAt, removedAt, resultAt }: FoldPlaces,
  length: number,
  remainder: number,
): FoldedBytes {
  addRemainder(memory, loadedAt, remainder);
  const removed = Math.floor((length - foldedBytesOf(polynomial)) / stepBytes) * stepBytes;
  const [removedEnd, end] = [removedAt + removed, loadedAt + length];
  fold(loadedAt, loadedAt + removed, removedAt, removedAt);
  memory.fill(0, removedEnd, removedEnd + foldRoomOf(polynomial));
  fold(loadedAt + removed, end, removedEnd, resultAt);
  addRemainder(memory, loadedAt, remainder);
  return { memory, start: resultAt, end: resultAt + length - removed };
}

function addRemainder(memory: Uint8Array, at: number, remainder: number): void {
  for (let byte = 0; byte < remainderBytes; byte += 1) {
    memory[at + byte] = (memory[at + byte] as number) ^ ((remainder >>> (8 * byte)) & 0xff);
  }
}
