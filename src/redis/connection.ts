import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { every, withTimeout, type Clock, type Timer } from '../clock.ts';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { LendstreamError, describeError, isLendstreamError, isUntrustedCertificate } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Script } from './script-loading.ts';

/**
 * The longest silence while a call is pending. After that the connection counts as dead, the pending calls fail, and
 * the client connects again. Milliseconds.
 */
const socketTimeoutMilliseconds = 2_000;

/** How often the connection for messages is checked with a ping: nothing else is sent on it. Milliseconds. */
const pingIntervalMilliseconds = 5_000;

/** How long connecting may take before it is tried again. Milliseconds. */
const connectTimeoutMilliseconds = 2_000;

/** How long a new process waits for a Redis that does not respond before it gives up. Milliseconds. */
const startTimeoutMilliseconds = 10_000;

/**
 * Pauses between attempts to reconnect grow by the first value up to the second. There is no last attempt.
 * Milliseconds.
 */
const reconnectStepMilliseconds = 50;
const reconnectMillisecondsMaximum = 500;

/** The most channels in one SUBSCRIBE. */
const channelsPerCall = 500;

/**
 * Error responses of a Redis that is running but cannot serve now: it is starting, demoted, or short of replicas,
 * memory or disk.
 */
const unavailableReply =
  /\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|OOM|MISCONF|BUSY|TRYAGAIN|MOVED|ASK|UNBLOCKED|NOAUTH)\b/;

/** Error responses to a user that Redis does not accept, or that lacks a right. An operator has to change that. */
const refusedReply = /\b(WRONGPASS|NOAUTH|NOPERM)\b/;

/** How Redis writes that a command of a script was refused; the commands of a client are refused with NOPERM. */
const refusedInScript = /ACL failure in script|The user executing the script can't/;

type Client = Redis | Cluster;

export interface ConnectionEvents {
  /**
   * The data behind the connection may have changed: another server responds, or the same one after a restart. Called
   * before any call is let through.
   */
  serverChanged: () => void;
  /** Messages may have been missed. Every channel is subscribed again. */
  resubscribed: () => void;
  message: (channel: string, text: string) => void;
}

/** What the coordination needs of the connections of its process. */
export type StoreConnection = Pick<
  RedisConnection,
  'isCluster' | 'run' | 'readHash' | 'readHashField' | 'setIfAbsent' | 'subscribe' | 'unsubscribe' | 'close'
>;

/** Opens the connections of a process, as {@link RedisConnection.open} does. */
export type OpenConnection = (
  address: RedisAddress,
  logger: Logger,
  events: ConnectionEvents,
  clock: Clock,
) => Promise<StoreConnection>;

/**
 * The connections of one process to Redis: one for calls, one for messages. While there is no connection, calls fail at
 * once (COORDINATION_UNAVAILABLE, retriable) instead of waiting. Both connections are re-established without a limit of
 * attempts.
 */
export class RedisConnection {
  readonly #client: Client;
  readonly #subscriber: Client;
  readonly #events: ConnectionEvents;
  readonly #logger: Logger;
  readonly #address: string;
  readonly #channels = new Set<string>();
  readonly #pingTimer: Timer;
  /** Resolves when calls may pass for the first time. */
  readonly #opened: Promise<this>;
  #onOpened = (): void => {};
  /** Ends the opening: further attempts would meet the same refusal. */
  #onRefused = (_reason: unknown): void => {};
  /** Settles when calls may pass; undefined while there is no connection. */
  #ready: Promise<void> | undefined;
  /** The run ids of the servers that the connection reached last. */
  #servers: string | undefined;
  /** Whether a server named by one URL has the mode of a cluster. */
  #isClusterNode = false;
  /** The stream that keeps what is written until the end of this turn of the event loop; undefined when none does. */
  #corked: { readonly stream: Redis['stream']; readonly timer: NodeJS.Immediate } | undefined;
  #outageLogged = false;
  #isClosed = false;

  private constructor({ redisUrl, tls }: RedisAddress, logger: Logger, events: ConnectionEvents, clock: Clock) {
    this.#events = events;
    this.#logger = logger;
    this.#address = withoutSecrets(redisUrl);
    this.#client = createClient(redisUrl, tls);
    this.#subscriber = createClient(redisUrl, tls);
    this.#client.on('ready', () => this.#verify());
    this.#client.on('close', () => {
      this.#ready = undefined;
    });
    for (const event of ['+node', '-node']) {
      this.#client.on(event, () => {
        if (this.#client.status === 'ready') this.#verify();
      });
    }
    this.#subscriber.on('ready', () => void this.#resubscribe());
    this.#subscriber.on('message', (channel: string, text: string) => events.message(channel, text));
    for (const client of [this.#client, this.#subscriber]) {
      client.on('error', (error: unknown) => {
        this.#logOutageOnce(error);
        if (isRefusal(error)) this.#onRefused(error);
      });
    }
    this.#opened = new Promise((resolve, reject) => {
      this.#onOpened = () => resolve(this);
      this.#onRefused = (reason) => reject(this.#unavailable(reason));
    });
    this.#pingTimer = every(clock, pingIntervalMilliseconds, () => this.#ping());
  }

  /**
   * Opens both connections and waits until calls can pass.
   * @throws COORDINATION_UNAVAILABLE when Redis does not respond in time, or at once when it refuses the user or has a
   *   certificate that is not trusted
   */
  static async open(
    address: RedisAddress,
    logger: Logger,
    events: ConnectionEvents,
    clock: Clock,
  ): Promise<RedisConnection> {
    const connection = new RedisConnection(address, logger, events, clock);
    connection.#subscriber.connect().catch((error: unknown) => connection.#logOutageOnce(error));
    connection.#client.connect().catch((error: unknown) => connection.#logOutageOnce(error));
    try {
      return await withTimeout(clock, connection.#opened, startTimeoutMilliseconds, () => {
        throw connection.#unavailable('there is no connection');
      });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * Whether it is a Redis Cluster, whose nodes have a part of the keys each and refuse scripts with keys of several
   * slots. One that has a single node may be named by one URL.
   */
  get isCluster(): boolean {
    return this.#client instanceof Cluster || this.#isClusterNode;
  }

  /**
   * Runs a script. All its keys must lie in one slot.
   * @param valuesNow Called when the call is let through: after a change of the server was reported.
   * @param isSentAtOnce Whether it is not kept for others of the same turn of the event loop.
   * @throws COORDINATION_UNAVAILABLE; the script may have run all the same.
   */
  run(
    { sha, text }: Script,
    keys: readonly string[],
    valuesNow: () => readonly (string | number)[],
    isSentAtOnce = false,
  ): Promise<unknown[]> {
    return this.#call(async (client) => {
      const rest = [keys.length, ...keys, ...valuesNow()] as const;
      try {
        const replying = client.evalsha(sha, ...rest);
        if (isSentAtOnce) this.#uncorkWrites();
        return (await replying) as unknown[];
      } catch (error) {
        // This server has not seen the script yet. It has done nothing, and learns the script from EVAL.
        if (!describeError(error).startsWith('NOSCRIPT')) throw error;
        return (await client.eval(text, ...rest)) as unknown[];
      }
    });
  }

  readHash(key: string): Promise<Record<string, string>> {
    return this.#call((client) => client.hgetall(key));
  }

  readHashField(key: string, readHashField: string): Promise<string | null> {
    return this.#call((client) => client.hget(key, readHashField));
  }

  /**
   * Sets a key for a limited time, unless it is set already.
   * @returns Whether this call set it.
   */
  async setIfAbsent(key: string, value: string, milliseconds: number): Promise<boolean> {
    const reply = await this.#call((client) => client.set(key, value, 'PX', milliseconds, 'NX'));
    return reply === 'OK';
  }

  /**
   * Subscribes to a channel; `onSubscribed` is called once that is done. While there is no connection, the next one
   * subscribes to it, and `resubscribed` is called instead.
   */
  subscribe(channel: string, onSubscribed: () => void): void {
    this.#channels.add(channel);
    if (this.#subscriber.status !== 'ready') return;
    this.#subscriber.subscribe(channel).then(onSubscribed, (error: unknown) => this.#logOutageOnce(error));
  }

  unsubscribe(channel: string): void {
    this.#channels.delete(channel);
    if (this.#subscriber.status !== 'ready') return;
    this.#subscriber.unsubscribe(channel).catch((error: unknown) => this.#logOutageOnce(error));
  }

  close(): void {
    this.#isClosed = true;
    this.#ready = undefined;
    this.#pingTimer.cancel();
    this.#client.disconnect();
    this.#subscriber.disconnect();
  }

  async #call<Reply>(command: (client: Client) => Promise<Reply>): Promise<Reply> {
    await this.#waitUntilReady();
    this.#corkWrites();
    try {
      return await command(this.#client);
    } catch (error) {
      if (isReplyError(error) && !unavailableReply.test(describeError(error)) && !isRefusal(error)) throw error;
      throw this.#unavailable(error);
    }
  }

  /**
   * Sends all calls of one turn of the event loop in one write. The pipelines of the client could do this too, but they
   * are large objects that the garbage collector moves to the old generation: 30 KB for each stream that was opened.
   */
  #corkWrites(): void {
    if (this.#corked !== undefined || !(this.#client instanceof Redis)) return;
    const { stream } = this.#client;
    stream.cork();
    const timer = setImmediate(() => this.#uncorkWrites());
    this.#corked = { stream, timer };
  }

  #uncorkWrites(): void {
    if (this.#corked === undefined) return;
    const { stream, timer } = this.#corked;
    this.#corked = undefined;
    clearImmediate(timer);
    stream.uncork();
  }

  async #waitUntilReady(): Promise<void> {
    if (this.#ready === undefined) throw this.#unavailable('there is no connection');
    try {
      await this.#ready;
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(cause: unknown): LendstreamError {
    if (isLendstreamError(cause)) return cause;
    if (isRefusal(cause)) {
      if (isUntrustedCertificate(cause)) {
        const detail = `Redis at ${this.#address} has a certificate that is not trusted (${cause.message}): see REDIS_TLS_CA.`;
        return new LendstreamError('COORDINATION_UNAVAILABLE', detail, { cause });
      }
      const refusal = `Redis at ${this.#address} refuses the user of the service (${cause.message}).`;
      const hint = 'docs/cluster.md lists the rights that it needs.';
      return new LendstreamError('COORDINATION_UNAVAILABLE', `${refusal} ${hint}`, { cause });
    }
    const detail = `Redis at ${this.#address} is not available (${describeError(cause)}). Try again.`;
    return new LendstreamError('COORDINATION_UNAVAILABLE', detail, { cause });
  }

  #verify(): void {
    const verified = this.#identify();
    this.#ready = verified;
    verified.then(this.#onOpened, (error: unknown) => {
      this.#logOutageOnce(error);
      if (isRefusal(error)) this.#onRefused(error);
      if (this.#ready !== verified) return;
      this.#ready = undefined;
      if (!this.#isClosed) this.#client.disconnect(true);
    });
  }

  async #identify(): Promise<void> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    const infoReplies = await Promise.all(nodes.map((node) => node.info('server')));
    const servers = infoReplies
      .map((info) => /(?<=run_id:)\w+/.exec(info)?.[0] ?? '')
      .sort()
      .join(' ');
    this.#isClusterNode = infoReplies.some((info) => info.includes('redis_mode:cluster'));
    if (this.#servers === undefined) await this.#warnOfEviction(nodes);
    const changed = this.#servers !== undefined && this.#servers !== servers;
    this.#servers = servers;
    if (this.#outageLogged) this.#logger.info({ address: this.#address, changed }, 'Redis responds again');
    this.#outageLogged = false;
    if (changed) this.#events.serverChanged();
  }

  /** Warns when Redis may evict keys: the loss of single keys shows in no incarnation. */
  async #warnOfEviction(nodes: readonly Redis[]): Promise<void> {
    const infoReplies = await Promise.all(nodes.map((node) => node.info('memory')));
    const policy = infoReplies
      .map((info) => /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'noeviction')
      .find((each) => each !== 'noeviction');
    if (policy === undefined) return;
    const facts = { address: this.#address, policy };
    this.#logger.warn(facts, 'Redis may evict keys, and with them committed offsets: set maxmemory-policy noeviction');
  }

  async #resubscribe(): Promise<void> {
    const channels = [...this.#channels];
    try {
      for (let start = 0; start < channels.length; start += channelsPerCall) {
        await this.#subscriber.subscribe(...channels.slice(start, start + channelsPerCall));
      }
      this.#events.resubscribed();
    } catch (error) {
      this.#logOutageOnce(error);
      if (!this.#isClosed) this.#subscriber.disconnect(true);
    }
  }

  #ping(): void {
    if (this.#subscriber.status !== 'ready') return;
    this.#subscriber.ping().catch((error: unknown) => this.#logOutageOnce(error));
  }

  /** Logs once per outage: attempts to reconnect continue several times a second. */
  #logOutageOnce(error: unknown): void {
    if (this.#outageLogged || this.#isClosed) return;
    this.#outageLogged = true;
    this.#logger.warn({ address: this.#address, error: describeError(error) }, 'Redis does not respond');
  }
}

/** Where Redis is, and how its certificate is checked. */
export interface RedisAddress {
  /** One URL, or the URLs of several nodes of a Redis Cluster, separated by commas. */
  readonly redisUrl: string;
  /** For `rediss://`; the authorities of Node.js when absent. */
  readonly tls?: TlsOptions | undefined;
}

function createClient(redisUrl: string, tls: TlsOptions | undefined): Client {
  const options = {
    connectTimeout: connectTimeoutMilliseconds,
    socketTimeout: socketTimeoutMilliseconds,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: reconnectMillisecondsMaximum,
    // A demoted primary keeps its connections. Connecting again finds the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(tls === undefined ? {} : { tls }),
  } satisfies RedisOptions;
  const clientOptions = { lazyConnect: true, enableOfflineQueue: false };
  const urls = redisUrl.split(',').map((url) => url.trim());
  if (urls.length === 1) return new Redis(redisUrl, { ...options, ...clientOptions, retryStrategy: reconnectDelay });
  return new Cluster(urls, {
    ...clientOptions,
    clusterRetryStrategy: reconnectDelay,
    // Otherwise it would send a call again whose response was lost, and whose outcome is unknown.
    retryDelayOnFailover: 0,
    redisOptions: { ...credentials(urls[0] ?? ''), ...options },
  });
}

/** The pause before an attempt to connect again, by its number from 1. Milliseconds. */
export function reconnectDelay(attempts: number): number {
  return Math.min(attempts * reconnectStepMilliseconds, reconnectMillisecondsMaximum);
}

/** The credentials and TLS of the first URL, used for the nodes that a cluster names itself. */
function credentials(url: string): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const { username, password, protocol } = new URL(url);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function withoutSecrets(redisUrl: string): string {
  return redisUrl.replaceAll(/\/\/[^@/,]*@/g, '//');
}

function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Whether another attempt gets the same response, until an operator changes something. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { message } = error;
  return refusedReply.test(message) || refusedInScript.test(message) || isUntrustedCertificate(error);
}
