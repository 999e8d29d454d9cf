/**
 * The first piece is as large as the events of a few commands. Each further one is twice as large as the one before.
 * Bytes.
 */
const firstPieceBytes = 16 * 1024;
const pieceBytesMaximum = 256 * 1024;

/**
 * Stores texts as bytes in a few shared pieces of memory. A text is written at once. As a string it would wait for its
 * commit together with several hundred others, and the collector would move them all about.
 */
export class TextMemory {
  #piece: Buffer = Buffer.alloc(0);
  #end = 0;
  #nextPieceBytes = firstPieceBytes;

  /**
   * Writes the text and returns its bytes.
   * @param bytes The size of the text in UTF-8.
   */
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
