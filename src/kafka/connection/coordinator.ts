import { BoundedMap } from '../../bounded-map.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { BrokerNode } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';
import { Retry, orTransientError } from './retry.ts';
import { findCoordinatorRequest, type CoordinatorType } from '../protocol/find-coordinator-request.ts';

/** How long to search for a coordinator while the cluster says that there is none yet. */
const lookupRetry = { forMilliseconds: 5_000, firstPauseMilliseconds: 5, pauseMillisecondsMaximum: 200 };

/** How many coordinators are cached. */
const cachedMaximum = 10_000;

/** Which broker coordinates which group or transactional id. Each is looked up once, and again after `forget`. */
export class Coordinators {
  readonly #metadata: ClusterMetadata;
  readonly #clock: Clock;
  /** By kind and key. Lookups under way are here as well, so that simultaneous callers share the result. */
  readonly #cached = new BoundedMap<string, Promise<BrokerNode>>(cachedMaximum);

  constructor(metadata: ClusterMetadata, clock: Clock) {
    this.#metadata = metadata;
    this.#clock = clock;
  }

  /**
   * Returns the coordinator if it is known, or else asks the cluster for it.
   * @param key The group's id or the transactional id.
   * @throws LOG_UNAVAILABLE when none is found in time, LOG_CLOSED
   */
  of(kind: CoordinatorType, key: string): Promise<BrokerNode> {
    const name = nameOf(kind, key);
    const known = this.#cached.get(name);
    if (known !== undefined) return known;
    const found = this.#lookUp(kind, key).catch((error: unknown) => {
      if (this.#cached.get(name) === found) this.#cached.delete(name);
      throw error;
    });
    this.#cached.set(name, found);
    return found;
  }

  /** The broker said that it is not the coordinator, or does not respond: the next call asks the cluster again. */
  forget(kind: CoordinatorType, key: string): void {
    this.#cached.delete(nameOf(kind, key));
  }

  async #lookUp(kind: CoordinatorType, key: string): Promise<BrokerNode> {
    const retry = new Retry(this.#clock, lookupRetry);
    for (;;) {
      const found = await orTransientError(this.#lookUpOnce(kind, key));
      if (!(found instanceof LendstreamError)) return found;
      await retry.after(found);
    }
  }

  async #lookUpOnce(kind: CoordinatorType, key: string): Promise<BrokerNode> {
    const { errorCode, coordinator } = await this.#metadata.sendToAny(findCoordinatorRequest(kind, key));
    if (errorCode !== protocolError.none) throw errorOf(errorCode, `Finding the coordinator of ${kind} ${key}`);
    return coordinator;
  }
}

function nameOf(kind: CoordinatorType, key: string): string {
  return `${kind} ${key}`;
}
