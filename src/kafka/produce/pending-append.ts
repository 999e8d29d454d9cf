import type { LogRecord, Offset } from '../../ports/event-log.ts';
import type { LendstreamError } from '../../errors.ts';
import { recordBytesBound } from '../protocol/record-batches/record-sizes.ts';
import { outcomeMilliseconds, unsentMilliseconds } from './produce-outcome.ts';

/** The records of one append call for one partition, until that call has its result. */
export class PendingAppend {
  readonly records: readonly LogRecord[];
  /** The size of its records, at most. Bytes. */
  readonly bytes: number;
  /** On the monotonic clock. Milliseconds. */
  readonly acceptedAt: number;
  readonly #onResult: (result: Offset | LendstreamError) => void;
  #isCompleted = false;

  /** @param onResult Called once, with the offset of the first record or with the error. */
  constructor(records: readonly LogRecord[], acceptedAt: number, onResult: (result: Offset | LendstreamError) => void) {
    this.records = records;
    this.acceptedAt = acceptedAt;
    this.#onResult = onResult;
    let bytes = 0;
    for (const record of records) bytes += recordBytesBound(record);
    this.bytes = bytes;
  }

  get isCompleted(): boolean {
    return this.#isCompleted;
  }

  /**
   * Whether its time is over.
   * @param now Monotonic milliseconds.
   * @param isSent Whether it was sent to a broker at least once.
   */
  isExpired(now: number, isSent: boolean): boolean {
    return now >= this.acceptedAt + (isSent ? outcomeMilliseconds : unsentMilliseconds);
  }

  /** Its records were stored from this offset on. */
  storedAt(offset: Offset): void {
    this.#complete(offset);
  }

  fail(error: LendstreamError): void {
    this.#complete(error);
  }

  #complete(result: Offset | LendstreamError): void {
    if (this.#isCompleted) return;
    this.#isCompleted = true;
    this.#onResult(result);
  }
}
