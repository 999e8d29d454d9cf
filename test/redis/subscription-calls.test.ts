import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { KeySpace, shardOf } from '../../src/redis/keys.ts';
import { SubscriptionCalls } from '../../src/redis/subscription-calls.ts';

const subscriptionsPerCall = 50;

describe('calls for subscriptions', () => {
  const keys = new KeySpace('test');
  /** Enough ids of the shard of the first one for a call and one more. */
  const ids = Array.from({ length: subscriptionsPerCall * 40 }, (_, number) => `subscription-${number}`).filter(
    (id) => shardOf(id) === shardOf('subscription-0'),
  );
  const otherId = Array.from({ length: 100 }, (_, number) => `other-${number}`).find(
    (id) => shardOf(id) !== shardOf('subscription-0'),
  ) as string;
  let calls: { readonly shard: number; readonly count: number }[];
  let failure: Error | undefined;
  let reads: SubscriptionCalls<readonly string[]>;

  beforeEach(() => {
    calls = [];
    failure = undefined;
    reads = new SubscriptionCalls<readonly string[]>({
      keys,
      kinds: ['meta', 'offsets'],
      subscriptionsPerCall,
      call: async (shard, all) => {
        calls.push({ shard, count: all.length / 2 });
        if (failure !== undefined) throw failure;
        return ['OK', ...all.filter((_, index) => index % 2 === 1).map((key) => [`${key}:0`, '1@1'])];
      },
      none: [],
    });
  });

  const read = (...wanted: string[]): Promise<(readonly string[])[]> => Promise.all(wanted.map((id) => reads.of(id)));

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

  it('take the values of all of them in the same order', async () => {
    const taken: unknown[] = [];
    const writes = new SubscriptionCalls<string>({
      keys,
      kinds: ['commits'],
      subscriptionsPerCall,
      call: async (_shard, all, values) => {
        taken.push([all.length, values]);
        return ['OK'];
      },
      none: 'none',
    });
    const [first = '', second = ''] = ids;
    expect(await Promise.all([writes.of(first, [1, 'a']), writes.of(second, [2])])).to.deep.equal(['none', 'none']);
    expect(taken).to.deep.equal([[2, [1, 'a', 2]]]);
  });

  it('are split when they are too many for one call', async () => {
    const wanted = ids.slice(0, subscriptionsPerCall + 1);
    expect(wanted).to.have.length(subscriptionsPerCall + 1);
    expect(await read(...wanted)).to.deep.equal(wanted.map(expected));
    expect(calls.map(({ count }) => count)).to.deep.equal([subscriptionsPerCall, 1]);
  });

  it('fail together, and the next ones are read again', async () => {
    failure = new Error('lost');
    const outcomes = await Promise.allSettled(ids.slice(0, 2).map((id) => reads.of(id)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    failure = undefined;
    expect(await read(ids[0] as string)).to.deep.equal([expected(ids[0] as string)]);
    expect(calls).to.have.length(2);
  });
});
