import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommitCalls } from '../../src/redis/commit-calls.ts';
import { KeySpace, shardOf } from '../../src/redis/keys.ts';
import type { ShardOfCall } from '../../src/redis/script-calls.ts';
import { failureOf } from '../support/thrown-errors.ts';

interface Call {
  readonly shards: readonly ShardOfCall[];
  readonly values: readonly (string | number)[];
  readonly keys: readonly string[];
  answer(...replies: (string | readonly string[])[]): void;
  fail(error: Error): void;
}

const at = (partition: number, offset: number) => ({ eventType: 'loans', partition, offset });

/** Calls that wait until they are answered. @param isOneRedis Whether all shards are in one Redis. */
function waitingCalls(isOneRedis = true): { calls: Call[]; commits: CommitCalls } {
  const calls: Call[] = [];
  const commits = new CommitCalls(
    new KeySpace('p'),
    isOneRedis,
    (shards, values, keys) =>
      new Promise((resolve, reject) => {
        calls.push({ shards, values, keys, answer: (...replies) => resolve(['OK', ...replies]), fail: reject });
      }),
  );
  return { calls, commits };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The turn of the event loop in which calls are made, at the latest: the one after what led to them. */
async function callsMade(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function idIn(shard: number, besides = ''): string {
  for (let number = 0; ; number += 1) {
    const id = `subscription-${number}`;
    if (id !== besides && shardOf(id) === shard) return id;
  }
}

/** The numbers of the shards of each call. */
function shardsOf(calls: readonly Call[]): number[][] {
  return calls.map(({ shards }) => shards.map(({ shard }) => shard));
}

/** How many cursors a call takes at the most, unless a single commit has more. */
const cursorsPerCall = 200;

describe('calls for commits', () => {
  const [first, second] = [idIn(3), idIn(3, idIn(3))];

  it('are one for the commits of a turn, by subscription, and one for those that arrive while it is under way', async () => {
    const { calls, commits } = waitingCalls();
    const replies = [
      commits.commit(first, 'a', [at(0, 5)], true),
      commits.commit(second, 'b', [{ ...at(1, 6), fence: 7 }], false),
      commits.commit(first, 'c', [], true),
    ];
    await callsMade();
    replies.push(commits.commit(second, 'd', [at(2, 9), at(3, 8)], true), commits.commit(first, 'e', [], false));
    await callsMade();
    expect(calls).to.have.length(1);
    expect(calls[0]?.shards).to.deep.equal([{ shard: 3, subscriptions: 2 }]);
    const key = (id: string, kind: string): string => `{p:3}:${id}:${kind}`;
    const keysOf = (id: string): string[] => ['meta', 'owners', 'offsets', 'sessions'].map((kind) => key(id, kind));
    expect(calls[0]?.keys).to.deep.equal([...keysOf(first), ...keysOf(second)]);
    const ofFirst = [first, 2, 'a', '0', 1, 'loans:0', '', 5, 'c', '0', 0];
    expect(calls[0]?.values).to.deep.equal([...ofFirst, second, 1, 'b', '1', 1, 'loans:1', 7, 6]);
    calls[0]?.answer(['for a'], ['for c'], ['for b']);
    expect(await Promise.all(replies.slice(0, 3))).to.deep.equal([['for a'], ['for b'], ['for c']]);
    await callsMade();
    expect(calls).to.have.length(2);
    calls[1]?.answer('OK 17 0', ['for e']);
    expect(await Promise.all(replies.slice(3))).to.deep.equal([['OK', '17', '0'], ['for e']]);
  });

  it('of all shards are one to one Redis', async () => {
    const { calls, commits } = waitingCalls();
    const replies = [
      commits.commit(first, 'a', [at(0, 5)], true),
      commits.commit(idIn(4), 'b', [at(1, 6)], true),
      commits.commit(second, 'c', [], true),
    ];
    await callsMade();
    const inOrder = [
      { shard: 3, subscriptions: 2 },
      { shard: 4, subscriptions: 1 },
    ];
    expect(calls.map(({ shards }) => shards)).to.deep.equal([inOrder]);
    const prefixes = [`{p:3}:${first}:`, `{p:3}:${second}:`, `{p:4}:${idIn(4)}:`];
    const kinds = ['meta', 'owners', 'offsets', 'sessions'];
    expect(calls[0]?.keys).to.deep.equal(prefixes.flatMap((prefix) => kinds.map((kind) => prefix + kind)));
    const ofFirst = [first, 1, 'a', '0', 1, 'loans:0', '', 5];
    const ofSecond = [second, 1, 'c', '0', 0];
    expect(calls[0]?.values).to.deep.equal([...ofFirst, ...ofSecond, idIn(4), 1, 'b', '0', 1, 'loans:1', '', 6]);
    calls[0]?.answer(['for a'], ['for c'], ['for b']);
    expect(await Promise.all(replies)).to.deep.equal([['for a'], ['for b'], ['for c']]);
  });

  it('of all shards are made in the same turn to a cluster', async () => {
    const { calls, commits } = waitingCalls(false);
    void commits.commit(first, 'a', [at(0, 5)], true);
    void commits.commit(idIn(4), 'b', [at(0, 5)], true);
    await callsMade();
    expect(shardsOf(calls)).to.deep.equal([[3], [4]]);
  });

  it('to one Redis wait until those before them have returned, also when they failed', async () => {
    const { calls, commits } = waitingCalls();
    const most = Array.from({ length: cursorsPerCall }, (_, partition) => at(partition, 1));
    const failing = commits.commit(first, 'a', [at(0, 1)], true);
    const slow = commits.commit(idIn(4), 'b', most, true);
    await callsMade();
    expect(shardsOf(calls)).to.deep.equal([[3], [4]]);
    const next = [commits.commit(first, 'c', [], true), commits.commit(idIn(5), 'd', [], true)];
    calls[0]?.fail(new Error('lost'));
    await failureOf(failing);
    await callsMade();
    expect(calls).to.have.length(2);
    calls[1]?.answer(['for b']);
    expect(await slow).to.deep.equal(['for b']);
    await callsMade();
    expect(shardsOf(calls).slice(2)).to.deep.equal([[3, 5]]);
    calls[2]?.answer(['for c'], ['for d']);
    expect(await Promise.all(next)).to.deep.equal([['for c'], ['for d']]);
  });

  it('to a cluster do not wait for other shards', async () => {
    const { calls, commits } = waitingCalls(false);
    void commits.commit(first, 'a', [], true);
    await callsMade();
    void commits.commit(idIn(4), 'b', [], true);
    void commits.commit(first, 'c', [], true);
    await callsMade();
    expect(shardsOf(calls)).to.deep.equal([[3], [4]]);
    calls[0]?.answer(['for a']);
    await callsMade();
    expect(shardsOf(calls)).to.deep.equal([[3], [4], [3]]);
  });

  it('have so many cursors, or one commit that has more', async () => {
    const { calls, commits } = waitingCalls();
    const cursors = (count: number) => Array.from({ length: count }, (_, partition) => at(partition, 1));
    const sizes = [cursorsPerCall - 1, 1, 1, cursorsPerCall + 1, 2];
    const replies = sizes.map((size) => commits.commit(first, 'a', cursors(size), true));
    for (const commitsOfCall of [2, 1, 1, 1]) {
      await callsMade();
      expect(calls.at(-1)?.values[1]).to.equal(commitsOfCall);
      calls.at(-1)?.answer(...Array.from({ length: commitsOfCall }, () => ['OK']));
    }
    expect(await Promise.all(replies)).to.have.length(sizes.length);
    expect(calls).to.have.length(4);
  });

  it('fail for all of their commits, and the next ones are made', async () => {
    const { calls, commits } = waitingCalls();
    const failing = [commits.commit(first, 'a', [], true), commits.commit(second, 'b', [], true)];
    await callsMade();
    const next = commits.commit(first, 'c', [], true);
    calls[0]?.fail(new Error('lost'));
    const failures = await Promise.all(failing.map(failureOf));
    expect(failures.map(({ message }) => message)).to.deep.equal(['lost', 'lost']);
    await callsMade();
    calls[1]?.answer(['for c']);
    expect(await next).to.deep.equal(['for c']);
    const later = commits.commit(first, 'd', [], true);
    await callsMade();
    calls[2]?.answer(['for d']);
    expect(await later).to.deep.equal(['for d']);
  });
});
