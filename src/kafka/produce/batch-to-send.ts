import { compressBatch, hasLargeRecords } from '../protocol/record-batches/compression.ts';

/** A batch that is sent, with the same records, until its outcome is known. */
export class BatchToSend {
  readonly count: number;
  /**
   * Its size before it was compressed, which limits of memory and of merging count: how much smaller it becomes is
   * known too late for them. Bytes.
   */
  readonly encodedBytes: number;
  #bytes: Buffer;
  #isFinal: boolean;

  /** @param bytes As encoded, with this count of records. */
  constructor(bytes: Buffer, count: number) {
    this.count = count;
    this.encodedBytes = bytes.length;
    this.#bytes = bytes;
    this.#isFinal = !hasLargeRecords(bytes);
  }

  /** The form that is sent, after {@link finish}. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Compresses it, if its records are large and that makes it smaller: once, however often it is sent. */
  async finish(): Promise<void> {
    if (this.#isFinal) return;
    this.#bytes = await compressBatch(this.#bytes);
    this.#isFinal = true;
  }
}
