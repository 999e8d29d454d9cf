import type { Publisher } from '../../broker/publishing/publisher.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { AccountsCopy } from '../../accounts/accounts-copy.ts';

/** The services that the routers of the lending API use. */
export interface LendingServices {
  readonly accounts: AccountsCopy;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The partitions of accounts. */
  readonly partitionCount: number;
  /** How long a command that posted no transaction is remembered. Milliseconds. */
  readonly idempotencyMilliseconds: number;
  /** Replaces the API's own times. */
  readonly outcomeWait?: OutcomeWait | undefined;
}

/** How long a request waits for the outcome of its command. Seconds. */
export interface OutcomeWait {
  /** When the request names no time (`Prefer: wait=N`). */
  readonly secondsDefault: number;
  /** The longest wait that a request can get. */
  readonly secondsMaximum: number;
}
