/** The first piece is as large as the events of a few commands, each further one twice the one before. Bytes. */
const firstPieceBytes = 16 * 1024;
const pieceBytesMaximum = 256 * 1024;

/**
 * Texts as bytes in a few pieces of memory that they share. A text is written at once, since one that waits for its
 * commit is moved about by the collector until then, as are several hundred others.
 */
export class TextMemory {
  #piece: Buffer = Buffer.alloc(0);
  #end = 0;
  #nextPieceBytes = firstPieceBytes;

  /** @param bytes Of the text, in UTF-8. */
  write(text: string, bytes: number): Buffer {
    if (this.#end + bytes > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(Math.max(bytes, this.#nextPieceBytes));
      this.#end = 0;
      this.#nextPieceBytes = Math.min(2 * this.#nextPieceBytes, pieceBytesMaximum);
    }
    const start = this.#end;
    this.#end += this.#piece.write(text, start);
    return this.#piece.subarray(start, this.#end);
  }
}
