import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { KeySpace, shardOf } from '../../src/redis/keys.ts';
import { OffsetReads, subscriptionsPerRead } from '../../src/redis/offset-reads.ts';

describe('reads of committed offsets', () => {
  const keys = new KeySpace('test');
  /** Enough ids of the shard of the first one for a call and one more. */
  const ids = Array.from({ length: subscriptionsPerRead * 40 }, (_, number) => `subscription-${number}`).filter(
    (id) => shardOf(id) === shardOf('subscription-0'),
  );
  const otherId = Array.from({ length: 100 }, (_, number) => `other-${number}`).find(
    (id) => shardOf(id) !== shardOf('subscription-0'),
  ) as string;
  let calls: { readonly shard: number; readonly count: number }[];
  let failure: Error | undefined;
  let reads: OffsetReads;

  beforeEach(() => {
    calls = [];
    failure = undefined;
    reads = new OffsetReads(keys, async (shard, offsetKeys) => {
      calls.push({ shard, count: offsetKeys.length });
      if (failure !== undefined) throw failure;
      return ['OK', ...offsetKeys.map((key) => [`${key}:0`, '1@1'])];
    });
  });

  const read = (...wanted: string[]): Promise<(readonly string[])[]> => Promise.all(wanted.map((id) => reads.read(id)));

  const expected = (id: string): string[] => [`${keys.key(id, 'offsets')}:0`, '1@1'];

  it('share one call for each shard when they begin together, and each gets its own', async () => {
    const wanted = [...ids.slice(0, 3), otherId];
    expect(await read(...wanted)).to.deep.equal(wanted.map(expected));
    expect(calls).to.deep.equal([
      { shard: shardOf('subscription-0'), count: 3 },
      { shard: shardOf(otherId), count: 1 },
    ]);
    expect(await read(otherId)).to.deep.equal([expected(otherId)]);
    expect(calls, 'later ones have their own').to.have.length(3);
  });

  it('are split when they are too many for one call', async () => {
    const wanted = ids.slice(0, subscriptionsPerRead + 1);
    expect(wanted).to.have.length(subscriptionsPerRead + 1);
    expect(await read(...wanted)).to.deep.equal(wanted.map(expected));
    expect(calls.map(({ count }) => count)).to.deep.equal([subscriptionsPerRead, 1]);
  });

  it('fail together, and the next ones are read again', async () => {
    failure = new Error('lost');
    const outcomes = await Promise.allSettled(ids.slice(0, 2).map((id) => reads.read(id)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    failure = undefined;
    expect(await read(ids[0] as string)).to.deep.equal([expected(ids[0] as string)]);
    expect(calls).to.have.length(2);
  });
});
