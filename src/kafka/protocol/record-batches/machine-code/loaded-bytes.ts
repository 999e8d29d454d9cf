import { type FoldedBytes, foldLoaded, foldRoomOf, stepBytes } from '../../../../machine-code/folding.ts';
import { compileRoutines, sparsePolynomial, type Routines } from './routines.ts';

/**
 * The memory of the compiled routines: bytes are copied into it, worked on and copied back. There is one for each
 * thread, because nothing waits while it is in use.
 */

/** The fewest bytes for which the routines are faster than a loop of JavaScript. */
export const loadedBytesMinimum = 2 * 1024;

/** The most bytes that are loaded at once. */
export const loadedBytesMaximum = 1024 * 1024;

/** The most values that are joined at once. */
export const joinedValuesMaximum = 16 * 1024;

const listEntryBytes = 4;
const foldRoom = foldRoomOf(sparsePolynomial);

/** Where everything is. What is before the removed bytes stays zero; reads and writes may pass an end by a step. */
const removedAt = foldRoom;
const loadedAt = removedAt + loadedBytesMaximum + foldRoom;
const resultAt = loadedAt + loadedBytesMaximum + stepBytes;
const places = { loadedAt, removedAt, resultAt };
const listsAt = resultAt + loadedBytesMaximum + foldRoom + stepBytes;
const unusedEndsAt = listsAt + 3 * joinedValuesMaximum * listEntryBytes;
const memoryBytes = unusedEndsAt + joinedValuesMaximum * listEntryBytes;

/** Where records are in the bytes that were loaded, as `record-positions.ts` has it: lists of one length. */
export interface RecordsToJoin {
  readonly valueStarts: Uint32Array;
  readonly valueEnds: Uint32Array;
  /** Each key is between this and the start of its value. */
  readonly keyLengthsAt: Uint32Array;
}

/** Where joined keys and values go. */
export interface JoinedPlaces {
  readonly keys: Buffer;
  readonly keysAt: number;
  readonly values: Buffer;
  readonly valuesAt: number;
}

export class LoadedBytes {
  readonly #memory: Uint8Array;
  readonly #lists: Uint32Array;
  readonly #routines: Routines;
  #length = 0;

  private constructor(routines: Routines) {
    this.#routines = routines;
    this.#memory = routines.memory;
    this.#lists = new Uint32Array(routines.memory.buffer, listsAt, 3 * joinedValuesMaximum);
  }

  /** The one of this thread; undefined where there are no routines. Compiled by the first call. */
  static ofThread(): LoadedBytes | undefined {
    if (ofThread === undefined) {
      const routines = compileRoutines(memoryBytes);
      ofThread = routines === undefined ? 'none' : new LoadedBytes(routines);
    }
    return ofThread === 'none' ? undefined : ofThread;
  }

  /** @param bytes At least {@link loadedBytesMinimum} and at most {@link loadedBytesMaximum} from `start` to `end`. */
  load(bytes: Uint8Array, start: number, end: number): void {
    this.#memory.set(bytes.subarray(start, end), loadedAt);
    this.#length = end - start;
  }

  /**
   * Reduces the loaded bytes to fewer, on which their checksum depends. They stay as they are.
   * @param remainder Of the bytes before them: -1 if there are none.
   */
  fold(remainder: number): FoldedBytes {
    return foldLoaded(this.#routines, sparsePolynomial, places, this.#length, remainder);
  }

  /**
   * Joins the values by commas, and the keys with their lengths, and puts them where `placesFor` says. The positions of
   * the values are updated to those in `values`, and the positions of the keys to those in `keys`.
   * @param start Where the positions count from in the loaded bytes; may be negative.
   * @param records At least one and at most {@link joinedValuesMaximum}, none of whose values is missing.
   * @param placesFor Called with the length of the keys. Together with the values and their commas, they are shorter
   *   than the records were.
   */
  join(
    start: number,
    { valueStarts, valueEnds, keyLengthsAt }: RecordsToJoin,
    placesFor: (keysLength: number) => JoinedPlaces,
  ): JoinedPlaces {
    const lists = this.#lists;
    const count = valueStarts.length;
    lists.set(valueStarts, 0);
    lists.set(valueEnds, count);
    lists.set(keyLengthsAt, 2 * count);
    const endsAt = listsAt + listEntryBytes * count;
    const keysAt = endsAt + listEntryBytes * count;
    const keysEnd = keysAt + listEntryBytes * count;
    const routines = this.#routines;
    const from = loadedAt + start;
    // A key is between its length and the start of its value.
    const joinedAt = routines.join(keysAt, keysEnd, listsAt, unusedEndsAt, from, resultAt, resultAt);
    const end = routines.join(listsAt, endsAt, endsAt, endsAt, from, joinedAt, joinedAt);
    const to = placesFor(joinedAt - resultAt);
    for (let index = 0; index < count; index += 1) {
      valueStarts[index] = (lists[index] as number) + to.valuesAt;
      valueEnds[index] = (lists[count + index] as number) + to.valuesAt;
      keyLengthsAt[index] = (lists[2 * count + index] as number) + to.keysAt;
    }
    to.keys.set(this.#memory.subarray(resultAt, joinedAt), to.keysAt);
    to.values.set(this.#memory.subarray(joinedAt, end), to.valuesAt);
    return to;
  }
}

let ofThread: LoadedBytes | 'none' | undefined;
