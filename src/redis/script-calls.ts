import { shardOf, type KeySpace } from './keys.ts';
import type { StoreConnection } from './connection.ts';
import { scriptKeys, type Script, type ScriptName } from './script-loading.ts';
import { pairs } from './script-values.ts';

/** Scripts that serve a shard, or several subscriptions of it. */
type ShardScriptName = 'check-watched' | 'clear-dirty' | 'committed-offsets' | 'refill/merge' | 'remember' | 'topology';

/** Scripts that serve several shards at once. */
type ShardsScriptName = 'renew-lease' | 'shard-state';

/** A shard of which a call serves subscriptions. */
export interface ShardOfCall {
  readonly shard: number;
  /** How many of its subscriptions the call serves. */
  readonly subscriptions: number;
}

/** The keys and scripts of this product behind a connection. The header of each script documents its result. */
export class ScriptCalls {
  readonly connection: StoreConnection;
  readonly keys: KeySpace;
  /** Marks what this process publishes and claims. */
  readonly origin: string;
  /** By shard: the incarnation of its data that this process works with. */
  readonly incarnations = new Map<number, string>();
  readonly #scripts: ReadonlyMap<ScriptName, Script>;

  constructor(connection: StoreConnection, keys: KeySpace, origin: string, scripts: ReadonlyMap<ScriptName, Script>) {
    this.connection = connection;
    this.keys = keys;
    this.origin = origin;
    this.#scripts = scripts;
  }

  /** Runs a script on one subscription. */
  call(name: ScriptName, subscriptionId: string, values: readonly (string | number)[]): Promise<unknown[]> {
    const { keys } = this;
    const scriptKeysOfSubscription = scriptKeys[name].map((kind) => keys.key(subscriptionId, kind));
    return this.#runOnShard(
      name,
      shardOf(subscriptionId),
      scriptKeysOfSubscription,
      keys.channel(subscriptionId),
      values,
    );
  }

  /** Runs a script on a shard. Further keys, if given, must belong to that shard. */
  callShard(
    name: ShardScriptName,
    shard: number,
    values: readonly (string | number)[],
    furtherKeys: readonly string[] = [],
  ): Promise<unknown[]> {
    const keys = scriptKeys[name].map((kind) => this.keys.shardKey(shard, kind));
    return this.#runOnShard(name, shard, [...keys, ...furtherKeys], this.keys.channel(''), values);
  }

  /**
   * Runs a script on shards, one or more: one Redis is called once for all of them, a cluster for each.
   * @returns a reply for each call, in the order of the shards
   */
  callShards(
    name: ShardsScriptName,
    shards: readonly number[],
    values: readonly (string | number)[],
  ): Promise<unknown[][]> {
    const calls = this.connection.isCluster ? shards.map((shard) => [shard]) : [shards];
    return Promise.all(calls.map((shardsOfCall) => this.#callShards(name, shardsOfCall, values)));
  }

  #callShards(
    name: ShardsScriptName,
    shards: readonly number[],
    values: readonly (string | number)[],
  ): Promise<unknown[]> {
    const keys = shards.flatMap((shard) => scriptKeys[name].map((kind) => this.keys.shardKey(shard, kind)));
    // The incarnations may become suspect while the call waits for the connection.
    const valuesNow = (): (string | number)[] => {
      const [first = '', ...others] = shards.map((shard) => this.incarnations.get(shard) ?? '');
      return [first, this.keys.channel(''), this.origin, ...values, ...others];
    };
    return this.connection.run(this.#script(name), keys, valuesNow);
  }

  /**
   * Runs commit.lua on subscriptions of shards, of more than one only where all are in one Redis.
   * @param values What it takes for all subscriptions, as their keys in the order of the shards.
   */
  commit(
    shards: readonly ShardOfCall[],
    values: readonly (string | number)[],
    keysOfSubscriptions: readonly string[],
  ): Promise<unknown[]> {
    const keys: string[] = [];
    for (const { shard } of shards) for (const kind of scriptKeys.commit) keys.push(this.keys.shardKey(shard, kind));
    for (const key of keysOfSubscriptions) keys.push(key);
    const valuesNow = () => {
      const all: (string | number)[] = [shards.length, this.keys.channel(''), this.origin];
      for (const { shard, subscriptions } of shards) all.push(this.incarnations.get(shard) ?? '', subscriptions);
      for (const value of values) all.push(value);
      return all;
    };
    // One call has all that waits: keeping it until the end of the turn would leave Redis idle while requests are read.
    return this.connection.run(this.#script('commit'), keys, valuesNow, true);
  }

  /** Runs a script on the given keys and values. */
  run(name: ScriptName, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown[]> {
    return this.connection.run(this.#script(name), keys, () => values);
  }

  /** Fields and values of hashes. One Redis is asked once for all of them, a cluster for each. */
  async readHashes(keys: readonly string[]): Promise<[field: string, value: string][][]> {
    if (this.connection.isCluster) {
      const hashes = await Promise.all(keys.map((key) => this.connection.readHash(key)));
      return hashes.map((hash) => Object.entries(hash));
    }
    return ((await this.run('read-hashes', keys, [])) as string[][]).map(pairs);
  }

  #runOnShard(
    name: ScriptName,
    shard: number,
    keys: readonly string[],
    channel: string,
    values: readonly (string | number)[],
  ): Promise<unknown[]> {
    // The incarnation may become suspect while the call waits for the connection.
    const valuesNow = () => [this.incarnations.get(shard) ?? '', channel, this.origin, ...values];
    return this.connection.run(this.#script(name), keys, valuesNow);
  }

  #script(name: ScriptName): Script {
    const script = this.#scripts.get(name);
    if (script === undefined) throw new Error(`There is no script ${name}`);
    return script;
  }
}
