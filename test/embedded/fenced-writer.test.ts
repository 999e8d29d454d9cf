import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { PackedPartitionRecords, packRecords } from '../../src/ports/packed-records.ts';
import { codeOf, readAll, records } from '../support/log-reading.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';
import type { TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 0 };
const mebibyte = 1024 * 1024;

describe('a writer of the embedded log', () => {
  let temporary: TemporaryLog;
  before(async () => {
    temporary = await openTemporaryLog();
    await temporary.log.createTopic({
      name: where.topic,
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: Infinity,
    });
  });
  after(() => temporary.cleanup());

  it('accepts 64 MiB in one transaction, and no byte more', async () => {
    const writer = await temporary.log.openWriter('large');
    const packed = packRecords([{ key: null, value: Buffer.alloc(8 * mebibyte, 'x') }]);
    const append = (): Promise<void> => writer.append([new PackedPartitionRecords('orders', 0, packed)]);
    await append();
    await writer.abort();
    // What was aborted does not count.
    for (let count = 0; count < 8; count += 1) await append();
    expect(await codeOf(writer.append([{ ...where, records: records('x') }]))).to.equal('OVERLOADED');
    expect(await codeOf(writer.commit()), 'it cannot be used after an error').to.equal('OVERLOADED');
    expect(await readAll(temporary.log, where)).to.deep.equal([]);
  });

  it('fails with the first reason that ended it', async () => {
    const writerId = randomUUID();
    const fenced = await temporary.log.openWriter(writerId);
    const closed = await temporary.log.openWriter(writerId);
    await fenced.close();
    expect(await codeOf(fenced.abort())).to.equal('WRITER_FENCED');
    await closed.close();
    await temporary.log.openWriter(writerId);
    expect(await codeOf(closed.abort())).to.equal('LOG_CLOSED');
  });

  it('leaves the writer that fenced it open when it is closed', async () => {
    const writerId = randomUUID();
    const fenced = await temporary.log.openWriter(writerId);
    const open = await temporary.log.openWriter(writerId);
    await fenced.close();
    const next = await temporary.log.openWriter(writerId);
    expect(await codeOf(open.abort())).to.equal('WRITER_FENCED');
    await next.close();
  });
});
