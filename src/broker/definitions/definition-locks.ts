import type { Clock } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { describeDefinition, registryKey, type Registry, type Revision } from './registry.ts';
import type { RegistryKind } from './registry-kind.ts';

export interface LockServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the waiting for a lock that another caller has. */
  readonly signal?: AbortSignal;
}

export interface LockedDefinition {
  readonly kind: RegistryKind;
  readonly name: string;
  /** Definitions of one kind with the same value here exclude each other. Default: the name. */
  readonly lockedAs?: string;
}

/** How long the holder of a lock may take to change a definition before another caller may do so. Milliseconds. */
const lockMilliseconds = 10_000;

/** How often waiting callers check whether the lock is free. Milliseconds. */
const lockPollMilliseconds = 25;

/**
 * Does the work while no other caller, on any node, changes this definition, and after seeing all their earlier
 * changes: the work begins by looking whether another caller has already done what is asked for.
 *
 * The lock makes other callers wait; it does not protect work that takes longer than the lock lasts. The revision does:
 * the work stores its changes with it, and an overtaken change does not count.
 * @throws OVERLOADED when others take too long or the signal ends the waiting, CONFLICT when the work took too long
 *   itself and others came first, COORDINATION_UNAVAILABLE, LOG_UNAVAILABLE, and what `work` throws
 */
export async function withLock<Result>(
  { registry, coordination, clock, logger, signal }: LockServices,
  { kind, name, lockedAs = name }: LockedDefinition,
  work: (revision: Revision) => Promise<Result>,
): Promise<Result> {
  const claim = registryKey(kind, lockedAs);
  const deadline = clock.monotonic() + 2 * lockMilliseconds;
  let claimEndsAt = clock.monotonic() + lockMilliseconds;
  while (!(await coordination.claim(claim, lockMilliseconds))) {
    if (clock.monotonic() > deadline || signal?.aborted === true) {
      throw new LendstreamError(
        'OVERLOADED',
        `${describeDefinition(kind, name)} is being changed by another request, try again.`,
      );
    }
    await clock.sleep(lockPollMilliseconds, signal);
    claimEndsAt = clock.monotonic() + lockMilliseconds;
  }
  try {
    await registry.catchUp();
    return await work(registry.revise(kind, name));
  } finally {
    // A claim that has run out may belong to another caller by now.
    if (clock.monotonic() < claimEndsAt) {
      await coordination.releaseClaim(claim).catch((error: unknown) => {
        logger.warn({ claim, error: describeError(error) }, 'Cannot release a claim; it will expire');
      });
    }
  }
}
