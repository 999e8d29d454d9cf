/** Builds a line from new texts and from parts of the line before, which are copied byte for byte. */
export class LineBuilder {
  readonly #before: Buffer;
  /** Each is a new text, or the range of a part of the line before. */
  readonly #parts: (string | { readonly start: number; readonly end: number })[] = [];
  /** New text since the last copied part. */
  #text = '';
  #length = 0;

  constructor(before: Buffer) {
    this.#before = before;
  }

  write(text: string): void {
    this.#text += text;
  }

  copy(start: number, end: number): void {
    this.#endText();
    this.#parts.push({ start, end });
    this.#length += end - start;
  }

  toBuffer(): Buffer {
    this.#endText();
    // Not from the pool: a line that is kept for long would keep a whole pool block, much more than its own bytes.
    const buffer = Buffer.allocUnsafeSlow(this.#length);
    let position = 0;
    for (const part of this.#parts) {
      position +=
        typeof part === 'string'
          ? buffer.write(part, position)
          : this.#before.copy(buffer, position, part.start, part.end);
    }
    return buffer;
  }

  #endText(): void {
    if (this.#text === '') return;
    this.#parts.push(this.#text);
    this.#length += Buffer.byteLength(this.#text);
    this.#text = '';
  }
}
