import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import { type BodiesInFlight, bodyBudgetNames } from './bodies-in-flight.ts';

/** The pause between log lines about refused bodies, as there may be thousands a second. Milliseconds. */
export const warningPauseMilliseconds = 60_000;

export interface RefusedBodiesServices {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Counts the bodies that are refused because too many bytes are under way. It logs the first one, then the first one
 * after each pause.
 * @returns A function that ends it.
 */
export function reportRefusedBodies(
  bodies: BodiesInFlight,
  { metrics, logger, clock }: RefusedBodiesServices,
): () => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let refused = 0;
  // Each series begins at 0: an alert sees no increase in a series that begins with its first body.
  for (const budget of bodyBudgetNames) metrics.refusedBodies.inc({ budget }, 0);
  return bodies.onRefused((budget) => {
    metrics.refusedBodies.inc({ budget });
    refused += 1;
    const now = clock.monotonic();
    if (now < quietUntil) return;
    logger.warn({ budget, refused, bytes: bodies.bytes }, 'Rejecting requests: too many bytes of bodies in progress');
    quietUntil = now + warningPauseMilliseconds;
    refused = 0;
  });
}
