import type { Request, Response } from 'express';
import type { ExceededLimit } from '../../../access/limits/too-many-requests.ts';
import type { Clock } from '../../../clock.ts';
import type { LendstreamError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import { principalOf } from '../principal-of-request.ts';
import { usageOf } from './usage-of-response.ts';

/** The pause between log lines about refusals, as there may be hundreds a second. Milliseconds. */
export const limitWarningPauseMilliseconds = 60_000;

/** Logs the first refusal by a limit, then the first one after each pause. */
export class RefusalWarnings {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #refused = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  note({ details }: LendstreamError, request: Request, response: Response): void {
    this.#refused += 1;
    const now = this.#clock.monotonic();
    if (now < this.#quietUntil) return;
    const { name: limit } = details['exceeded'] as ExceededLimit;
    const who = usageOf(response) === undefined ? null : principalOf(response).name;
    const facts = { who, from: request.ip ?? '', limit, refused: this.#refused };
    this.#logger.warn(facts, 'Refusing requests beyond a limit');
    this.#quietUntil = now + limitWarningPauseMilliseconds;
    this.#refused = 0;
  }
}
