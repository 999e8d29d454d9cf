import type { Logger } from '../logger.ts';
import { LendstreamError } from '../errors.ts';
import type { EventLog } from './event-log.ts';
import { ensureTopic } from './ensure-topic.ts';
import { TopicTail } from './topic-tail.ts';
import { noValue } from './event-log.ts';

/**
 * Definitions that everyone needs and few change: event types, subscriptions, toggles, products. The truth is the
 * compacted topic `lendstream.registry`; each process keeps all of it in memory by following the topic.
 */
export const registryTopic = 'lendstream.registry';

export type RegistryKind = 'event-type' | 'subscription' | 'toggle' | 'product';

export interface RegistryChange {
  readonly kind: RegistryKind;
  readonly name: string;
  /** Null when the entry was removed. */
  readonly value: unknown;
}

export class Registry {
  readonly #log: EventLog;
  readonly #tail: TopicTail;
  readonly #entries = new Map<RegistryKind, Map<string, unknown>>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();

  constructor(log: EventLog, logger: Logger) {
    this.#log = log;
    this.#tail = new TopicTail({
      log,
      topic: registryTopic,
      partitionCount: 1,
      // That a product was made is told by the loans' topic, which the same commit may make visible a moment earlier.
      includeUncommitted: true,
      logger,
      apply: (batch) => {
        for (let index = 0; index < batch.count; index += 1) {
          const key = batch.key(index);
          if (key === null) continue;
          const start = batch.valueStarts[index] ?? noValue;
          const value = start === noValue ? null : batch.bytes.toString('utf8', start, batch.valueEnds[index]);
          this.#apply(key, value);
        }
      },
    });
  }

  /** Creates the topic where it is missing, and returns when the whole registry is in memory. */
  async start(): Promise<void> {
    await ensureTopic(this.#log, {
      name: registryTopic,
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    });
    await this.#tail.start();
  }

  stop(): Promise<void> {
    return this.#tail.stop();
  }

  get<Value>(kind: RegistryKind, name: string): Value | undefined {
    return this.#entries.get(kind)?.get(name) as Value | undefined;
  }

  /**
   * The same, for a name that another process may have stored a moment ago: what is not known here is looked for once
   * more after catching up with the log. Names that nobody knows share one look at the log every few milliseconds.
   */
  async find<Value>(kind: RegistryKind, name: string): Promise<Value | undefined> {
    const known = this.get<Value>(kind, name);
    if (known !== undefined) return known;
    await this.#tail.catchUpOnMiss();
    return this.get<Value>(kind, name);
  }

  /** Entries of a kind in no particular order. */
  list<Value>(kind: RegistryKind): Value[] {
    return [...(this.#entries.get(kind)?.values() ?? [])] as Value[];
  }

  /** Stores a definition durably and returns when this process sees it. The value must be plain JSON. */
  put(kind: RegistryKind, name: string, value: unknown): Promise<void> {
    return this.#append(kind, name, Buffer.from(JSON.stringify(value)));
  }

  remove(kind: RegistryKind, name: string): Promise<void> {
    return this.#append(kind, name, null);
  }

  /** Told of every change, in log order, also of those made by other processes. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Why what this process knows may be outdated; undefined while it follows every change. */
  notReadyReason(): string | undefined {
    const { failure } = this.#tail;
    return failure === undefined ? undefined : `Definitions are followed no more: ${failure.message}`;
  }

  /** Resolves when this process has seen everything below `offset` of the registry topic. */
  appliedTo(offset: number): Promise<void> {
    return this.#tail.appliedTo(0, offset);
  }

  /** Returns when this process has seen everything that is in the registry now. */
  catchUp(): Promise<void> {
    return this.#tail.catchUp();
  }

  async #append(kind: RegistryKind, name: string, value: Buffer | null): Promise<void> {
    const [result] = await this.#log.append([
      { topic: registryTopic, partition: 0, records: [{ key: registryKey(kind, name), value }] },
    ]);
    if (result === undefined) throw new LendstreamError('INTERNAL', 'The log answered an append with no result.');
    if (result.outcome === 'failed') throw result.error;
    await this.#tail.appliedTo(0, result.baseOffset + 1);
  }

  #apply(key: string, text: string | null): void {
    const slash = key.indexOf('/');
    const kind = key.slice(0, slash) as RegistryKind;
    const name = key.slice(slash + 1);
    const value: unknown = text === null ? null : JSON.parse(text);
    const entries = this.#entries.get(kind) ?? new Map<string, unknown>();
    this.#entries.set(kind, entries);
    if (value === null) entries.delete(name);
    else entries.set(name, value);
    for (const listener of this.#listeners) listener({ kind, name, value });
  }
}

/** The record key of a registry entry. */
export function registryKey(kind: RegistryKind, name: string): string {
  return `${kind}/${name}`;
}
