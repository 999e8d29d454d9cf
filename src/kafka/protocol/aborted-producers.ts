import type { Offset } from '../../ports/event-log.ts';
import { attribute, field } from './record-batch.ts';

/** A transaction that was aborted, as the answer to a read_committed fetch names it. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: Offset;
}

/**
 * Tells which batches of a fetch answer belong to aborted transactions. The broker delivers them and leaves the choice
 * to the reader. A producer is aborted from the first offset of an aborted transaction up to the control batch that
 * ends it; transactions of several producers overlap, and one producer may have aborted and committed ones by turns.
 *
 * It is the batch's attribute that makes a control batch, whatever the keys of its records look like.
 */
export class AbortedProducers {
  /** By first offset, those to come last. */
  readonly #transactions: readonly AbortedTransaction[];
  #next = 0;
  readonly #aborted = new Set<bigint>();

  constructor(transactions: readonly AbortedTransaction[]) {
    this.#transactions = transactions.toSorted((one, other) => one.firstOffset - other.firstOffset);
  }

  /**
   * Goes past the batch at a position; every batch of the answer in order.
   * @returns Whether the batch's records are visible to a committed reader.
   */
  pass(bytes: Buffer, position: number, attributes: number, lastOffset: Offset): boolean {
    for (; this.#next < this.#transactions.length; this.#next += 1) {
      const { producerId, firstOffset } = this.#transactions[this.#next] as AbortedTransaction;
      if (firstOffset > lastOffset) break;
      this.#aborted.add(producerId);
    }
    const isControl = (attributes & attribute.control) !== 0;
    if (this.#aborted.size === 0 || (attributes & attribute.transactional) === 0) return !isControl;
    const producerId = bytes.readBigInt64BE(position + field.producerId);
    if (isControl) this.#aborted.delete(producerId);
    return !isControl && !this.#aborted.has(producerId);
  }
}
