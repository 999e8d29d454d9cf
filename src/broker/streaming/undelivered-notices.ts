/** Shared: most streams have nothing to tell. */
const none: readonly string[] = [];

/**
 * What a stream tells its consumer about events that it does not deliver: those that retention deleted first, and
 * external records that are not events. The texts go into the "info" of the next line.
 */
export class UndeliveredNotices {
  /** Since the last {@link take}. */
  #skippedOffsets = 0;
  /** Since the last {@link take}. */
  #unreadableRecords = 0;

  /**
   * Counts offsets lost to retention: those of events, and those of deletions and markers between them, which can no
   * longer be told apart.
   */
  countSkippedOffsets(count: number): void {
    this.#skippedOffsets += count;
  }

  /** Counts external records that are not events. */
  countUnreadableRecords(count: number): void {
    this.#unreadableRecords += count;
  }

  /** What the consumer has not been notified of yet, in words. Each is returned once. */
  take(): readonly string[] {
    if (this.#skippedOffsets === 0 && this.#unreadableRecords === 0) return none;
    const texts: string[] = [];
    if (this.#skippedOffsets > 0) {
      texts.push(`skipped events due to retention time passed, count: ${this.#skippedOffsets} at most`);
    }
    if (this.#unreadableRecords > 0) {
      texts.push(`skipped records that are not JSON, count: ${this.#unreadableRecords}`);
    }
    this.#skippedOffsets = 0;
    this.#unreadableRecords = 0;
    return texts;
  }
}
