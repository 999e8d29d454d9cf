import { after, before, describe, it } from 'mocha';
import { randomNumbers } from '../support/random-numbers.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';
import { Model, type ModelWorld } from './model.ts';
import { partOrWhole } from '../support/values/extent.ts';

const runsAtOnce = 10;

const longHistories = partOrWhole(4, 20);
const lossyHistories = partOrWhole(5, 10);

describe('random histories of streams, nodes and processes on Redis', function () {
  this.timeout(120_000);
  let server: RedisServer;
  /** A failure prints its seed: set it here to repeat it. */
  const firstSeed = Math.floor(Math.random() * 1_000_000_000);

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  const worldOf = async (harness: RedisHarness): Promise<ModelWorld> => ({
    processes: [await harness.open(), await harness.open()],
  });

  const run = async (seed: number, steps: number, world: ModelWorld): Promise<void> => {
    const model = new Model(world, randomNumbers(seed));
    try {
      await model.run(steps);
    } catch (error) {
      const trace = model.trace.slice(-30).join(', ');
      throw new Error(`Seed ${seed} failed at step ${model.trace.length} after ${trace}`, { cause: error });
    }
  };

  it(`${longHistories} of 400 steps keep every invariant`, async () => {
    const harness = await openRedisHarness(server.url);
    try {
      const world = await worldOf(harness);
      const seeds = Array.from({ length: longHistories }, (_, index) => firstSeed + index).values();
      const lane = async (): Promise<void> => {
        for (const seed of seeds) await run(seed, 400, world);
      };
      await Promise.all(Array.from({ length: runsAtOnce }, lane));
    } finally {
      await harness.close();
    }
  });

  it(`${lossyHistories} of 100 steps keep them while Redis loses everything repeatedly`, async () => {
    for (let index = 0; index < lossyHistories; index += 1) {
      const harness = await openRedisHarness(server.url);
      try {
        const world = await worldOf(harness);
        const loseEverything = async (): Promise<void> => {
          await harness.client.flushall();
        };
        await run(firstSeed + index, 100, { ...world, loseEverything });
      } finally {
        await harness.close();
      }
    }
  });
});
