import { after, type Clock } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { describeDefinition, registryKey, type Registry, type RegistryKind, type Revision } from './registry.ts';

export interface ClaimServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long the holder of a claim may take to change a definition before another caller may do so. Milliseconds. */
const claimMilliseconds = 10_000;

/** How often waiting callers check whether the claim is free. Milliseconds. */
const claimPollMilliseconds = 25;

/**
 * Does the work while no other caller, on any node, changes this definition, and after seeing all their earlier
 * changes. If `alreadyDone` returns something first, even because of another caller's work, that is returned instead.
 *
 * A claim makes other callers wait; it does not protect work that takes longer than the claim lasts. The revision does:
 * the work stores its changes with it, and an overtaken change does not count.
 * @throws OVERLOADED when others take too long, CONFLICT when the work took too long itself and others came first,
 *   COORDINATION_UNAVAILABLE, LOG_UNAVAILABLE, and what `alreadyDone` and `work` throw
 */
export async function whileClaimed<Result>(
  { registry, coordination, clock, logger }: ClaimServices,
  kind: RegistryKind,
  name: string,
  alreadyDone: () => Result | undefined,
  work: (revision: Revision) => Promise<Result>,
): Promise<Result> {
  const claim = registryKey(kind, name);
  const deadline = clock.monotonic() + 2 * claimMilliseconds;
  let claimEndsAt = clock.monotonic() + claimMilliseconds;
  while (!(await coordination.claim(claim, claimMilliseconds))) {
    await waitForChange(clock, registry, kind, name);
    const result = alreadyDone();
    if (result !== undefined) return result;
    if (clock.monotonic() > deadline) {
      throw new LendstreamError(
        'OVERLOADED',
        `${describeDefinition(kind, name)} is being changed by others, try again.`,
      );
    }
    claimEndsAt = clock.monotonic() + claimMilliseconds;
  }
  try {
    await registry.catchUp();
    return alreadyDone() ?? (await work(registry.revise(kind, name)));
  } catch (error) {
    // The caller that came first may have done what was asked for.
    const result = isLendstreamError(error, 'CONFLICT') ? alreadyDone() : undefined;
    if (result === undefined) throw error;
    return result;
  } finally {
    // A claim that has run out may belong to another caller by now.
    if (clock.monotonic() < claimEndsAt) {
      await coordination.releaseClaim(claim).catch((error: unknown) => {
        logger.warn({ claim, error: describeError(error) }, 'A claim is not released and will run out');
      });
    }
  }
}

/** Returns when the definition changes, or after a short while. */
async function waitForChange(clock: Clock, registry: Registry, kind: RegistryKind, name: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer.cancel();
      stop();
      resolve();
    };
    const timer = after(clock, claimPollMilliseconds, done);
    const stop = registry.onChange((change) => {
      if (change.kind === kind && change.name === name) done();
    });
  });
}
