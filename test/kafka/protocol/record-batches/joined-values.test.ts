import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { LogRecord, ReadResult } from '../../../../src/ports/event-log.ts';
import { decodeRecordBatches } from '../../../../src/kafka/protocol/record-batches/decoding.ts';
import { allocateResponse, ResponseMemory } from '../../../../src/kafka/protocol/response-memory.ts';
import { recordsOf } from '../../../support/log-reading.ts';
import { bytesOf, vectors } from '../../vectors/vectors.ts';
import { encode, recordLists } from '../encoded-batches.ts';

const where = { topic: 'orders', partition: 3 };

/** Decodes a part of a response, joined, and checks that nothing outside the part was written. */
function decodeJoined(bytes: Buffer, from = 0): ReadResult {
  const [before, after] = [Buffer.alloc(33, 0xff), Buffer.alloc(17, 0xff)];
  const response = Buffer.concat([before, bytes, after]);
  const end = before.length + bytes.length;
  const result = decodeRecordBatches(where, response, before.length, end, from, [], { joinValues: true });
  expect(response.subarray(0, before.length).equals(before) && response.subarray(end).equals(after)).to.equal(true);
  return result;
}

/** Decodes in memory with room behind the response. */
function decodeInReusedMemory(bytes: Buffer): ReadResult {
  const response = allocateResponse(Math.max(256 * 1024, bytes.length));
  bytes.copy(response);
  const memory = ResponseMemory.of(response) ?? expect.fail('its memory is not used again');
  const result = decodeRecordBatches(where, response, 0, bytes.length, 0, [], { joinValues: true, memory });
  memory.shared.release();
  return result;
}

function decode(bytes: Buffer, from = 0): ReadResult {
  return decodeRecordBatches(where, bytes, 0, bytes.length, from, []);
}

function events(count: number, bytes: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    key: index % 3 === 0 ? null : `account ${index}`,
    value: Buffer.from(`{"number":${index},"text":"${'x'.repeat(bytes)}"}`),
  }));
}

function joinedText({ batches: [batch] }: ReadResult): string | undefined {
  return batch?.bytes.toString('utf8', batch.valueStarts[0], batch.valueEnds[batch.count - 1]);
}

describe('joining the values of a batch', () => {
  it('separates them by single commas', () => {
    const records = events(100, 200);
    const result = decodeJoined(encode(records));
    expect(result.batches[0]?.contiguous).to.equal(true);
    expect(joinedText(result)).to.equal(records.map(({ value }) => String(value)).join(','));
  });

  it('puts those of the next batch behind them, if there is room for the keys elsewhere', () => {
    const bytes = Buffer.concat([0, 100, 200].map((baseOffset) => encode(events(100, 200), { baseOffset })));
    const { batches } = decodeInReusedMemory(bytes);
    expect(batches.map(({ contiguous }) => contiguous)).to.deep.equal([true, true, true]);
    const [first, , third] = batches;
    const list = first?.bytes.toString('utf8', first.valueStarts[0], third?.valueEnds[99]);
    expect(list?.split('},{')).to.have.length(300);
    expect(batches.map(recordsOf)).to.deep.equal(decode(bytes).batches.map(recordsOf));
  });

  it('spares a batch between others that is left as it is', () => {
    const parts = [events(100, 200), events(3, 10), events(100, 200), events(2, 3_000), events(50, 200)];
    let baseOffset = 0;
    const bytes = Buffer.concat(
      parts.map((records) => encode(records, { baseOffset: (baseOffset += records.length) - records.length })),
    );
    for (const { batches } of [decodeJoined(bytes), decodeInReusedMemory(bytes)]) {
      expect(batches.map(({ contiguous }) => contiguous)).to.deep.equal([true, false, true, false, true]);
      expect(batches.map(recordsOf)).to.deep.equal(decode(bytes).batches.map(recordsOf));
    }
  });

  it('leaves every record as it was', () => {
    fc.assert(
      fc.property(recordLists, fc.nat(3), fc.boolean(), fc.boolean(), (records, repeated, isReused, hasDeletions) => {
        const kept = hasDeletions
          ? records
          : records.map(({ key, value }) => ({ key, value: value ?? Buffer.alloc(0) }));
        const many = Array.from({ length: repeated + 1 }, () => kept).flat();
        const bytes = Buffer.concat([encode(many, { baseOffset: 7 }), encode(many, { baseOffset: 7 + many.length })]);
        const joined = isReused ? decodeInReusedMemory(bytes) : decodeJoined(bytes);
        const expected = decode(bytes);
        expect(joined.nextOffset).to.equal(expected.nextOffset);
        expect(JSON.stringify(joined.batches.map(recordsOf))).to.equal(JSON.stringify(expected.batches.map(recordsOf)));
      }),
    );
  });

  it("leaves the records of Kafka's own client as they were", () => {
    for (const vector of vectors.filter(({ batches }) => batches.every(({ compression }) => compression === 'none'))) {
      const bytes = bytesOf(vector);
      expect(decodeJoined(bytes).batches.map(recordsOf)).to.deep.equal(decode(bytes).batches.map(recordsOf));
    }
  });

  it('of one record less than the fewest is not done', () => {
    expect(decodeJoined(encode(events(8, 300))).batches[0]?.contiguous).to.equal(true);
    expect(decodeJoined(encode(events(7, 300))).batches[0]?.contiguous).to.equal(false);
  });

  it('of the most records is done, and of one more is not', () => {
    const most = events(16 * 1024, 0);
    const result = decodeJoined(encode(most));
    expect(result.batches[0]?.contiguous).to.equal(true);
    expect(joinedText(result)).to.equal(most.map(({ value }) => String(value)).join(','));
    expect(result.batches[0]?.key(16 * 1024 - 1)).to.equal(most.at(-1)?.key);
    const beyond = [...most, ...events(1, 0)];
    const other = decodeJoined(encode(beyond));
    expect(other.batches[0]?.contiguous).to.equal(false);
    expect(other.batches.map(recordsOf)).to.deep.equal(decode(encode(beyond)).batches.map(recordsOf));
  });

  it('of a batch that is too large to be loaded is not done', () => {
    const large = encode(events(9, 120_000));
    expect(decodeJoined(large).batches[0]?.contiguous).to.equal(false);
    expect(decodeJoined(large).batches.map(recordsOf)).to.deep.equal(decode(large).batches.map(recordsOf));
  });

  it('is not done beside a deletion, nor when earlier records are left out', () => {
    const records = events(100, 200);
    const deleting = records.with(50, { key: 'account', value: null });
    expect(decodeJoined(encode(deleting)).batches[0]?.contiguous).to.equal(false);
    const result = decodeJoined(encode(records), 60);
    expect(result.batches[0]?.contiguous).to.equal(false);
    expect(result.batches.map(recordsOf)).to.deep.equal(decode(encode(records), 60).batches.map(recordsOf));
  });
});
