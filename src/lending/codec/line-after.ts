/** A line in the making: texts that are new, and parts of the line before, which are copied byte by byte. */
export class LineAfter {
  readonly #before: Buffer;
  /** Each a new text, or where a part of the line before begins and ends. */
  readonly #parts: (string | { readonly start: number; readonly end: number })[] = [];
  /** New texts since the last part that was copied. */
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
    // Not from the pool, of which a line that is kept for long would keep much more than its own.
    const buffer = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      at += typeof part === 'string' ? buffer.write(part, at) : this.#before.copy(buffer, at, part.start, part.end);
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
