import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { LogRecord } from '../../../../src/ports/event-log.ts';
import { encodeRecordBatch, renumberBatch } from '../../../../src/kafka/protocol/record-batches/encoding.ts';
import { encodedRecordBytes, recordBatchBytes } from '../../../../src/kafka/protocol/record-batches/record-sizes.ts';
import type { EncodingOptions } from '../../../../src/kafka/protocol/record-batches/encoding.ts';
import { anonymous, encode, recordLists } from '../encoded-batches.ts';
import { bytesOf, toLogRecord, vectors } from '../../vectors/vectors.ts';

describe('encoding a record batch', () => {
  const ours = vectors.filter(({ name }) => name.startsWith('ours: '));

  it('is compared with at least one vector', () => {
    expect(ours).to.have.length(6);
  });

  for (const vector of ours) {
    it(`equals the bytes of Kafka's own client, ${vector.name}`, () => {
      const [batch] = vector.batches;
      if (batch === undefined) throw new Error('The vector has no batch');
      const options: EncodingOptions = {
        timestamp: batch.maxTimestamp,
        producerId: BigInt(batch.producerId),
        producerEpoch: batch.producerEpoch,
        firstSequence: batch.baseSequence,
        isTransactional: batch.isTransactional,
      };
      const encoded = encodeRecordBatch(batch.records.map(toLogRecord), options);
      expect(encoded.toString('hex')).to.equal(bytesOf(vector).toString('hex'));
    });
  }

  it('has the predicted size', () => {
    fc.assert(
      fc.property(recordLists, (records) => {
        expect(encode(records)).to.have.length(recordBatchBytes(records));
      }),
    );
  });

  it('never exceeds the sum of the predicted sizes of its records', () => {
    fc.assert(
      fc.property(recordLists, (records) => {
        const atMost = records.reduce((sum, record) => sum + encodedRecordBytes(record), recordBatchBytes([]));
        expect(encode(records).length).to.be.within(atMost - 5 * records.length, atMost);
      }),
    );
  });

  it('is predicted for a record with four bytes more than the first one of a batch takes', () => {
    for (const record of [
      { key: null, value: null },
      { key: 'k', value: Buffer.from('v') },
    ]) {
      const firstBytes = recordBatchBytes([record]) - recordBatchBytes([]);
      expect(encodedRecordBytes(record)).to.equal(firstBytes + 4);
    }
  });

  it('never needs more than predicted for a record, however late it comes in the batch', () => {
    const last: LogRecord = { key: 'k', value: Buffer.from('v') };
    const empty: LogRecord = { key: null, value: Buffer.alloc(0) };
    const before = Array.from({ length: 130_000 }, () => empty);
    const growth = recordBatchBytes([...before, last]) - recordBatchBytes(before);
    expect(growth).to.be.at.most(encodedRecordBytes(last));
  });

  it('can get another producer identity, as if it had been encoded with it', () => {
    const records = [{ key: 'a', value: Buffer.from('1') }];
    const identity = { producerId: 9_007_199_254_740_993n, producerEpoch: 7, firstSequence: 2_147_483_647 };
    const batch = encode(records, { isTransactional: true });
    renumberBatch(batch, identity);
    expect(batch).to.deep.equal(encodeRecordBatch(records, { ...anonymous, isTransactional: true, ...identity }));
  });
});
