import { expect } from 'chai';
import { assert, property, string, uint8Array, option } from 'fast-check';
import { describe, it } from 'mocha';
import { appendBytes, appendBytesOfAll } from '../../src/ports/append-size.ts';
import { packRecords, PackedPartitionRecords } from '../../src/ports/packed-records.ts';
import { encodedRecordBytes } from '../../src/kafka/protocol/record-batches/record-sizes.ts';
import { anyCharacter } from '../support/values/any-character.ts';

describe('the size that a record counts in an append', () => {
  it('is at least its size in a batch of Kafka, whatever its key and value', () => {
    const key = option(string({ unit: anyCharacter, maxLength: 200 }), { nil: null });
    const value = option(uint8Array({ maxLength: 200 }), { nil: null });
    assert(
      property(key, value, (text, bytes) => {
        const record = { key: text, value: bytes === null ? null : Buffer.from(bytes) };
        expect(appendBytes(record)).to.be.at.least(encodedRecordBytes(record));
      }),
    );
  });

  it('is at least that too at the sizes at which a length takes one more byte', () => {
    for (const size of [0, 1, 63, 64, 8_191, 8_192, 1_048_575, 1_048_576]) {
      for (const character of ['k', 'é', '€']) {
        const record = { key: character.repeat(size), value: Buffer.alloc(size) };
        expect(appendBytes(record), `${size} ${character}`).to.be.at.least(encodedRecordBytes(record));
      }
    }
  });

  it('is of all records at least the sum of their sizes, packed or not', () => {
    const record = (key: string | null, value: string | null) => ({
      key,
      value: value === null ? null : Buffer.from(value),
    });
    const records = [record('k', 'value'), record(null, ''), record('€', null)];
    const sum = records.reduce((bytes, each) => bytes + appendBytes(each), 0);
    expect(appendBytesOfAll({ topic: 't', partition: 0, records })).to.equal(sum);
    const packed = new PackedPartitionRecords('t', 0, packRecords(records));
    const stored = records.reduce((bytes, each) => bytes + encodedRecordBytes(each), 0);
    expect(appendBytesOfAll(packed)).to.be.within(stored, sum + records.length);
    expect(appendBytesOfAll({ topic: 't', partition: 0, records: [] })).to.equal(0);
  });
});
