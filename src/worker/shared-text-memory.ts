/**
 * The first piece is as large as the events of a few commands. Each further one is twice as large as the one before.
 * Bytes.
 */
const firstChunkBytes = 16 * 1024;
const chunkBytesMaximum = 256 * 1024;

/** In UTF-8, for each unit of UTF-16. */
const bytesPerCharacterMaximum = 3;

/**
 * Stores texts as bytes in a few shared pieces of memory. A text is written at once. As a string it would wait for its
 * commit together with several hundred others, and the collector would move them all about.
 */
export class SharedTextMemory {
  #chunk: Buffer = Buffer.alloc(0);
  #end = 0;
  #nextChunkBytes = firstChunkBytes;

  /** Writes the text and returns its bytes in UTF-8. */
  write(text: string): Buffer {
    // Counting the bytes takes as long as writing them, so they are counted only at the end of a piece.
    if (this.#end + bytesPerCharacterMaximum * text.length > this.#chunk.length)
      this.#makeRoom(Buffer.byteLength(text));
    const start = this.#end;
    this.#end += this.#chunk.write(text, start);
    return this.#chunk.subarray(start, this.#end);
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#chunk.length) return;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(bytes, this.#nextChunkBytes));
    this.#end = 0;
    this.#nextChunkBytes = Math.min(2 * this.#nextChunkBytes, chunkBytesMaximum);
  }
}
