import { expect } from 'chai';
import { describe, it } from 'mocha';
import { boundsOfPartition, endOfPartition } from '../../src/ports/partition-bounds.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { codeOf } from '../support/log-reading.ts';

const bounds = { topic: 't', partition: 1, earliest: 3, latest: 7 };
const logWith = (found: readonly (typeof bounds)[]) =>
  ({
    bounds: () => Promise.resolve(found),
    endOffsets: () => Promise.resolve(found),
  }) as unknown as EventLog;

describe('the bounds of a partition', () => {
  it('are those of the log', async () => {
    expect(await boundsOfPartition(logWith([bounds]), { topic: 't', partition: 1 })).to.deep.equal(bounds);
    expect(await endOfPartition(logWith([bounds]), { topic: 't', partition: 1 })).to.equal(7);
  });

  it('are an error when the response of the log lacks the partition', async () => {
    expect(await codeOf(boundsOfPartition(logWith([]), { topic: 't', partition: 1 }))).to.equal('INTERNAL');
    expect(await codeOf(endOfPartition(logWith([]), { topic: 't', partition: 1 }))).to.equal('INTERNAL');
  });
});
