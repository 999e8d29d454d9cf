import type { Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import type { BrokerNode } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from './metadata.ts';
import { errorOf, isCoordinatorError, protocolError } from '../protocol/errors.ts';
import { Retry } from './retry.ts';
import { WireReader, WireWriter } from '../protocol/wire.ts';

/** A consumer group or a transactional id: each has a coordinator. */
export type CoordinatedKind = 'group' | 'transaction';

/** How long to look for a coordinator while the cluster says that there is none yet. */
const searching = { forMilliseconds: 5_000, firstPauseMilliseconds: 5, pauseMillisecondsMaximum: 200 };

/** How many coordinators are remembered. The one looked up longest ago is forgotten first. */
const rememberedMaximum = 10_000;

/** Which broker coordinates which group or transactional id. Each is looked up once, and again after `forget`. */
export class Coordinators {
  readonly #metadata: ClusterMetadata;
  readonly #clock: Clock;
  /** By kind and key. Lookups under way are here as well, so that simultaneous callers share the result. */
  readonly #known = new Map<string, Promise<BrokerNode>>();

  constructor(metadata: ClusterMetadata, clock: Clock) {
    this.#metadata = metadata;
    this.#clock = clock;
  }

  /**
   * Returns the coordinator if it is known, or else asks the cluster for it.
   * @param key The group's id or the transactional id.
   * @throws LOG_UNAVAILABLE when none is found in time, LOG_CLOSED
   */
  of(kind: CoordinatedKind, key: string): Promise<BrokerNode> {
    const name = nameOf(kind, key);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = this.#find(kind, key).catch((error: unknown) => {
      if (this.#known.get(name) === found) this.#known.delete(name);
      throw error;
    });
    this.#known.set(name, found);
    const [oldest] = this.#known.keys();
    if (this.#known.size > rememberedMaximum && oldest !== undefined) this.#known.delete(oldest);
    return found;
  }

  /** The broker said that it is not the coordinator, or does not respond: the next call asks the cluster again. */
  forget(kind: CoordinatedKind, key: string): void {
    this.#known.delete(nameOf(kind, key));
  }

  async #find(kind: CoordinatedKind, key: string): Promise<BrokerNode> {
    const retry = new Retry(this.#clock, searching);
    for (;;) {
      const found = await this.#ask(kind, key);
      if (!(found instanceof LendstreamError)) return found;
      await retry.after(found);
    }
  }

  /** Returns an error that may pass, and throws any other. */
  async #ask(kind: CoordinatedKind, key: string): Promise<BrokerNode | LendstreamError> {
    try {
      const { errorCode, coordinator } = await this.#metadata.ask(findCoordinatorRequest(kind, key));
      if (errorCode === protocolError.none) return coordinator;
      const error = errorOf(errorCode, `Finding the coordinator of ${kind} ${key}`);
      if (isCoordinatorError(errorCode)) return error;
      throw error;
    } catch (error) {
      if (isLendstreamError(error, 'LOG_UNAVAILABLE')) return error;
      throw error;
    }
  }
}

function nameOf(kind: CoordinatedKind, key: string): string {
  return `${kind} ${key}`;
}

interface FindCoordinatorAnswer {
  readonly errorCode: number;
  /** Meaningless when there is an error. */
  readonly coordinator: BrokerNode;
}

/** FindCoordinator, version 2. */
export function findCoordinatorRequest(kind: CoordinatedKind, key: string): KafkaRequest<FindCoordinatorAnswer> {
  return {
    name: 'FindCoordinator',
    apiKey: 10,
    apiVersion: 2,
    encode: () =>
      new WireWriter()
        .string(key)
        .int8(kind === 'group' ? 0 : 1)
        .take(),
    decode: (answer) => {
      const reader = new WireReader(answer);
      reader.int32(); // throttle time
      const errorCode = reader.int16();
      reader.nullableString(); // error message
      return { errorCode, coordinator: { nodeId: reader.int32(), host: reader.string(), port: reader.int32() } };
    },
  };
}
