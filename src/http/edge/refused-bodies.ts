import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import { type BodiesInFlight, bodyBudgetNames } from './bodies-in-flight.ts';

/** How long nothing more is logged about refused bodies: thousands a second may be. Milliseconds. */
export const warningPauseMilliseconds = 60_000;

export interface RefusedBodiesServices {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Counts the bodies that are refused because too many bytes are under way, and logs a line about them from time to
 * time: of the first one, then of the first one after each pause.
 * @returns Ends it.
 */
export function reportRefusedBodies(
  bodies: BodiesInFlight,
  { metrics, logger, clock }: RefusedBodiesServices,
): () => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let refused = 0;
  // A series that began with its first body would have no increase that an alert could see.
  for (const budget of bodyBudgetNames) metrics.refusedBodies.inc({ budget }, 0);
  return bodies.onRefused((budget) => {
    metrics.refusedBodies.inc({ budget });
    refused += 1;
    const now = clock.monotonic();
    if (now < quietUntil) return;
    logger.warn(
      { budget, refused, bytes: bodies.bytes },
      'Requests are refused: too many bytes of bodies are under way',
    );
    quietUntil = now + warningPauseMilliseconds;
    refused = 0;
  });
}
