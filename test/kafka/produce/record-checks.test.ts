import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordBytesMaximum, type CleanupPolicy, type LogRecord } from '../../../src/ports/event-log.ts';
import { PendingAppend } from '../../../src/kafka/produce/pending-append.ts';
import { outcomeMilliseconds, unsentMilliseconds } from '../../../src/kafka/produce/produce-outcome.ts';
import { checkRecords } from '../../../src/kafka/produce/record-checks.ts';
import { recordBytesBound } from '../../../src/kafka/protocol/record-batches/record-sizes.ts';
import { codeOf } from '../../support/log-reading.ts';

function check(records: readonly LogRecord[], policy: CleanupPolicy = 'delete'): Promise<unknown> {
  return codeOf(checkRecords({ topic: 'topic', partition: 0, records }, () => Promise.resolve(policy)));
}

describe('Records that are appended', () => {
  const value = Buffer.from('value');
  const bounds: [what: string, record: LogRecord, bytes: number][] = [
    ['without key and value', { key: null, value: null }, 32],
    ['with an empty value', { key: null, value: Buffer.alloc(0) }, 32],
    ['with a value', { key: null, value }, 32 + 5],
    ['with a key, each of whose characters may take three bytes', { key: 'key', value: null }, 32 + 9],
    ['with both', { key: 'key', value }, 32 + 9 + 5],
  ];
  for (const [what, record, bytes] of bounds) {
    it(`take up to ${bytes} bytes each ${what}`, () => {
      expect(recordBytesBound(record)).to.equal(bytes);
      const append = new PendingAppend([record, record, record], 0, () => {});
      expect(append.bytes).to.equal(3 * bytes);
    });
  }

  it('may have the maximum size together with their key, in UTF-8, and not a byte more', async () => {
    const sized = (key: string | null, bytes: number): LogRecord => ({ key, value: Buffer.alloc(bytes) });
    for (const [key, keyBytes] of [
      [null, 0],
      ['k'.repeat(1_000), 1_000],
      ['é'.repeat(1_000), 2_000],
    ] as const) {
      expect(await check([sized(key, recordBytesMaximum - keyBytes)])).to.equal(null);
      expect(await check([sized('small', 1), sized(key, recordBytesMaximum - keyBytes + 1)])).to.equal(
        'RECORD_TOO_LARGE',
      );
    }
    expect(await check([{ key: 'k'.repeat(recordBytesMaximum), value: null }])).to.equal(null);
    expect(await check([{ key: 'k'.repeat(recordBytesMaximum + 1), value: null }])).to.equal('RECORD_TOO_LARGE');
  });

  it('need a key where the topic is compacted', async () => {
    const [keyed, keyless] = [
      { key: '', value },
      { key: null, value },
    ];
    expect(await check([keyed, keyless], 'delete')).to.equal(null);
    for (const policy of ['compact', 'compact_and_delete'] as const) {
      expect(await check([keyed], policy)).to.equal(null);
      expect(await check([keyed, keyless], policy)).to.equal('UNPROCESSABLE');
    }
  });

  it('expire at their time, which is longer when they were sent', () => {
    const append = new PendingAppend([], 1_000, () => {});
    const times = [unsentMilliseconds - 1, unsentMilliseconds, outcomeMilliseconds - 1, outcomeMilliseconds];
    const expired = (isSent: boolean) => times.map((milliseconds) => append.isExpired(1_000 + milliseconds, isSent));
    expect(expired(false)).to.deep.equal([false, true, true, true]);
    expect(expired(true)).to.deep.equal([false, false, false, true]);
    expect([unsentMilliseconds, outcomeMilliseconds]).to.deep.equal([5_000, 15_000]);
  });
});
