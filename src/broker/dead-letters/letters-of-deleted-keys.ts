import { noValue, type EventLog, type Offset, type PartitionBounds, type RecordBatch } from '../../ports/event-log.ts';
import {
  nameOfLetterKey,
  putDeletedLetterKey,
  removeExpiredLetterKeys,
  type LetterKey,
} from '../definitions/deleted-letter-keys.ts';
import type { Registry } from '../definitions/registry.ts';
import { deadLetterQueue } from '../definitions/unprocessable-events.ts';
import { readStoredRecords } from '../log/stored-records.ts';

/** The most names of keys that are kept in memory: some 10 MB. */
export const letterKeysMaximum = 100_000;

/** The most records that the registry is given at once. */
const recordsAtOnce = 100;

export interface LettersOfDeletedKeysOptions {
  readonly log: Pick<EventLog, 'bounds' | 'read'>;
  readonly registry: Registry;
  /** How many partitions the queue has. */
  readonly partitionCount: number;
  /** Default {@link letterKeysMaximum}. */
  readonly keysMaximum?: number;
}

/**
 * Hides the events of deleted keys in the letters that copied them. Most keys have none, so the registry gets only
 * those that have: this process reads the whole queue once, and later what has come to it.
 */
export class LettersOfDeletedKeys {
  readonly #options: LettersOfDeletedKeysOptions;
  readonly #names = new Set<string>();
  readonly #nextOffsets: Offset[] = [];
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: LettersOfDeletedKeysOptions) {
    this.#options = options;
  }

  /**
   * From now on, nothing shows the events of these keys in letters that were written before.
   * @throws as {@link readStoredRecords}, and what the registry throws
   */
  async hide(keys: readonly LetterKey[]): Promise<void> {
    if (keys.length === 0) return;
    const reading = this.#reading.then(() => this.#readNew());
    this.#reading = reading.catch(() => {});
    const bounds = await reading;
    const names = [...new Set(keys.map(nameOfLetterKey))].filter((name) => this.#isOfLetter(name));
    if (names.length === 0) return;
    const { registry } = this.#options;
    await registry.catchUp();
    await removeExpiredLetterKeys(registry, bounds);
    const before = bounds.map(({ latest }) => latest);
    for (let start = 0; start < names.length; start += recordsAtOnce) {
      const some = names.slice(start, start + recordsAtOnce);
      await Promise.all(some.map((name) => putDeletedLetterKey(registry, name, before)));
    }
  }

  /** Whether a key may have letters: when not all names are kept, each may. */
  #isOfLetter(name: string): boolean {
    return this.#isFull() || this.#names.has(name);
  }

  #isFull(): boolean {
    return this.#names.size >= (this.#options.keysMaximum ?? letterKeysMaximum);
  }

  async #readNew(): Promise<readonly PartitionBounds[]> {
    const { log, partitionCount } = this.#options;
    const partitions = Array.from({ length: partitionCount }, (_, partition) => ({
      topic: deadLetterQueue,
      partition,
    }));
    const bounds = await log.bounds(partitions);
    for (const { topic, partition, earliest, latest } of bounds) {
      const start = { topic, partition, offset: Math.max(this.#nextOffsets[partition] ?? 0, earliest) };
      for await (const batch of readStoredRecords(log, start, latest)) {
        this.#add(batch);
        this.#nextOffsets[partition] = (batch.offsets[batch.count - 1] ?? 0) + 1;
        batch.release?.();
      }
    }
    return bounds;
  }

  #add(batch: RecordBatch): void {
    for (let index = 0; index < batch.count; index += 1) {
      const start = batch.valueStarts[index] ?? noValue;
      if (start === noValue || batch.external?.[index] === 1) continue;
      const letter = JSON.parse(batch.bytes.toString('utf8', start, batch.valueEnds[index])) as StoredLetter;
      const { event_type: eventType, partition, event } = letter;
      const key = event?.metadata?.partition_compaction_key;
      if (typeof key !== 'string' || this.#isFull()) continue;
      for (const each of [partition, null]) this.#names.add(nameOfLetterKey({ eventType, partition: each, key }));
    }
  }
}

/** What is read of a letter. */
interface StoredLetter {
  readonly event_type: string;
  readonly partition: string;
  readonly event?: { readonly metadata?: { readonly partition_compaction_key?: unknown } | null } | null;
}
