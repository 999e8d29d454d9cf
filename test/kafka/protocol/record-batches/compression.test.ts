import { expect } from 'chai';
import { describe, it } from 'mocha';
import * as zlib from 'node:zlib';
import type { Offset } from '../../../../src/ports/event-log.ts';
import {
  attribute,
  batchHeaderBytes,
  field,
  uncountedBytes,
} from '../../../../src/kafka/protocol/record-batches/layout.ts';
import {
  compressBatch,
  hasLargeRecords,
  inflatedBytesMaximum,
} from '../../../../src/kafka/protocol/record-batches/compression.ts';
import { renumberBatch } from '../../../../src/kafka/protocol/record-batches/encoding.ts';
import { decodeRecordBatches } from '../../../../src/kafka/protocol/record-batches/decoding.ts';
import { incompressible } from '../../../support/values/incompressible.ts';
import { schedule } from '../../../support/values/large-values.ts';
import { recordsOf } from '../../../support/log-reading.ts';
import { encode, seal } from '../encoded-batches.ts';
import { bytesOf, toReadRecord, vectorNamed } from '../../vectors/vectors.ts';

const where = { topic: 'orders', partition: 3 };

function decode(bytes: Buffer, from = 0) {
  return decodeRecordBatches(where, bytes, 0, bytes.length, from, []);
}

/** A batch whose records are replaced by the given bytes. */
function compressedBatch(baseOffset: Offset, codec: number, compressed: Buffer): Buffer {
  const header = encode([{ key: null, value: Buffer.from('1') }], { baseOffset }).subarray(0, batchHeaderBytes);
  const batch = Buffer.concat([header, compressed]);
  batch.writeInt32BE(batch.length - uncountedBytes, field.length);
  batch.writeInt16BE(codec & attribute.compression, field.attributes);
  return seal(batch);
}

/** Batches of one record of many zero bytes each, at offsets 0, 1, 2 and so on. */
function spaciousBatches(count: number, valueBytes: number): Buffer[] {
  const plain = encode([{ key: null, value: Buffer.alloc(valueBytes) }]).subarray(batchHeaderBytes);
  const compressed = zlib.gzipSync(plain, { level: 1 });
  return Array.from({ length: count }, (_, baseOffset) => compressedBatch(baseOffset, 1, compressed));
}

describe('a compressed record batch', () => {
  for (const codec of ['snappy', 'lz4', 'zstd']) {
    const vector = vectorNamed(codec);
    if (codec === 'zstd' && 'zstdDecompressSync' in zlib) {
      it('of zstd is read on this version of Node', () => {
        const expected = vector.batches[0]?.records.map(toReadRecord);
        expect(decode(bytesOf(vector)).batches.flatMap(recordsOf)).to.deep.equal(expected);
      });
      continue;
    }
    it(`of ${codec} is an error that names it`, () => {
      expect(() => decode(bytesOf(vector)))
        .to.throw(`is compressed with ${codec}`)
        .with.property('code', 'CORRUPT_BATCH');
    });
  }

  it('of an unknown codec is an error that numbers it', () => {
    expect(() => decode(compressedBatch(0, 6, Buffer.from('?')))).to.throw('is compressed with codec 6');
  });

  it('that is corrupt is an error', () => {
    expect(() => decode(compressedBatch(0, 1, Buffer.from('no gzip'))))
      .to.throw('cannot be decompressed with gzip')
      .with.property('code', 'CORRUPT_BATCH');
  });

  it('may not grow without limit', () => {
    const bomb = Buffer.concat(spaciousBatches(1, inflatedBytesMaximum));
    expect(bomb.length).to.be.below(inflatedBytesMaximum / 100);
    expect(() => decode(bomb))
      .to.throw(`is larger than ${inflatedBytesMaximum} bytes when decompressed`)
      .with.property('code', 'CORRUPT_BATCH');
  });

  it('may be one of many, which are decoded up to the memory limit, and the rest by the next read', () => {
    const valueBytes = Math.ceil(inflatedBytesMaximum / 2);
    const response = Buffer.concat(spaciousBatches(5, valueBytes));
    const first = decode(response);
    expect([first.batches.length, first.nextOffset]).to.deep.equal([2, 2]);
    const second = decode(response, first.nextOffset);
    expect([second.batches.length, second.nextOffset]).to.deep.equal([2, 4]);
  });

  it('is malformed when its records are, and is not read beyond its own memory', () => {
    const records = encode([{ key: null, value: Buffer.from('12345') }]).subarray(batchHeaderBytes);
    for (let end = 0; end < records.length; end += 1) {
      const cut = compressedBatch(0, 1, zlib.gzipSync(records.subarray(0, end)));
      expect(() => decode(cut))
        .to.throw()
        .with.property('code', 'CORRUPT_BATCH');
    }
  });
});

describe('compressing a record batch', () => {
  const records = [
    { key: 'small', value: Buffer.from('{"n":1}') },
    { key: 'ключ €', value: schedule(100_000) },
    { key: null, value: null },
    { key: 'noise', value: incompressible(10_000) },
  ];
  const identity = { producerId: 9_007_199_254_740_993n, producerEpoch: 7, firstSequence: 2_147_483_647 };

  it('changes only its length, its attributes, its checksum and the form of its records', async () => {
    const batch = encode(records, { ...identity, isTransactional: true });
    const compressed = await compressBatch(batch);
    expect(compressed.length).to.be.below(30_000);
    expect(compressed.readInt32BE(field.length)).to.equal(compressed.length - uncountedBytes);
    expect(compressed.readInt16BE(field.attributes)).to.equal(attribute.transactional | 1);
    const header = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes.subarray(0, batchHeaderBytes));
      return copy.fill(0, field.length, field.length + 4).fill(0, field.checksum, field.attributes + 2);
    };
    expect(header(compressed)).to.deep.equal(header(batch));
    const unpacked = zlib.gunzipSync(compressed.subarray(batchHeaderBytes));
    expect(unpacked.equals(batch.subarray(batchHeaderBytes))).to.equal(true);
  });

  it('is undone by reading it, and it can still get another identity', async () => {
    const compressed = await compressBatch(encode(records));
    const expected = decode(encode(records)).batches.flatMap(recordsOf);
    expect(decode(compressed).batches.flatMap(recordsOf)).to.deep.equal(expected);
    renumberBatch(compressed, identity);
    expect(decode(compressed).batches.flatMap(recordsOf)).to.deep.equal(expected);
    expect(compressed.readInt32BE(field.baseSequence)).to.equal(identity.firstSequence);
  });

  it('leaves one as it is that would not become smaller', async () => {
    const noise = encode([{ key: null, value: incompressible(100_000) }]);
    expect(await compressBatch(noise)).to.equal(noise);
  });

  it('is worth it from 16 KiB a record on, framing included, and not a byte below', () => {
    // The framing of a record with a value of this size and no key takes 15 bytes.
    const value = (bytes: number) => ({ key: null, value: schedule(bytes - 15) });
    const [at, below] = [16_384, 16_383].map((bytes) => encode([value(bytes)]));
    expect(at).to.have.length(batchHeaderBytes + 16_384);
    expect(at === undefined ? undefined : hasLargeRecords(at)).to.equal(true);
    expect(below === undefined ? undefined : hasLargeRecords(below)).to.equal(false);
    expect(hasLargeRecords(encode([value(16_384), value(16_384)]))).to.equal(true);
    expect(hasLargeRecords(encode([value(16_384), value(16_383)]))).to.equal(false);
    expect(hasLargeRecords(encode([value(100_000), ...records.slice(0, 1), ...records.slice(2, 3)]))).to.equal(true);
  });
});
