import { expect } from 'chai';
import { describe, it } from 'mocha';
import { KeySpace, shardCount, shardOf } from '../../src/redis/keys.ts';
import { parsePartitionKey } from '../../src/ports/event-type-partition.ts';
import { decodeOffset, encodeOffset, isNewer } from '../../src/redis/stored-offset.ts';

describe('the keys in Redis', () => {
  const keys = new KeySpace('p');

  it('are in the shard of their subscription, which never changes', () => {
    expect(shardCount).to.equal(16);
    const known = { '': 5, a: 12, b: 5, 'f7fd1f2e-0a8f-4d8e-8ae6-0d3a4a7b7a11': 10, 'ü€😀': 8 };
    expect(Object.fromEntries(Object.keys(known).map((id) => [id, shardOf(id)]))).to.deep.equal(known);
    expect(keys.key('a', 'offsets')).to.equal(`{p:${shardOf('a')}}:a:offsets`);
  });

  it('are shared by all subscriptions of a shard where they belong to the shard', () => {
    for (const kind of ['shard', 'nodes', 'dirty'] as const) {
      expect(keys.key('a', kind)).to.equal(keys.shardKey(shardOf('a'), kind));
      expect(keys.shardKey(3, kind)).to.equal(`{p:3}:${kind}`);
    }
  });

  it('have different names from channels', () => {
    expect(keys.claim('x')).to.equal('p:claim:x');
    expect(keys.incarnations()).to.equal('p:incarnations');
    expect(keys.channel('a:b')).to.equal('p:changes:a:b');
    expect(keys.subscriptionOf(keys.channel('a:b'))).to.equal('a:b');
  });

  it('identify partitions of event types, even with colons in their names', () => {
    expect(parsePartitionKey('a:12')).to.deep.equal({ eventType: 'a', partition: 12 });
    expect(parsePartitionKey('a:b:0')).to.deep.equal({ eventType: 'a:b', partition: 0 });
  });
});

describe('a stored offset', () => {
  it('is written with its epoch', () => {
    expect(encodeOffset({ offset: -1, epoch: 4 })).to.equal('-1@4');
    expect(decodeOffset('12@0')).to.deep.equal({ offset: 12, epoch: 0 });
  });

  it('is compared by its epoch first, and then by the offset', () => {
    const at = (epoch: number, offset: number) => ({ epoch, offset });
    expect(isNewer(at(1, 0), at(0, 9))).to.equal(true);
    expect(isNewer(at(0, 9), at(1, 0))).to.equal(false);
    expect(isNewer(at(1, 2), at(1, 1))).to.equal(true);
    expect(isNewer(at(1, 1), at(1, 1))).to.equal(false);
    expect(isNewer(at(1, 1), at(1, 2))).to.equal(false);
  });
});
