import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { RecoveringCalls } from '../../src/redis/recovering-calls.ts';
import type { Recovery } from '../../src/redis/recovery.ts';
import type { ScriptCalls } from '../../src/redis/script-calls.ts';

describe('calls to a Redis that may have lost its data', () => {
  let losses: number;
  let made: number;
  let recoveries: number;
  let onRecover: () => void;
  let calls: RecoveringCalls;

  beforeEach(() => {
    [made, recoveries] = [0, 0];
    onRecover = () => {};
    const call = (): Promise<unknown[]> => {
      made += 1;
      return Promise.resolve([made <= losses ? 'INCARNATION' : 'OK']);
    };
    const recover = (): Promise<void> => {
      recoveries += 1;
      onRecover();
      return Promise.resolve();
    };
    const callShards = async (_name: string, shards: readonly number[]): Promise<unknown[][]> => {
      const reply = await call();
      return [[...reply, ...shards.flatMap((shard) => [10 * shard, shard === 2 ? '1' : '0'])]];
    };
    const incarnations = new Map([[2, 'second']]);
    calls = new RecoveringCalls(
      { call, callShard: call, callShards, incarnations } as unknown as ScriptCalls,
      { recover } as unknown as Recovery,
    );
  });

  it('are made again after a recovery, and again after three', async () => {
    losses = 1;
    expect(await calls.call('heartbeats', 'subscription', [])).to.deep.equal(['OK']);
    expect([made, recoveries]).to.deep.equal([2, 1]);
    losses = 5;
    expect(await calls.committedOffsets(0, [])).to.deep.equal(['OK']);
    expect([made, recoveries]).to.deep.equal([6, 4]);
  });

  it('are made again for all shards when one of them was lost, and for none when none is asked about', async () => {
    losses = 1;
    expect(await calls.shardStates([2, 3])).to.deep.equal([
      { incarnation: 'second', changes: '20', isUnsettled: true },
      { incarnation: '', changes: '30', isUnsettled: false },
    ]);
    expect([made, recoveries]).to.deep.equal([2, 1]);
    expect(await calls.shardStates([])).to.deep.equal([]);
    expect(made).to.equal(2);
  });

  it('fail when the data is lost for the fourth time', async () => {
    losses = Infinity;
    const failure: unknown = await calls.checkWatched(0, [], []).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect([made, recoveries]).to.deep.equal([4, 3]);
  });

  it('are not made again when the service shuts down during the recovery', async () => {
    losses = 1;
    onRecover = () => calls.close();
    const failure: unknown = await calls.call('heartbeats', 'subscription', []).catch((error: unknown) => error);
    expect(String(failure)).to.contain('The service is shutting down.');
    expect(made).to.equal(1);
  });
});
