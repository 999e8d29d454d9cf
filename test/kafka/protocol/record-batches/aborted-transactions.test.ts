import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { Offset } from '../../../../src/ports/event-log.ts';
import type { AbortedTransaction } from '../../../../src/kafka/protocol/record-batches/aborted-transactions.ts';
import { decodeRecordBatches } from '../../../../src/kafka/protocol/record-batches/decoding.ts';
import { records } from '../../../support/log-reading.ts';
import { encode, endOfTransaction } from '../encoded-batches.ts';

const where = { topic: 'orders', partition: 3 };

/** The next action of one of several producers; ending no transaction does nothing. */
interface Step {
  /** 0 writes without transactions. */
  readonly producer: number;
  readonly action: { readonly write: number } | 'commit' | 'abort';
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    producer: fc.nat(4),
    action: fc.oneof(
      { weight: 3, arbitrary: fc.record({ write: fc.integer({ min: 1, max: 3 }) }) },
      fc.constant('commit' as const),
      fc.constant('abort' as const),
    ),
  }),
  { minLength: 1, maxLength: 40 },
);

interface Transaction {
  readonly producerId: bigint;
  readonly offsets: Offset[];
}

/** A partition as a broker stores it, in which every transaction has ended. */
class Partition {
  readonly batches: { readonly baseOffset: Offset; readonly bytes: Buffer }[] = [];
  readonly committed: Offset[] = [];
  readonly aborted: (AbortedTransaction & { readonly endOffset: Offset })[] = [];
  readonly #open = new Map<number, Transaction>();
  next: Offset = 0;

  constructor(taken: readonly Step[]) {
    for (const step of taken) this.#take(step);
    for (const producer of this.#open.keys()) this.#take({ producer, action: producer % 2 === 0 ? 'commit' : 'abort' });
  }

  #take({ producer, action }: Step): void {
    if (typeof action === 'object') this.#write(producer, action.write);
    else this.#end(producer, action === 'commit');
  }

  #write(producer: number, count: number): void {
    const offsets = Array.from({ length: count }, (_, index) => this.next + index);
    const producerId = BigInt(producer);
    const isTransactional = producer !== 0;
    this.#add(encode(records(...offsets.map(String)), { baseOffset: this.next, producerId, isTransactional }), count);
    if (!isTransactional) {
      this.committed.push(...offsets);
      return;
    }
    const transaction = this.#open.get(producer) ?? { producerId, offsets: [] };
    transaction.offsets.push(...offsets);
    this.#open.set(producer, transaction);
  }

  #end(producer: number, isCommit: boolean): void {
    const transaction = this.#open.get(producer);
    if (transaction === undefined) return;
    const { producerId, offsets } = transaction;
    this.#open.delete(producer);
    if (isCommit) this.committed.push(...offsets);
    else this.aborted.push({ producerId, firstOffset: offsets[0] ?? 0, endOffset: this.next });
    this.#add(endOfTransaction(this.next, producerId), 1);
  }

  #add(bytes: Buffer, count: number): void {
    this.batches.push({ baseOffset: this.next, bytes });
    this.next += count;
  }
}

describe('reading past transactions', () => {
  it('leaves out nothing that an aborted producer wrote without a transaction', () => {
    const producerId = 5n;
    const response = Buffer.concat([
      encode(records('aborted'), { baseOffset: 0, producerId, isTransactional: true }),
      encode(records('plain'), { baseOffset: 1, producerId }),
      encode(records('plain'), { baseOffset: 2 }),
    ]);
    const result = decodeRecordBatches(where, response, 0, response.length, 0, [{ producerId, firstOffset: 0 }]);
    expect(result.batches.flatMap(({ offsets }) => [...offsets])).to.deep.equal([1, 2]);
  });

  it('finds all committed records and no others, from any start and in reads of any size', () => {
    fc.assert(
      fc.property(steps, fc.nat(), fc.integer({ min: 1, max: 40 }), (taken, start, batchesMaximum) => {
        const { batches, committed, aborted, next } = new Partition(taken);
        const from = start % (next + 1);
        const first = batches.findLastIndex(({ baseOffset }) => baseOffset <= from);
        const end = batches[first + batchesMaximum]?.baseOffset ?? next;
        const response = Buffer.concat(batches.slice(first, first + batchesMaximum).map(({ bytes }) => bytes));
        // As the broker reports them: those that overlap the fetched part.
        const listed = aborted.filter(({ firstOffset, endOffset }) => endOffset >= from && firstOffset < end);

        const result = decodeRecordBatches(where, response, 0, response.length, from, listed.toReversed());
        expect(result.nextOffset).to.equal(Math.max(from, end));
        expect(result.batches.flatMap(({ offsets }) => [...offsets])).to.deep.equal(
          committed.filter((offset) => offset >= from && offset < end).sort((one, other) => one - other),
        );
      }),
      { numRuns: 500 },
    );
  });
});
