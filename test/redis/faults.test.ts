import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { Coordination } from '../../src/ports/coordination.ts';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';
import { isLendstreamError } from '../../src/errors.ts';
import type { RedisCoordination } from '../../src/redis/coordination.ts';
import { redisClient, startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const eventType = 'faults.loans';
const subscriptionCount = 6;
const partitionCount = 2;

interface Committing {
  readonly id: string;
  readonly streamId: string;
  readonly partition: number;
  readonly process: Coordination;
}

/** Streams of two processes that commit one offset after another, each through either process. */
class Load {
  readonly subscriptions = Array.from({ length: subscriptionCount }, () => randomUUID());
  /** Acknowledged, by subscription and partition. */
  readonly acknowledged = new Map<string, number>();
  refusals = 0;
  longestRefusalMilliseconds = 0;
  readonly #processes: readonly Coordination[];
  #isStopping = false;
  #loops: Promise<void>[] = [];

  constructor(processes: readonly Coordination[]) {
    this.#processes = processes;
  }

  async start(): Promise<void> {
    for (const [index, process] of this.#processes.entries()) await process.renewLease(`node-${index}`, 60_000);
    const streams = await Promise.all(this.subscriptions.map((id) => this.#open(id)));
    this.#loops = streams.flat().map((stream) => this.#commit(stream));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
  }

  /** Resolves when each partition has taken another commit. */
  async progress(): Promise<void> {
    const before = new Map(this.acknowledged);
    const deadline = performance.now() + 15_000;
    while (
      this.acknowledged.size < subscriptionCount * partitionCount ||
      [...this.acknowledged].some(([key, offset]) => offset <= (before.get(key) ?? -1))
    ) {
      if (performance.now() > deadline) throw new Error('Commits do not go on');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /**
   * The committed offsets compared with the acknowledged ones: how far each partition is behind; 0 or less is correct.
   */
  async behind(process: Coordination): Promise<number> {
    let behind = -Infinity;
    for (const id of this.subscriptions) {
      for (const { partition, offset } of await process.committedOffsets(id)) {
        behind = Math.max(behind, (this.acknowledged.get(`${id}/${partition}`) ?? -1) - offset);
      }
    }
    return behind;
  }

  async fences(process: Coordination): Promise<number[]> {
    const topologies = await Promise.all(this.subscriptions.map((id) => process.topology(id)));
    return topologies.flatMap(({ partitions }) => partitions.map(({ fence }) => fence));
  }

  async #open(id: string): Promise<Committing[]> {
    const startOffsets = Array.from({ length: partitionCount }, (_, partition) => ({
      eventType,
      partition,
      offset: -1,
    }));
    await this.#processes[0]?.initialise(id, startOffsets);
    for (const [index, process] of this.#processes.entries()) {
      const session = {
        streamId: randomUUID(),
        nodeId: `node-${index}`,
        requestedPartitions: [],
        openedAt: index,
        commitTimeoutMilliseconds: 0,
      };
      await process.openSession(id, session);
    }
    const [process] = this.#processes;
    if (process === undefined) throw new Error('There is no process');
    const { generation, sessions, partitions } = await process.topology(id);
    await process.applyOwnership(id, generation, rebalance(sessions, partitions));
    // As the streams do: each process checks what its streams own.
    const topologies = await Promise.all(this.#processes.map((each) => each.topology(id)));
    return (topologies[0]?.partitions ?? []).map(({ partition, streamId }, index) => ({
      id,
      streamId: streamId ?? '',
      partition,
      process: this.#processes[index % this.#processes.length] ?? process,
    }));
  }

  async #commit({ id, streamId, partition, process }: Committing): Promise<void> {
    for (let offset = 0; !this.#isStopping;) {
      const begun = performance.now();
      try {
        const result = await process.commit(id, streamId, [{ eventType, partition, offset }]);
        expect(result.outcome, 'an open stream keeps its partition').to.equal('committed');
        this.acknowledged.set(`${id}/${partition}`, offset);
        offset += 1;
      } catch (error) {
        if (!isLendstreamError(error, 'COORDINATION_UNAVAILABLE')) throw error;
        this.refusals += 1;
        this.longestRefusalMilliseconds = Math.max(this.longestRefusalMilliseconds, performance.now() - begun);
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

describe('commits while Redis fails', function () {
  this.timeout(60_000);
  let primary: RedisServer;
  let proxy: TcpProxy;

  before(async () => {
    primary = await startRedisServer('--appendonly', 'yes', '--repl-diskless-sync-delay', '0');
    proxy = await openTcpProxy({ host: '127.0.0.1', port: primary.port });
  });

  after(async () => {
    await proxy.close();
    await primary.stop();
  });

  /** Runs a fault under load. Afterwards every acknowledged commit is stored, and fences have not shrunk. */
  const underLoad = async (
    fault: (load: Load, harness: RedisHarness, processes: readonly RedisCoordination[]) => Promise<void>,
  ): Promise<Load> => {
    const harness = await openRedisHarness(`redis://127.0.0.1:${proxy.port}`);
    try {
      const processes = [await harness.open(), await harness.open()] as const;
      const load = new Load(processes);
      await load.start();
      await load.progress();
      const fences = await load.fences(processes[0]);
      try {
        await fault(load, harness, processes);
        await load.progress();
      } finally {
        await load.stop();
      }
      for (const process of processes) expect(await load.behind(process), 'nothing is lost').to.be.at.most(0);
      for (const [index, fence] of (await load.fences(processes[1])).entries()) {
        expect(fence, 'fences do not shrink').to.be.at.least(fences[index] ?? Infinity);
      }
      return load;
    } finally {
      await harness.close();
    }
  };

  it('are kept although everything is deleted three times', async () => {
    await underLoad(async (load, harness) => {
      for (let round = 0; round < 3; round += 1) {
        await harness.client.flushall();
        await load.progress();
      }
    });
  });

  it('are kept although Redis is killed and restarts with what it had stored', async () => {
    const load = await underLoad(async () => {
      await primary.kill();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await primary.restart();
    });
    expect(load.refusals).to.be.greaterThan(0);
  });

  it('are refused immediately while Redis is unreachable', async () => {
    const load = await underLoad(async () => {
      proxy.setMode({ kind: 'cut' });
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      proxy.setMode({ kind: 'pass' });
    });
    expect(load.refusals).to.be.greaterThan(100);
    // Not only when it is reachable again.
    expect(load.longestRefusalMilliseconds).to.be.below(4_000);
  });

  it('are refused in a few seconds when Redis stops responding, and the next ones immediately', async () => {
    const load = await underLoad(async () => {
      proxy.setMode({ kind: 'half-open' });
      await new Promise((resolve) => setTimeout(resolve, 8_000));
      proxy.setMode({ kind: 'pass' });
    });
    expect(load.refusals).to.be.greaterThan(100);
    // Not only when it responds again.
    expect(load.longestRefusalMilliseconds).to.be.within(1_500, 7_000);
  });

  it('are kept although the primary is lost and a lagging replica takes over', async () => {
    const replica = await startRedisServer('--replicaof', '127.0.0.1', String(primary.port));
    const client = redisClient(replica.url);
    try {
      await underLoad(async (load, harness) => {
        await eventuallyInSync(client);
        // From here on the replica receives nothing more, and the primary continues.
        await client.call('REPLICAOF', 'NO', 'ONE');
        await load.progress();
        await load.progress();
        const keys = await harness.client.keys(`{${harness.keyPrefix}:*:offsets`);
        expect(keys).to.have.length(subscriptionCount);
        proxy.setMode({ kind: 'cut' });
        proxy.setTarget({ host: '127.0.0.1', port: replica.port });
        await primary.kill();
        proxy.setMode({ kind: 'pass' });
      });
    } finally {
      client.disconnect();
      proxy.setTarget({ host: '127.0.0.1', port: primary.port });
      await primary.restart();
      await replica.stop();
    }
  });

  async function eventuallyInSync(client: ReturnType<typeof redisClient>): Promise<void> {
    const deadline = performance.now() + 10_000;
    while (!(await client.info('replication')).includes('master_link_status:up')) {
      if (performance.now() > deadline) throw new Error('The replica does not follow');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});
