import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fetchRequest } from '../../../src/kafka/protocol/fetch-request.ts';
import { int16, int32, int64, text } from '../../support/kafka/frames.ts';

const limits = { waitMilliseconds: 500, bytesMaximum: 1_000_000 };

function partition(number: number, code: number, stable: bigint, aborted: readonly bigint[], batches: string): Buffer {
  const offsets = [stable + 1n, stable, 0n].map((offset) => int64(offset));
  const transactions = [int32(aborted.length / 2), ...aborted.map((value) => int64(value))];
  const records = [int32(batches.length), Buffer.from(batches)];
  return Buffer.concat([int32(number), int16(code), ...offsets, ...transactions, ...records]);
}

function responseOf(...topics: readonly (readonly [string, ...Buffer[]])[]): Buffer {
  const lists = topics.flatMap(([name, ...partitions]) => [text(name), int32(partitions.length), ...partitions]);
  return Buffer.concat([int32(0), int16(0), int32(0), int32(topics.length), ...lists]);
}

describe('A fetch request', () => {
  it('requests every partition from its position, without sessions, as a committed reader', () => {
    const positions = new Map([
      ['a', new Map([[3, { offset: 2 ** 40 + 5, bytesMaximum: 100 }]])],
      [
        'bc',
        new Map([
          [0, { offset: 7, bytesMaximum: 200 }],
          [1, { offset: 0, bytesMaximum: 300 }],
        ]),
      ],
    ]);
    const requested = (number: number, offset: bigint, bytes: number): Buffer =>
      Buffer.concat([int32(number), int32(-1), int64(offset), int64(-1n), int32(bytes)]);
    expect(fetchRequest(positions, limits).encode().toString('hex')).to.equal(
      Buffer.concat([
        Buffer.concat([int32(-1), int32(500), int32(1), int32(1_000_000), Buffer.of(1), int32(0), int32(-1), int32(2)]),
        Buffer.concat([text('a'), int32(1), requested(3, 2n ** 40n + 5n, 100)]),
        Buffer.concat([text('bc'), int32(2), requested(0, 7n, 200), requested(1, 0n, 300)]),
        int32(0),
      ]).toString('hex'),
    );
  });

  it('reads the error, the end, the aborted transactions and the batches of every partition', () => {
    const bytes = responseOf(
      ['a', partition(3, 0, 2n ** 40n, [9n, 5n, 2n ** 62n, 8n], 'batches'), partition(4, 6, -1n, [], '')],
      ['b', partition(0, 0, 1n, [], 'more')],
    );
    const response = fetchRequest(new Map(), limits).decode(bytes);
    expect(response).to.include({ errorCode: 0, hasRecords: true });
    const found = response.partitions.map(({ start, end, ...rest }) => ({
      ...rest,
      batches: bytes.toString('utf8', start, end),
    }));
    expect(found).to.deep.equal([
      {
        topic: 'a',
        partition: 3,
        errorCode: 0,
        lastStableOffset: 2 ** 40,
        abortedTransactions: [
          { producerId: 9n, firstOffset: 5 },
          { producerId: 2n ** 62n, firstOffset: 8 },
        ],
        batches: 'batches',
      },
      { topic: 'a', partition: 4, errorCode: 6, lastStableOffset: -1, abortedTransactions: [], batches: '' },
      { topic: 'b', partition: 0, errorCode: 0, lastStableOffset: 1, abortedTransactions: [], batches: 'more' },
    ]);
  });

  it('accepts a response without any batch', () => {
    const bytes = responseOf(['a', partition(0, 0, 1n, [], ''), partition(1, 1, -1n, [], '')]);
    expect(fetchRequest(new Map(), limits).decode(bytes).hasRecords).to.equal(false);
  });

  it('rejects a response that is shorter than its declared length', () => {
    const bytes = responseOf(['a', partition(0, 0, 5n, [9n, 5n], 'batches')]);
    const request = fetchRequest(new Map(), limits);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => request.decode(bytes.subarray(0, length)), `${length} bytes`).to.throw(RangeError);
    }
  });
});
