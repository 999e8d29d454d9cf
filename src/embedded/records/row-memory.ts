import type { TopicPartition } from '../../ports/event-log.ts';
import type { PackedRecords } from '../../ports/packed-records.ts';
import { SharedBuffer } from '../../ports/shared-buffer.ts';
import { decodeBody, decodeSharedBody, encodeInto, sharedBodyBytes } from './batch-format.ts';
import type { BatchPosition, StoredBatch } from './decoded-batch.ts';
import { MemoryPool } from './memory-pool.ts';

/** The size of a piece of memory, which takes the rows of many commits. Bytes. */
const pieceBytes = 2 * 1024 * 1024;

/** Smaller rows have memory of their own: they are no burden, and one of them would hold a piece for long. Bytes. */
const sharedRowBytesMinimum = 8 * 1024;

/** What may exist beside the rows that the cache keeps: for readers that are slow, and for those that never release. */
const bytesBesideCache = 32 * 1024 * 1024;

/** A row that was encoded and is not stored yet: its memory, or where it begins in a piece that other rows share. */
export type EncodedRow =
  | { readonly own: ArrayBuffer }
  | {
      readonly own: undefined;
      readonly piece: SharedBuffer<SharedArrayBuffer>;
      readonly start: number;
      readonly bytes: number;
    };

/**
 * Memory for the rows that appends write. The thread that stores them sees it, so that rows neither go there and back
 * nor become new memory on the way: for every 64 MiB of that, the engine walks the whole heap. It is used again once
 * the cache and every reader have released its rows.
 */
export class RowMemory {
  readonly #memory: MemoryPool;
  #piece: SharedBuffer<SharedArrayBuffer> | undefined;
  /** Where the free part of the piece begins. */
  #free = 0;
  /** Pieces that are full, with rows of a commit that may be under way. */
  readonly #full: SharedBuffer<SharedArrayBuffer>[] = [];

  /** @param cacheBytesMaximum How many bytes of rows the cache keeps. */
  constructor(cacheBytesMaximum: number) {
    this.#memory = new MemoryPool(pieceBytes, cacheBytesMaximum + bytesBesideCache);
  }

  /** Encodes the records of several runs into one row. */
  encode(position: BatchPosition, runs: readonly PackedRecords[]): EncodedRow {
    let start: number | undefined;
    const body = encodeInto(
      (bytes, count) => {
        start = bytes < sharedRowBytesMinimum ? undefined : this.#take(sharedBodyBytes(bytes, count));
        if (start === undefined || this.#piece === undefined) return Buffer.allocUnsafeSlow(bytes);
        return this.#piece.bytes.subarray(start, start + bytes);
      },
      position,
      runs,
    );
    if (start === undefined || this.#piece === undefined) return { own: body.buffer as ArrayBuffer };
    return { own: undefined, piece: this.#piece, start, bytes: body.length };
  }

  /** Must be called when no commit is under way: what was encoded for it is stored and decoded, or has failed. */
  releaseFull(): void {
    for (const piece of this.#full.splice(0)) piece.release();
  }

  /** The start of so many bytes of the piece, or of another one; undefined when no memory has room for them. */
  #take(bytes: number): number | undefined {
    if (bytes > pieceBytes) return undefined;
    if (this.#piece === undefined || this.#free + bytes > pieceBytes) {
      const memory = this.#memory.acquire();
      if (memory === undefined) return undefined;
      if (this.#piece !== undefined) this.#full.push(this.#piece);
      this.#piece = new SharedBuffer(memory, this.#memory.recycle);
      this.#free = 0;
    }
    const start = this.#free;
    this.#free += bytes;
    return start;
  }
}

/** Decodes a row that is stored. @param own Its memory, if it has its own: it was elsewhere meanwhile. */
export function decodeStoredRow(where: TopicPartition, row: EncodedRow, own: ArrayBuffer | undefined): StoredBatch {
  if (row.own === undefined) return decodeSharedBody(where, row.piece, row.start);
  if (own === undefined) throw new Error('A row did not come back');
  return decodeBody(where, Buffer.from(own));
}
