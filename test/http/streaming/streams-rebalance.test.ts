import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import { eventually } from '../../support/eventually.ts';
import { startStreamServer, type StreamClient, type StreamServer } from '../../support/http/stream-server.ts';

function sortedNumbers(numbers: readonly number[]): number[] {
  return numbers.toSorted((left, right) => left - right);
}

describe('several streams of one subscription', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  afterEach(() => server.disconnectAll());

  after(() => server.stop());

  async function prepare(partitionCount: number): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(partitionCount);
    return { type, id: await server.subscribe([type]) };
  }

  function direct(type: string, ...partitions: number[]) {
    return {
      body: { partitions: partitions.map((partition) => ({ event_type: type, partition: String(partition) })) },
    };
  }

  /** The partitions that each stream owns, once none is being reassigned. */
  async function shares(id: string, clients: readonly StreamClient[]): Promise<number[][]> {
    const { partitions } = await server.coordination.topology(id);
    return clients.map(({ streamId }) =>
      partitions
        .filter((ownership) => ownership.state === 'assigned' && ownership.streamId === streamId)
        .map(({ partition }) => partition),
    );
  }

  async function counts(id: string, clients: readonly StreamClient[]): Promise<number[]> {
    return (await shares(id, clients)).map(({ length }) => length);
  }

  async function awaitShares(id: string, clients: readonly StreamClient[], expected: readonly number[]): Promise<void> {
    const sorted = async () => sortedNumbers(await counts(id, clients)).join();
    await eventually(async () => (await sorted()) === sortedNumbers(expected).join());
  }

  function closeAll(clients: readonly StreamClient[]): void {
    for (const client of clients) client.destroy();
  }

  it('share the partitions equally, also when a third opens and when one ends; a fifth is refused', async () => {
    const { id } = await prepare(4);
    const clients = [await server.open(id)];
    await awaitShares(id, clients, [4]);
    clients.push(await server.open(id));
    await awaitShares(id, clients, [2, 2]);
    clients.push(await server.open(id));
    await awaitShares(id, clients, [1, 1, 2]);
    clients.push(await server.open(id));
    await awaitShares(id, clients, [1, 1, 1, 1]);
    const fifth = await server.open(id);
    expect((await fifth.problem()).detail).to.equal(
      `No free slots for streaming available for subscription ${id}. Total slots: 4`,
    );
    clients.shift()?.destroy();
    await awaitShares(id, clients, [1, 1, 2]);
    clients.pop()?.destroy();
    clients.pop()?.destroy();
    await awaitShares(id, clients, [4]);
    closeAll(clients);
  });

  it('deliver from the partitions that they own, each after its committed offset', async () => {
    const { id, type } = await prepare(4);
    for (const partition of [0, 1, 2, 3]) await server.publish(type, partition, [partition * 10, partition * 10 + 1]);
    const query = '?max_uncommitted_events=100&batch_flush_timeout=1';
    const first = await server.open(id, { query });
    await first.until(() => first.numbers.length === 8);
    await server.commit(id, first.streamId, first.cursors);
    const second = await server.open(id, { query: `${query}&stream_limit=4` });
    await awaitShares(id, [first, second], [2, 2]);
    for (const partition of [0, 1, 2, 3])
      await server.publish(type, partition, [partition * 10 + 2, partition * 10 + 3]);
    await second.until(() => second.numbers.length === 4);
    await first.until(() => first.numbers.length === 12);
    expect(second.numbers.every((number) => number % 10 >= 2)).to.equal(true);
    const all = [...first.numbers.slice(8), ...second.numbers].sort((left, right) => left - right);
    expect(all).to.deep.equal([2, 3, 12, 13, 22, 23, 32, 33]);
    await server.commit(id, second.streamId, second.cursors);
    await second.ended;
    expect(second.lastInfo?.code).to.equal('stream_limit');
    await awaitShares(id, [first], [4]);
    for (const partition of [0, 1, 2, 3]) await server.publish(type, partition, [99]);
    await first.until(() => first.numbers.filter((number) => number === 99).length === 4);
    first.destroy();
  });

  it('hand a partition over only when what was sent of it is committed', async () => {
    const { id, type } = await prepare(2);
    await server.publish(type, 0, [0]);
    await server.publish(type, 1, [1]);
    const first = await server.open(id, { query: '?commit_timeout=30' });
    await first.until(() => first.numbers.length === 2);
    const second = await server.open(id);
    await eventually(async () =>
      (await server.coordination.topology(id)).partitions.some(({ state }) => state === 'reassigning'),
    );
    const moving = (await server.coordination.topology(id)).partitions.find(({ state }) => state === 'reassigning');
    const movingPartition = moving?.partition ?? 0;
    // The first stream may still send it: it hears of the change a moment later.
    await server.publish(type, movingPartition, [2]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(second.numbers).to.deep.equal([]);
    expect(await counts(id, [first, second])).to.deep.equal([1, 0]);
    const commitMoving = () => {
      const cursors = first.cursors.filter(({ partition }) => Number(partition) === movingPartition);
      return server.commit(id, first.streamId, cursors);
    };
    await eventually(async () => {
      await commitMoving();
      return (await counts(id, [first, second])).join() === '1,1';
    });
    await server.publish(type, movingPartition, [3]);
    await second.until(() => second.numbers.includes(3));
    expect([...first.numbers, ...second.numbers]).to.have.members([0, 1, 2, 3]);
    expect(first.numbers).not.to.include(3);
    expect((await commitMoving()).outcome).to.equal('not_owner');
    closeAll([first, second]);
  });

  it('deliver again what the previous owner did not commit in time', async () => {
    const { id, type } = await prepare(2);
    await server.publish(type, 0, [0]);
    await server.publish(type, 1, [1]);
    const first = await server.open(id, { query: '?commit_timeout=1' });
    await first.until(() => first.numbers.length === 2);
    const second = await server.open(id, { query: '?batch_flush_timeout=1' });
    await second.until(() => second.numbers.length === 2);
    expect(second.numbers).to.have.members([0, 1]);
    await first.ended;
    expect(first.lastInfo?.code).to.equal('commit_timeout');
    second.destroy();
  });

  it('end completely when one partition is still uncommitted at the deadline of its hand-over', async () => {
    const { id, type } = await prepare(2);
    await server.publish(type, 0, [0]);
    await server.publish(type, 1, [1, 2, 3, 4, 5, 6, 7, 8]);
    const first = await server.open(id, { query: '?commit_timeout=4&max_uncommitted_events=100' });
    await first.until(() => first.numbers.length === 9);
    const second = await server.open(id);
    await eventually(async () =>
      (await server.coordination.topology(id)).partitions.some(({ state }) => state === 'reassigning'),
    );
    const moving = (await server.coordination.topology(id)).partitions.find(({ state }) => state === 'reassigning');
    expect(moving?.partition).to.equal(1);
    // Commits of the other partition prevent the commit timeout.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const other = first.cursors.filter(({ partition }) => partition === '0');
    expect((await server.commit(id, first.streamId, other)).outcome).to.equal('committed');
    await first.until(() => first.lastInfo?.code !== undefined);
    expect(first.lastInfo?.code).to.equal('handover_timeout');
    second.destroy();
    first.destroy();
  });

  describe('with requested partitions', () => {
    it('get those and no others', async () => {
      const { id, type } = await prepare(8);
      for (let partition = 0; partition < 8; partition += 1) await server.publish(type, partition, [partition]);
      const client = await server.open(id, direct(type, 5, 6));
      await client.until(() => client.numbers.length === 2);
      expect(sortedNumbers(client.numbers)).to.deep.equal([5, 6]);
      expect((await server.commit(id, client.streamId, client.cursors)).outcome).to.equal('committed');
      client.destroy();
    });

    it('leave the rest to the other streams, in equal shares', async () => {
      const { id, type } = await prepare(8);
      const clients = [
        await server.open(id),
        await server.open(id),
        await server.open(id, direct(type, 6)),
        await server.open(id, direct(type, 7)),
      ];
      await awaitShares(id, clients, [1, 1, 3, 3]);
      expect((await shares(id, clients)).slice(2)).to.deep.equal([[6], [7]]);
      closeAll(clients);
    });

    it('take a partition from its owner and return it when they end', async () => {
      const { id, type } = await prepare(8);
      const auto = await server.open(id);
      await awaitShares(id, [auto], [8]);
      const taking = await server.open(id, direct(type, 6));
      await awaitShares(id, [auto, taking], [1, 7]);
      await server.publish(type, 6, [6]);
      await taking.until(() => taking.numbers.length === 1);
      await server.commit(id, taking.streamId, taking.cursors);
      taking.destroy();
      await awaitShares(id, [auto], [8]);
      await server.publish(type, 6, [7]);
      await auto.until(() => auto.numbers.length === 1);
      expect(auto.numbers).to.deep.equal([7]);
      auto.destroy();
    });

    it('reduce the number of slots for other streams', async () => {
      const { id, type } = await prepare(8);
      const taking = await server.open(id, direct(type, 0, 1, 2, 3, 4, 5, 6));
      const auto = await server.open(id);
      expect(auto.status).to.equal(200);
      expect((await server.open(id)).status).to.equal(409);
      closeAll([taking, auto]);
    });

    it('are given to only one of two streams that request them at the same time', async () => {
      const { id, type } = await prepare(2);
      const clients = await Promise.all([server.open(id, direct(type, 1)), server.open(id, direct(type, 1))]);
      expect(sortedNumbers(clients.map(({ status }) => status))).to.deep.equal([200, 409]);
      closeAll(clients);
    });

    it('end the newest of the streams that cannot get a partition, with the reason', async () => {
      const { id, type } = await prepare(3);
      const older = await server.open(id);
      await awaitShares(id, [older], [3]);
      // Of two streams opened in the same millisecond, neither is the newest.
      const openedBefore = Date.now();
      await eventually(() => Date.now() > openedBefore);
      const younger = await server.open(id);
      await awaitShares(id, [older, younger], [1, 2]);
      const taking = await server.open(id, direct(type, 0, 1));
      await younger.ended;
      expect(younger.lastInfo).to.deep.equal({
        debug: 'No partition is left for this stream: other streams requested them directly',
        code: 'no_free_slots',
      });
      await eventually(async () => JSON.stringify(await shares(id, [older, taking])) === '[[2],[0,1]]');
      closeAll([older, taking]);
    });
  });

  it('never omit an event and never reorder a partition, whichever streams join and leave', async () => {
    const { id, type } = await prepare(3);
    const perPartition = 300;
    const received = new Map<string, number[]>();
    const committed = new Map<string, number>();
    const open: StreamClient[] = [];
    const watched = new WeakMap<StreamClient, number>();

    const harvest = async (client: StreamClient): Promise<void> => {
      const from = watched.get(client) ?? 0;
      const fresh = client.batches.slice(from);
      watched.set(client, client.batches.length);
      for (const { cursor, events } of fresh) {
        const key = `${client.streamId}:${cursor.partition}`;
        const list = received.get(key) ?? [];
        list.push(...(events ?? []).map(({ number }) => Number(number)));
        received.set(key, list);
      }
      const cursors = fresh.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor);
      if (cursors.length > 0) await server.commit(id, client.streamId, cursors);
    };

    const publishing = (async () => {
      for (let number = 0; number < perPartition; number += 5) {
        for (const partition of [0, 1, 2]) {
          await server.publish(
            type,
            partition,
            [0, 1, 2, 3, 4].map((step) => number + step),
          );
        }
      }
    })();
    const query = '?batch_limit=3&max_uncommitted_events=20&batch_flush_timeout=1';
    for (let turn = 0; turn < 40; turn += 1) {
      if (open.length < 3) {
        const client = await server.open(id, { query });
        if (client.status === 200) open.push(client);
        else client.destroy();
      }
      await Promise.all(open.map(harvest));
      await new Promise((resolve) => setTimeout(resolve, 15));
      if (turn % 4 === 3) open.shift()?.destroy();
    }
    await publishing;
    await eventually(async () => {
      if (open.length === 0) open.push(await server.open(id, { query }));
      await Promise.all(open.map(harvest));
      for (const partition of await server.coordination.committedOffsets(id))
        committed.set(partitionKey(partition), partition.offset);
      return [...committed.values()].every((offset) => offset === perPartition - 1);
    });

    const seen = new Map<string, Set<number>>();
    for (const [key, numbers] of received) {
      expect(numbers, 'order within a stream').to.deep.equal(sortedNumbers(numbers));
      expect(new Set(numbers).size, 'no event twice on one stream').to.equal(numbers.length);
      const partition = key.slice(key.lastIndexOf(':') + 1);
      seen.set(partition, new Set([...(seen.get(partition) ?? []), ...numbers]));
    }
    for (const partition of ['0', '1', '2']) expect(seen.get(partition)?.size).to.equal(perPartition);
    closeAll(open);
  });
});
