import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { formatOffset } from '../../../../src/broker/cursors/cursor-text.ts';
import {
  formatShardOffset,
  ownOffsetText,
  partitionOfShard,
  shardName,
} from '../../../../src/http/streaming/mambu/shards.ts';

const eventTypes = ['accounts', 'loans', 'payments'];

describe('a shard', () => {
  it('is the partition of a single event type, by its number', () => {
    expect(shardName(['loans'], { eventType: 'loans', partition: 0 })).to.equal('shardId-000000000000');
    expect(shardName(['loans'], { eventType: 'loans', partition: 999 })).to.equal('shardId-000000000999');
  });

  it('of several event types is counted by event type first, so that more partitions change no number', () => {
    const names = [0, 1].flatMap((partition) =>
      eventTypes.map((eventType) => shardName(eventTypes, { eventType, partition })),
    );
    expect(names).to.deep.equal([0, 1, 2, 3, 4, 5].map((number) => `shardId-00000000000${number}`));
  });

  it('has a name from which its partition is found', () => {
    const anyPartition = fc.record({ eventType: fc.constantFrom(...eventTypes), partition: fc.nat({ max: 999_999 }) });
    fc.assert(
      fc.property(anyPartition, (partition) => {
        expect(partitionOfShard(eventTypes, shardName(eventTypes, partition))).to.deep.equal(partition);
      }),
    );
  });

  it('is not named by any other text', () => {
    const texts = [
      '',
      '0',
      'shardId-',
      'shardId-0',
      'shardId-0000000000000',
      'ShardId-000000000000',
      ' shardId-000000000000',
    ];
    for (const text of texts) expect(partitionOfShard(eventTypes, text), text).to.equal(undefined);
  });
});

describe('an offset in a shard', () => {
  it('is a number of 56 digits, which grows with the offset and is read back from a number', () => {
    const texts = [-1, 0, 1, 41, Number.MAX_SAFE_INTEGER - 1].map(formatShardOffset);
    expect(texts[0]).to.equal(`49${'0'.repeat(54)}`);
    expect(texts[3]).to.equal(`49${'0'.repeat(52)}42`);
    for (const text of texts) {
      expect(text).to.have.length(56);
      expect(String(BigInt(text))).to.equal(text);
    }
    expect(texts.toSorted()).to.deep.equal(texts);
  });

  it("has the same meaning as an offset in the log's own form", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1, max: Number.MAX_SAFE_INTEGER - 1 }), (offset) => {
        expect(ownOffsetText(formatShardOffset(offset))).to.equal(formatOffset(offset));
      }),
    );
  });

  it('stays as it is in another form, which may be that of another API', () => {
    const texts = ['001-0001-000000000000000003', 'BEGIN', '7', '', `48${'0'.repeat(54)}`, `49${'0'.repeat(53)}`];
    for (const text of texts) expect(ownOffsetText(text)).to.equal(text);
  });

  it('is refused beyond what a log can count', () => {
    const last = BigInt(`49${'0'.repeat(54)}`) + BigInt(Number.MAX_SAFE_INTEGER);
    expect(ownOffsetText(String(last))).to.equal(formatOffset(Number.MAX_SAFE_INTEGER - 1));
    expect(() => ownOffsetText(`49${'9'.repeat(54)}`)).to.throw('invalid offset 49999');
    expect(() => ownOffsetText(String(last + 1n))).to.throw('invalid offset 49');
  });
});
