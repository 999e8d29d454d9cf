import type { Offset } from '../../../ports/event-log.ts';
import { attribute, field } from './layout.ts';

/** An aborted transaction, as the response to a read_committed fetch names it. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: Offset;
}

/**
 * Decides which batches of a fetch response belong to aborted transactions. The broker delivers them and leaves the
 * choice to the reader. A producer is aborted from the first offset of an aborted transaction up to the control batch
 * that ends it. Transactions of several producers overlap, and one producer may have aborted and committed ones in
 * turn.
 *
 * A batch is a control batch because of its attribute, whatever the keys of its records look like.
 */
export class AbortedTransactions {
  /** By first offset. Those from `#next` on are still to come. */
  readonly #transactions: readonly AbortedTransaction[];
  #next = 0;
  readonly #aborted = new Set<bigint>();

  constructor(transactions: readonly AbortedTransaction[]) {
    this.#transactions = transactions.toSorted((one, other) => one.firstOffset - other.firstOffset);
  }

  /**
   * Moves past the batch at a position. Call it for every batch of the response, in order.
   * @returns Whether the batch's records are visible to a committed reader.
   */
  advance(bytes: Buffer, position: number, attributes: number, lastOffset: Offset): boolean {
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
