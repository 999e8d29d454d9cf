import { crc32 } from 'node:zlib';
import { compile } from '../../machine-code/compile.ts';
import { copyBytes } from '../../ports/shared-buffer.ts';
import { foldLoaded, foldRoomOf, foldRoutine, stepBytes, type Fold } from '../../machine-code/folding.ts';

/**
 * The polynomial of CRC-32 divides x^300 + x^155 + x^117 + x^89 + 1, see `folding.ts`. No other with so few terms has a
 * lower degree.
 */
const sparsePolynomial = { degree: 300, exponents: [155, 117, 89, 0] };

/** The fewest bytes for which folding is faster than the library, with the copy into its memory. */
export const foldedAtOnceMinimum = 4 * 1024;

/** The most bytes that are folded at once: their memory fits into the nearer caches of a processor. */
export const foldedAtOnceMaximum = 64 * 1024;

const foldRoom = foldRoomOf(sparsePolynomial);
const removedAt = foldRoom;
const loadedAt = removedAt + foldedAtOnceMaximum + foldRoom;
const resultAt = loadedAt + foldedAtOnceMaximum + stepBytes;
const places = { loadedAt, removedAt, resultAt };
const memoryBytes = resultAt + foldRoom + stepBytes;

/** What the library takes for the checksum before bytes that are the continuation of nothing. */
const beforeNothing = 0xffff_ffff;

/** The compiled loop and the memory of this thread, where nothing waits while it is in use. */
let ofThread: ReturnType<typeof foldOfThread> | 'not yet' = 'not yet';

function foldOfThread(): (Fold & { readonly memory: Buffer }) | undefined {
  const compiled = compile<Fold>([foldRoutine(sparsePolynomial)], memoryBytes);
  return compiled === undefined ? undefined : { fold: compiled.fold, memory: Buffer.from(compiled.memory.buffer) };
}

/**
 * CRC-32 of a body, as stored beside it. The library computes it with tables, 0.21 us per KiB. A long body is first
 * folded to its last 1,200 bytes by compiled code, which takes 0.09 us per KiB in all.
 */
export function checksumOf(body: Buffer): number {
  let checksum = 0;
  let at = 0;
  while (body.length - at >= foldedAtOnceMinimum) {
    if (ofThread === 'not yet') ofThread = foldOfThread();
    if (ofThread === undefined) break;
    const length = Math.min(body.length - at, foldedAtOnceMaximum);
    copyBytes(body, ofThread.memory, loadedAt, at, at + length);
    const { memory, start, end } = foldLoaded(ofThread, sparsePolynomial, places, length, ~checksum);
    checksum = crc32(memory.subarray(start, end), beforeNothing);
    at += length;
  }
  return at === body.length ? checksum : crc32(body.subarray(at), checksum);
}
