/**
 * Definitions (event types, subscriptions, toggles, products, the organization) as records of one compacted topic.
 * In: records to write, and the topic as it grows. Out: every definition in memory, the same on each node.
 * Start with `Registry` below; `definition-locks.ts` decides which of two nodes may create a name.
 */

import { after, systemClock, type Clock, type Timer } from '../../clock.ts';
import type { HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { EventLog, Offset, RecordBatch } from '../../ports/event-log.ts';
import { ensureTopic } from '../log/ensure-topic.ts';
import {
  IndexedDefinitions,
  SortedDefinitions,
  type DefinitionIndex,
  type DefinitionOrder,
} from './definition-views.ts';
import { TopicTail } from '../log/topic-tail.ts';
import { noValue } from '../../ports/event-log.ts';
import type { RegistryKind } from './registry-kind.ts';

/**
 * Definitions that every process needs and that change rarely: event types, subscriptions, toggles, products. The
 * compacted topic `lendstream.registry` is the source of truth. Each process follows the topic and keeps all of it in
 * memory.
 *
 * A definition that is changed from its previous state has *revisions*: its record carries the number of the revision
 * that it follows, plus one. Of two changes that began from the same revision the first in the log counts. All readers
 * of the log ignore the other, and its caller gets CONFLICT. The record that counts is then stored again behind the
 * ignored one, because compaction keeps the last record of a key.
 */
export const registryTopic = 'lendstream.registry';

export interface RegistryChange {
  readonly kind: RegistryKind;
  readonly name: string;
  /** Null when the entry was removed. */
  readonly value: unknown;
}

/**
 * A change of one definition, begun from what this process knew at that moment. None of its steps counts once another
 * caller has changed the definition: each step then throws CONFLICT and stores nothing that readers obey.
 */
export interface Revision {
  /** Stores a value, which must be plain JSON, and returns when this process sees it. */
  put(value: unknown): Promise<void>;
  remove(): Promise<void>;
  /** From here on, changes that others began earlier do not count. The definition stays the same. */
  claim(): Promise<void>;
  /** Checks that no other caller has changed the definition, before a step that has no revisions. */
  confirm(): Promise<void>;
}

/** The revision in force, and the offset of its record. */
interface CurrentRevision {
  readonly revision: number;
  readonly offset: Offset;
}

/** How long a record that this process has stored may take to become visible to it. Milliseconds. */
const visibleMillisecondsMaximum = 30_000;

/**
 * How long the writer of an ignored record has to store the record in force behind it, before other processes do so.
 * Milliseconds.
 */
const restoreMilliseconds = 1_000;

/** All definitions in memory, kept up to date by following {@link registryTopic}. */
export class Registry {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #tail: TopicTail;
  readonly #entries = new Map<RegistryKind, Map<string, unknown>>();
  /** Made when they are first used, and kept up to date from then on. */
  readonly #indexes = new Map<DefinitionIndex<never>, IndexedDefinitions<unknown>>();
  readonly #orders = new Map<DefinitionOrder<never>, SortedDefinitions<unknown>>();
  /** By record key, for definitions with revisions. Removed ones stay, so that a late change cannot bring one back. */
  readonly #currentRevisions = new Map<string, CurrentRevision>();
  /** Record keys whose last record in the log is not the one in force. */
  readonly #overwritten = new Set<string>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();
  #version = '';
  #restoreTimer: Timer | undefined;
  #isStopped = false;

  /** @param health Notified when definitions cannot be followed. */
  constructor(log: EventLog, logger: Logger, health?: HealthPart, clock: Clock = systemClock) {
    this.#log = log;
    this.#logger = logger;
    this.#clock = clock;
    this.#tail = new TopicTail({
      log,
      topic: registryTopic,
      partitionCount: 1,
      // The loans' topic announces a new product, and the same commit may make that visible a moment earlier.
      includeUncommitted: true,
      logger,
      clock,
      ...(health === undefined ? {} : { health }),
      apply: (batches) => {
        for (const batch of batches) this.#applyBatch(batch);
      },
    });
  }

  /** Creates the topic if it is missing, and returns when the whole registry is in memory. */
  async start(): Promise<void> {
    const topic = {
      name: registryTopic,
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    } as const;
    await ensureTopic(this.#log, topic, undefined, this.#clock);
    await this.#tail.start();
  }

  /** Stops following the topic. What is in memory stays readable. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restoreTimer?.cancel();
    await this.#tail.stop();
  }

  /**
   * Names the state of all definitions that this process knows: the place of the last change in the log, and its time,
   * as a log that was restored from a backup uses places again. Processes in the same state have the same version.
   */
  get version(): string {
    return this.#version;
  }

  /** The definition of this name, as far as this process knows; undefined when there is none. */
  get<Value>(kind: RegistryKind, name: string): Value | undefined {
    return this.#entries.get(kind)?.get(name) as Value | undefined;
  }

  /**
   * The definition of a name that another process may have stored a moment ago; undefined when there is none. A name
   * that is unknown here is looked up again after catching up with the log. Unknown names share one catch-up every few
   * milliseconds.
   * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  find<Value>(kind: RegistryKind, name: string): Promise<Value | undefined> {
    return this.findWith(() => this.get<Value>(kind, name));
  }

  /**
   * Like {@link find}, for what is found by more or other than its name.
   * @param lookUp Looks in what this process knows; undefined when that does not have it.
   * @throws as {@link find}, and what `lookUp` throws
   */
  findWith<Found>(lookUp: () => Found | undefined): Promise<Found | undefined> {
    return this.#tail.find(lookUp);
  }

  /** Entries of a kind in no particular order. */
  list<Value>(kind: RegistryKind): Value[] {
    return [...(this.#entries.get(kind)?.values() ?? [])] as Value[];
  }

  /** How many entries there are of a kind. */
  count(kind: RegistryKind): number {
    return this.#entries.get(kind)?.size ?? 0;
  }

  /** Entries that an index, a constant, finds by a key. What that costs does not grow with the other entries. */
  listBy<Value>(index: DefinitionIndex<Value>, key: string): Value[] {
    return this.#indexed(index).get(key);
  }

  /** Whether an index, a constant, finds any entry by a key. */
  hasBy<Value>(index: DefinitionIndex<Value>, key: string): boolean {
    return this.#indexed(index).has(key);
  }

  /**
   * Entries in an order, a constant. Sorted once: a later change only finds its place. The list changes with the
   * registry, so copy what is needed longer than a turn of the event loop.
   */
  listSorted<Value>(order: DefinitionOrder<Value>): readonly Value[] {
    const known = this.#orders.get(order);
    const sorted = known ?? new SortedDefinitions<unknown>(order as DefinitionOrder<unknown>, this.list(order.kind));
    if (known === undefined) this.#orders.set(order, sorted);
    return sorted.values as readonly Value[];
  }

  #indexed<Value>(index: DefinitionIndex<Value>): IndexedDefinitions<Value> {
    const known = this.#indexes.get(index);
    const entries = this.#entries.get(index.kind) ?? new Map<string, unknown>();
    const indexed = known ?? new IndexedDefinitions<unknown>(index as DefinitionIndex<unknown>, entries);
    if (known === undefined) this.#indexes.set(index, indexed);
    return indexed as IndexedDefinitions<Value>;
  }

  /**
   * Stores a definition durably, whatever it was before, and returns when this process sees it. The value must be plain
   * JSON. A change that depends on the state before is stored with {@link revise}.
   * @throws OUTCOME_UNKNOWN when the record is stored but not visible here in time; what `EventLog.append` throws or
   *   reports
   */
  async put(kind: RegistryKind, name: string, value: unknown): Promise<void> {
    await this.#append(registryKey(kind, name), Buffer.from(JSON.stringify(value)));
  }

  /**
   * Removes a definition durably, whatever it was before, and returns when this process sees that.
   * @throws as {@link put}
   */
  async remove(kind: RegistryKind, name: string): Promise<void> {
    await this.#append(registryKey(kind, name), null);
  }

  /** Begins to change a definition from what this process knows of it now. */
  revise(kind: RegistryKind, name: string): Revision {
    const key = registryKey(kind, name);
    let base = this.#revisionOf(key);
    const put = async (value: unknown): Promise<void> => {
      const revision = base + 1;
      const offset = await this.#append(key, Buffer.from(writeRecord(revision, value)));
      if (this.#currentRevisions.get(key)?.offset !== offset) {
        await this.#restore();
        throw changedByOthers(kind, name);
      }
      base = revision;
    };
    return {
      put,
      remove: () => put(null),
      claim: () => put(this.get(kind, name) ?? null),
      confirm: async () => {
        await this.catchUp();
        if (this.#revisionOf(key) !== base) throw changedByOthers(kind, name);
      },
    };
  }

  /**
   * Notifies of every change, in log order, including those of other processes.
   * @returns a function that ends the notifications
   */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when this process has seen everything below `offset` of the registry topic. */
  waitUntilApplied(offset: number): Promise<void> {
    return this.#tail.waitUntilApplied(0, offset);
  }

  /**
   * Returns when this process has seen everything that is in the registry now.
   * @param milliseconds How long that may take. Default: as long as for {@link find}.
   * @throws LOG_UNAVAILABLE when that cannot be read in time
   */
  catchUp(milliseconds?: number): Promise<void> {
    return this.#tail.catchUp(milliseconds);
  }

  /** @returns the offset of the record, once this process has seen it */
  async #append(key: string, value: Buffer | null): Promise<Offset> {
    const [result] = await this.#log.append([{ topic: registryTopic, partition: 0, records: [{ key, value }] }]);
    if (result === undefined) throw new LendstreamError('INTERNAL', 'The log returned no result for an append.');
    if (result.outcome === 'failed') throw result.error;
    try {
      await this.#tail.waitUntilApplied(0, result.baseOffset + 1, { milliseconds: visibleMillisecondsMaximum });
    } catch (error) {
      throw new LendstreamError('OUTCOME_UNKNOWN', `${key} is stored and cannot be read yet: ${describeError(error)}`);
    }
    return result.baseOffset;
  }

  #applyBatch(batch: RecordBatch): void {
    for (let index = 0; index < batch.count; index += 1) {
      const key = batch.key(index);
      if (key === null) continue;
      const start = batch.valueStarts[index] as number;
      const value = start === noValue ? null : batch.bytes.toString('utf8', start, batch.valueEnds[index]);
      this.#apply(key, value, batch.offsets[index] as number);
    }
    if (batch.count > 0) this.#version = `${batch.offsets[batch.count - 1]}-${batch.appendedAt.toString(36)}`;
  }

  #apply(key: string, text: string | null, offset: Offset): void {
    const { kind, name } = splitKey(key);
    const { revision, value } = readRecord(text);
    if (revision !== undefined) {
      if (revision <= this.#revisionOf(key)) {
        this.#ignore(key, text);
        return;
      }
      this.#currentRevisions.set(key, { revision, offset });
    }
    this.#overwritten.delete(key);
    const entries = this.#entries.get(kind) ?? new Map<string, unknown>();
    this.#entries.set(kind, entries);
    const before = entries.get(name);
    if (value === null) entries.delete(name);
    else entries.set(name, value);
    const change = { before, after: value ?? undefined };
    for (const [index, indexed] of this.#indexes) if (index.kind === kind) indexed.change(name, change);
    for (const [order, sorted] of this.#orders) if (order.kind === kind) sorted.change(change);
    for (const listener of this.#listeners) listener({ kind, name, value });
  }

  /** Storing the record in force again changes nothing; any other record must not stay the last of its key. */
  #ignore(key: string, text: string | null): void {
    if (text === this.#currentText(key)) {
      this.#overwritten.delete(key);
      return;
    }
    this.#logger.warn({ key }, 'Ignoring a change of a definition: another one came first');
    this.#overwritten.add(key);
    this.#restoreSoon();
  }

  #restoreSoon(): void {
    if (this.#isStopped || this.#restoreTimer !== undefined) return;
    this.#restoreTimer = after(this.#clock, restoreMilliseconds, () => {
      this.#restoreTimer = undefined;
      void this.#restore();
    });
  }

  /**
   * Stores the records in force behind those that are not. Any process may do so: the record is the same, byte for
   * byte.
   */
  async #restore(): Promise<void> {
    const records = [...this.#overwritten].map((key) => ({ key, value: Buffer.from(this.#currentText(key)) }));
    if (records.length === 0) return;
    const [result] = await this.#log.append([{ topic: registryTopic, partition: 0, records }]).catch(() => []);
    if (result?.outcome !== 'appended') this.#restoreSoon();
  }

  /** The revision in force; 0 for a definition that has none. */
  #revisionOf(key: string): number {
    return this.#currentRevisions.get(key)?.revision ?? 0;
  }

  #currentText(key: string): string {
    const { kind, name } = splitKey(key);
    return writeRecord(this.#revisionOf(key), this.get(kind, name) ?? null);
  }
}

/** The record key of a registry entry. */
export function registryKey(kind: RegistryKind, name: string): string {
  return `${kind}/${name}`;
}

function splitKey(key: string): { readonly kind: RegistryKind; readonly name: string } {
  const slash = key.indexOf('/');
  return { kind: key.slice(0, slash) as RegistryKind, name: key.slice(slash + 1) };
}

/** A removal is also a record, not a tombstone: it has a revision that others must know. */
function writeRecord(revision: number, value: unknown): string {
  return JSON.stringify({ revision, value });
}

function readRecord(text: string | null): { readonly revision?: number; readonly value: unknown } {
  const parsed: unknown = text === null ? null : JSON.parse(text);
  return isRevised(parsed) ? parsed : { value: parsed };
}

function isRevised(parsed: unknown): parsed is { readonly revision: number; readonly value: unknown } {
  if (typeof parsed !== 'object' || parsed === null || Object.keys(parsed).join() !== 'revision,value') return false;
  return 'revision' in parsed && Number.isSafeInteger(parsed.revision);
}

const displayNames: Record<RegistryKind, string> = {
  'event-type': 'Event type',
  subscription: 'Subscription',
  'blacklist-entry': 'Entry of the blacklist',
  'api-key': 'The API key',
  'api-key-use': 'The last use of the API key',
  'dealt-with-letter': 'Mark of the dead letter',
  'deleted-letter-key': 'Deleted key of dead letters',
  'stream-token-secret': 'Secret of the stream tokens of',
  feature: 'Feature',
  toggle: 'Toggle',
  product: 'Product',
  organization: 'Organization',
  branch: 'Branch',
  centre: 'Centre',
  'transaction-channel': 'Transaction channel',
  'custom-field-set': 'Custom field set',
  'custom-field': 'Custom field',
  erasure: 'Erasure of the personal data of account',
  'closed-day': 'Closed day of partition',
  'followed-calendar': 'Calendar that the accounts follow of partition',
};

/** A definition in words for people: its kind and its name. */
export function describeDefinition(kind: RegistryKind, name: string): string {
  return `${displayNames[kind]} ${name}`;
}

function changedByOthers(kind: RegistryKind, name: string): LendstreamError {
  const detail = `${describeDefinition(kind, name)} was changed by another request at the same time, and this change was ignored.`;
  return new LendstreamError('CONFLICT', `${detail} Look at its current state and try again.`);
}
