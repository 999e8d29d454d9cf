import type { LogRecord, Offset } from '../broker/event-log.ts';
import type { LendstreamError } from '../errors.ts';
import { recordBytesBound } from './record-checks.ts';

/** What was asked to be appended to one partition by one call, until that call is answered. */
export class PendingAppend {
  readonly records: readonly LogRecord[];
  /** What its records take, at most. Bytes. */
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly acceptedAt: number;
  /** How many of its records were put into batches. */
  batchedCount = 0;
  readonly #onAnswer: (answer: Offset | LendstreamError) => void;
  #storedCount = 0;
  #baseOffset: Offset = -1;
  #isAnswered = false;

  /** @param onAnswer called once, with the offset of the first record or with what went wrong */
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

  /** Whether some of its records were stored by an earlier batch. */
  get isPartlyStored(): boolean {
    return this.#storedCount > 0;
  }

  /** The next of its records, in order, were stored from this offset on. */
  storedAt(offset: Offset, count: number): void {
    if (this.#storedCount === 0) this.#baseOffset = offset;
    this.#storedCount += count;
    if (this.#storedCount === this.records.length) this.#answer(this.#baseOffset);
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
