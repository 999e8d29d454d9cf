import type { LogRecord, Offset } from '../../ports/event-log.ts';
import type { LendstreamError } from '../../errors.ts';
import { recordBytesBound } from './record-checks.ts';

/** The records of one append call for one partition, until that call has its result. */
export class PendingAppend {
  readonly records: readonly LogRecord[];
  /** The size of its records, at most. Bytes. */
  readonly bytes: number;
  /** On the monotonic clock. Milliseconds. */
  readonly acceptedAt: number;
  readonly #onAnswer: (answer: Offset | LendstreamError) => void;
  #isAnswered = false;

  /** @param onAnswer Called once, with the offset of the first record or with the error. */
  constructor(records: readonly LogRecord[], acceptedAt: number, onAnswer: (answer: Offset | LendstreamError) => void) {
    this.records = records;
    this.acceptedAt = acceptedAt;
    this.#onAnswer = onAnswer;
    let bytes = 0;
    for (const record of records) bytes += recordBytesBound(record);
    this.bytes = bytes;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Its records were stored from this offset on. */
  storedAt(offset: Offset): void {
    this.#answer(offset);
  }

  fail(error: LendstreamError): void {
    this.#answer(error);
  }

  #answer(answer: Offset | LendstreamError): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#onAnswer(answer);
  }
}
