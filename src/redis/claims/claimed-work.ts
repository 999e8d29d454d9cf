/**
 * Work that one process at a time does, such as the refill of a Redis that has lost its data.
 * In: the claims of the coordination, and the work. Out: whether it was done here.
 * Start with `doClaimed` below.
 */

import { every, type Clock } from '../../clock.ts';

/** The claims of this process: a name belongs to one process at a time. */
export interface Claims {
  /** See `Coordination.claim`. */
  claim(name: string, leaseMilliseconds: number): Promise<boolean>;
  /** @returns whether this process still has the claim, which then ends `leaseMilliseconds` from now */
  renewClaim(name: string, leaseMilliseconds: number): Promise<boolean>;
  releaseClaim(name: string): Promise<void>;
}

/** How often a claim is renewed while it lasts. */
const renewalsPerLease = 4;

/**
 * Does work that one process at a time should do, and keeps the claim to it for as long as that takes. When this
 * process dies, another one may begin after `leaseMilliseconds`.
 *
 * A Redis that loses its data loses the claim as well, so the work must bear that another process begins it too.
 * @returns whether the work was done; false when another process has the claim
 * @throws what `work` and Redis throw; the claim then ends by itself at the latest
 */
export async function doClaimed(
  claims: Claims,
  clock: Clock,
  { name, leaseMilliseconds }: { readonly name: string; readonly leaseMilliseconds: number },
  work: () => Promise<void>,
): Promise<boolean> {
  if (!(await claims.claim(name, leaseMilliseconds))) return false;
  const renewals = every(clock, leaseMilliseconds / renewalsPerLease, () => {
    // The next renewal may succeed, and three in a row may fail before the claim ends.
    claims.renewClaim(name, leaseMilliseconds).catch(() => {});
  });
  try {
    await work();
  } finally {
    renewals.cancel();
    await claims.releaseClaim(name);
  }
  return true;
}
