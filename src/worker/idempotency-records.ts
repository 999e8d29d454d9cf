import { type IdempotencyRecord, parseIdempotencyRecord } from '../lending-format/idempotency-record.ts';

/** How long a command that posted no transaction is remembered, unless the options say otherwise. Milliseconds. */
export const idempotencyMilliseconds = 24 * 3_600_000;

/**
 * The most commands that one commit forgets, so that none takes long. It is more than one commit adds, so that expired
 * commands do not pile up.
 */
const expiredPerCommitMaximum = 500;

/** The remembered commands of one partition. They are kept as texts, which take a fraction of the memory. */
export class IdempotencyRecords {
  /** By command id, in the order of the decisions. */
  readonly #texts = new Map<string, string>();

  get(commandId: string): IdempotencyRecord | undefined {
    const text = this.#texts.get(commandId);
    return text === undefined ? undefined : parseIdempotencyRecord(text);
  }

  set(commandId: string, text: string): void {
    // Deleted first, so that the map keeps the order of the decisions.
    this.#texts.delete(commandId);
    this.#texts.set(commandId, text);
  }

  delete(commandId: string): void {
    this.#texts.delete(commandId);
  }

  /**
   * The oldest commands that were decided up to that time (milliseconds since the epoch), at most as many as one commit
   * may forget.
   */
  decidedUpTo(time: number): string[] {
    const found: string[] = [];
    for (const [commandId, text] of this.#texts) {
      if (found.length >= expiredPerCommitMaximum || parseIdempotencyRecord(text).decidedAt > time) break;
      found.push(commandId);
    }
    return found;
  }
}
