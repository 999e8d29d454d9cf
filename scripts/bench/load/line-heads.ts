const newline = 10;

/** How much of a line is read: enough for its cursor. Bytes. */
const headBytesMaximum = 512;

/** Finds the lines in bytes that arrive in pieces. Keeps only the beginning and the length of the current line. */
export class LineHeads {
  readonly #onLine: (head: string, bytes: number) => void;
  readonly #head = Buffer.allocUnsafe(headBytesMaximum);
  #lineBytes = 0;

  /** @param onLine Called for each line with its first 512 bytes and its length, both without the line break. */
  constructor(onLine: (head: string, bytes: number) => void) {
    this.#onLine = onLine;
  }

  feed(bytes: Buffer): void {
    let from = 0;
    for (let to = bytes.indexOf(newline); to >= 0; to = bytes.indexOf(newline, from)) {
      this.#append(bytes, from, to);
      this.#onLine(this.#head.toString('latin1', 0, Math.min(this.#lineBytes, headBytesMaximum)), this.#lineBytes);
      this.#lineBytes = 0;
      from = to + 1;
    }
    this.#append(bytes, from, bytes.length);
  }

  #append(bytes: Buffer, from: number, to: number): void {
    if (this.#lineBytes < headBytesMaximum) bytes.copy(this.#head, this.#lineBytes, from, to);
    this.#lineBytes += to - from;
  }
}
