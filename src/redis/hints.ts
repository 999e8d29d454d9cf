import type { CoordinationChange } from '../broker/coordination.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';

export type ChangeListener = (change: CoordinationChange) => void;

const changes: ReadonlySet<string> = new Set<CoordinationChange>(['topology', 'offsets', 'reset', 'removed']);

/** Who in this process watches which subscription. */
export class Hints {
  readonly #logger: Logger;
  readonly #listeners = new Map<string, Set<ChangeListener>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @returns whether it is the first listener of the subscription */
  add(subscriptionId: string, listener: ChangeListener): boolean {
    const listeners = this.#listeners.get(subscriptionId);
    if (listeners === undefined) this.#listeners.set(subscriptionId, new Set([listener]));
    else listeners.add(listener);
    return listeners === undefined;
  }

  /** @returns whether it was the last listener of the subscription */
  remove(subscriptionId: string, listener: ChangeListener): boolean {
    const listeners = this.#listeners.get(subscriptionId);
    if (listeners === undefined || !listeners.delete(listener) || listeners.size > 0) return false;
    this.#listeners.delete(subscriptionId);
    return true;
  }

  tell(subscriptionId: string, change: CoordinationChange): void {
    for (const listener of this.#listeners.get(subscriptionId) ?? []) {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error({ subscriptionId, change, error: describeError(error) }, 'A watcher failed');
      }
    }
  }

  /** Changes may have been missed, so everybody looks at everything again. */
  tellAll(): void {
    for (const subscriptionId of this.#listeners.keys()) {
      this.tell(subscriptionId, 'topology');
      this.tell(subscriptionId, 'offsets');
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/**
 * Reads a message that scripts publish: `<origin> <change>`. Undefined for what this process published itself, which it
 * has told its watchers already, and for what is no message of ours.
 */
export function parseHint(message: string, ownOrigin: string): CoordinationChange | undefined {
  const [origin, change = ''] = message.split(' ');
  return origin === ownOrigin || !changes.has(change) ? undefined : (change as CoordinationChange);
}
