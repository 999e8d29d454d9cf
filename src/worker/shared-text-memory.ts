/**
 * The first piece is as large as the events of a few commands. Each further one is twice as large as the one before.
 * Bytes.
 */
const firstChunkBytes = 16 * 1024;
const chunkBytesMaximum = 256 * 1024;

/**
 * Stores texts as bytes in a few shared pieces of memory. A text is written at once. As a string it would wait for its
 * commit together with several hundred others, and the collector would move them all about.
 */
export class SharedTextMemory {
  #chunk: Buffer = Buffer.alloc(0);
  #end = 0;
  #nextChunkBytes = firstChunkBytes;

  /**
   * Writes the text and returns its bytes.
   * @param bytes The size of the text in UTF-8.
   */
  write(text: string, bytes: number): Buffer {
    if (this.#end + bytes > this.#chunk.length) {
      this.#chunk = Buffer.allocUnsafeSlow(Math.max(bytes, this.#nextChunkBytes));
      this.#end = 0;
      this.#nextChunkBytes = Math.min(2 * this.#nextChunkBytes, chunkBytesMaximum);
    }
    const start = this.#end;
    this.#end += this.#chunk.write(text, start);
    return this.#chunk.subarray(start, this.#end);
  }
}
