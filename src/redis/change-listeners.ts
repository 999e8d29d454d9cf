import type { ChangeListener, CommittedOffset, CoordinationChange } from '../ports/coordination.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';

interface WatchedSubscription {
  listeners: readonly ChangeListener[];
  /** The last generation that its listeners were notified of. */
  generation: number | undefined;
}

const changes: ReadonlySet<string> = new Set<CoordinationChange>(['topology', 'offsets', 'reset', 'removed']);

/** The listeners in this process, by the subscription that they watch. */
export class ChangeListeners {
  readonly #logger: Logger;
  readonly #watched = new Map<string, WatchedSubscription>();
  /** Those that were added since they were last taken. */
  #added = new Set<string>();

  /** Grows with each subscription that gets its first listener or loses its last one. */
  #revision = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** As long as it stays, the same subscriptions are watched. */
  get revision(): number {
    return this.#revision;
  }

  /** The subscriptions that are watched. */
  subscriptions(): Iterable<string> {
    return this.#watched.keys();
  }

  /** The subscriptions that got their first listener since the last call. */
  takeAdded(): ReadonlySet<string> {
    const added = this.#added;
    this.#added = new Set();
    return added;
  }

  /**
   * Adds a listener.
   * @returns Whether it is the first listener of the subscription.
   */
  add(subscriptionId: string, listener: ChangeListener): boolean {
    const watched = this.#watched.get(subscriptionId);
    if (watched === undefined) {
      this.#watched.set(subscriptionId, { listeners: [listener], generation: undefined });
      this.#added.add(subscriptionId);
      this.#revision += 1;
    } else watched.listeners = [...watched.listeners, listener];
    return watched === undefined;
  }

  /**
   * Removes a listener.
   * @returns Whether it was the last listener of the subscription.
   */
  remove(subscriptionId: string, listener: ChangeListener): boolean {
    const watched = this.#watched.get(subscriptionId);
    if (watched === undefined || !watched.listeners.includes(listener)) return false;
    watched.listeners = watched.listeners.filter((each) => each !== listener);
    if (watched.listeners.length > 0) return false;
    this.#added.delete(subscriptionId);
    this.#revision += 1;
    return this.#watched.delete(subscriptionId);
  }

  notify(
    subscriptionId: string,
    change: CoordinationChange,
    generation?: number,
    committed?: readonly CommittedOffset[],
  ): void {
    for (const listener of this.#watched.get(subscriptionId)?.listeners ?? []) {
      try {
        listener(change, generation, committed);
      } catch (error) {
        this.#logger.error({ subscriptionId, change, error: describeError(error) }, 'A watcher failed');
      }
    }
  }

  /**
   * Notifies the listeners that the topology is at a generation, unless they were notified of this generation before.
   */
  notifyGeneration(subscriptionId: string, generation: number): void {
    const watched = this.#watched.get(subscriptionId);
    if (watched === undefined || watched.generation === generation) return;
    watched.generation = generation;
    this.notify(subscriptionId, 'topology', generation);
  }

  /**
   * Notifies all listeners, since changes may have been missed.
   * @param isConcerned Whether those of a subscription are notified. Default all.
   */
  notifyAll(isConcerned: (subscriptionId: string) => boolean = () => true): void {
    for (const subscriptionId of this.#watched.keys()) {
      if (!isConcerned(subscriptionId)) continue;
      this.notify(subscriptionId, 'topology');
      this.notify(subscriptionId, 'offsets');
    }
  }

  clear(): void {
    this.#watched.clear();
    this.#revision += 1;
  }
}

/**
 * Reads a message that scripts publish: `<origin> <change>`. Undefined for a message from this process itself, which
 * has notified its listeners already, and for any other text.
 */
export function parseChangeNotification(message: string, ownOrigin: string): CoordinationChange | undefined {
  const [origin, change = ''] = message.split(' ');
  return origin === ownOrigin || !changes.has(change) ? undefined : (change as CoordinationChange);
}
