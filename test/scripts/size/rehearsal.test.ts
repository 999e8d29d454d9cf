import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { rehearse, type Part, type RehearsedStore } from '../../../scripts/size/rehearsal.ts';
import { giveWay } from '../../../src/clock.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { openTemporaryLog, type TemporaryLog } from '../../support/temporary-log.ts';

const size = {
  subscriptions: 10,
  streamsPerSubscription: 4,
  partitionsPerSubscription: 10,
};

describe('The rehearsal of an installation', () => {
  let temporary: TemporaryLog;
  let clock: SimulatedClock;
  let coordination: EmbeddedCoordination;
  let processorMicroseconds: number;

  beforeEach(async () => {
    temporary = await openTemporaryLog();
    clock = new SimulatedClock();
    coordination = await EmbeddedCoordination.open({
      log: temporary.log,
      clock,
      logger: silentLogger,
    });
    processorMicroseconds = 0;
  });
  afterEach(async () => {
    await coordination.close();
    await temporary.cleanup();
  });

  /** Each look at the usage adds 40 µs and 400 bytes to it, so that every part has cost as much. */
  function storeOf(changed: Partial<Coordination> = {}): RehearsedStore {
    const changedCoordination = new Proxy(coordination, {
      get: (target, name): unknown => {
        const own = changed[name as keyof Coordination] ?? target[name as keyof Coordination];
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
    const usage = async (): Promise<{
      processorMicroseconds: number;
      bytes: number;
    }> => {
      processorMicroseconds += 40;
      return { processorMicroseconds, bytes: processorMicroseconds * 10 };
    };
    return { coordination: changedCoordination, clock, usage };
  }

  /** Turns the clock while the rehearsal runs, a second at a time. */
  async function rehearsed(store: RehearsedStore): Promise<Part[]> {
    const state = { isOver: false };
    const parts = rehearse(store, size, () => {}).finally(() => (state.isOver = true));
    parts.catch(() => undefined);
    while (!state.isOver) {
      await clock.turn(1_000);
      await giveWay();
    }
    return parts;
  }

  it('opens every stream, commits every partition, and shares the partitions of a dead node out again', async () => {
    const parts = await rehearsed(storeOf());
    expect(parts.map(({ name, count }) => [name, count])).to.deep.equal([
      ['subscriptions initialised', 10],
      ['streams opened', 40],
      ['subscriptions shared out', 10],
      ['commits', 100],
      ['subscriptions watched for six seconds', 10],
      ['the same while each shard changes', 10],
      ['subscriptions shared out after the death of a node', 10],
    ]);
  });

  it('says what each part cost the store for each of its operations', async () => {
    const [initialised, opened] = await rehearsed(storeOf());
    expect(initialised).to.include({ microsecondsEach: 4, bytesEach: 40 });
    expect(opened).to.include({ microsecondsEach: 1, bytesEach: 10 });
  });

  it('fails when the sessions of a dead node are not closed', async () => {
    const keepsSessions = storeOf({ reapSessions: async () => 0 });
    const failure = await rehearsed(keepsSessions).catch((error: unknown) => error);
    expect(String(failure)).to.include('3 streams share their partitions as 3, 3, 2, 2');
  });

  it('fails when a stream is left without its share', async () => {
    const keepsOwners = storeOf({
      applyOwnership: async () => 'conflict' as const,
    });
    const failure = await rehearsed(keepsOwners).catch((error: unknown) => error);
    expect(String(failure)).to.include('A partition has no open stream');
  });

  it('waits until a store that has lost everything answers again', async () => {
    const state = { failures: 0, isLost: false };
    const lost = storeOf({
      topology: async (id) => {
        if (state.isLost && state.failures < 3) {
          state.failures += 1;
          throw new Error('This Redis is being filled');
        }
        return await coordination.topology(id);
      },
    });
    const parts = await rehearsed({ ...lost, forget: async () => void (state.isLost = true) });
    expect(state.failures).to.equal(3);
    expect(parts.at(-1)).to.include({ name: 'cursors brought back into an empty Redis', count: 100 });
    expect(parts.at(-1)?.elapsedSeconds).to.be.at.least(0.3);
  });
});
