/** The most bytes of one line. A batch of the service has at most `batch_limit` events of about a megabyte. */
export const lineBytesMaximum = 256 * 1024 * 1024;

const newline = 0x0a;
const nothing = new Uint8Array(0);

/**
 * Cuts the bytes of a stream into lines of text, wherever the network has cut them. It takes one piece at a time, and
 * decodes a line when it is taken: what is not taken yet stays as it arrived.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #bytesMaximum: number;
  /** The pieces of a line whose end has not arrived. */
  #beginning: Uint8Array[] = [];
  #beginningBytes = 0;
  #piece: Uint8Array = nothing;
  #position = 0;

  constructor(bytesMaximum = lineBytesMaximum) {
    this.#bytesMaximum = bytesMaximum;
  }

  /** The bytes that have arrived and that no taken line had. */
  get bytes(): number {
    return this.#beginningBytes + this.#piece.length - this.#position;
  }

  /** Adds a piece. Take the lines of the one before first, until there are none. */
  add(piece: Uint8Array): void {
    this.#piece = piece;
    this.#position = 0;
  }

  /**
   * The next line without its end; undefined when more bytes are needed.
   * @throws TypeError for a line that is not UTF-8, RangeError for one that is too long
   */
  take(): string | undefined {
    const end = this.#piece.indexOf(newline, this.#position);
    const part = this.#piece.subarray(this.#position, end === -1 ? undefined : end);
    if (this.#beginningBytes + part.length > this.#bytesMaximum) {
      throw new RangeError(`A line of the stream has more than ${this.#bytesMaximum} bytes`);
    }
    if (end === -1) {
      if (part.length > 0) this.#beginning.push(part);
      this.#beginningBytes += part.length;
      this.#piece = nothing;
      this.#position = 0;
      return undefined;
    }
    this.#position = end + 1;
    let line = '';
    for (const piece of this.#beginning) line += this.#decoder.decode(piece, { stream: true });
    this.#beginning = [];
    this.#beginningBytes = 0;
    return line + this.#decoder.decode(part);
  }
}
