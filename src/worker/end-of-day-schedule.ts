import { Cron } from 'croner';
import { type Timer, after } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { LocalDate } from '../lending/terms.ts';
import {
  type BusinessDates,
  businessDateOf,
  lastDayOver,
  readOrganization,
} from '../lending-format/stored-organization.ts';
import type { Logger } from '../logger.ts';

/** The longest time that a timer can wait. Milliseconds. */
const timerMillisecondsMaximum = 24 * 3_600_000;

/** When a failed end of a day is tried again. Milliseconds. */
const retryMilliseconds = 60_000;

export interface EndOfDayScheduleServices extends BusinessDates {
  /** Closes a day for every partition of accounts. It may throw before all of them are closed. */
  readonly closeDay: (businessDate: LocalDate) => Promise<unknown>;
  readonly logger: Logger;
}

/**
 * Closes the business day that is over at the times of a cron expression, in the zone of the organization. Several
 * processes may run the same schedule: a day is closed once. At the start, days that were missed while no process ran
 * are closed.
 */
export class EndOfDaySchedule {
  readonly #services: EndOfDayScheduleServices;
  readonly #expression: string;
  #timer: Timer | undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  /** @param expression Five fields: minute, hour, day of the month, month, day of the week. */
  constructor(services: EndOfDayScheduleServices, expression: string) {
    this.#services = services;
    this.#expression = expression;
  }

  start(): void {
    const { clock } = this.#services;
    // A day has been closed before, and the last one that is over was not: no process ran when it was due.
    if (businessDateOf(this.#services) <= lastDayOver(this.#services)) this.#run();
    else this.#wait(clock.now());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** Waits for the first time of the expression after this one, in steps that a timer can count. */
  #wait(since: number): void {
    if (this.#stopped) return;
    const { clock, registry } = this.#services;
    const next = nextRun(this.#expression, readOrganization(registry).timeZoneID, since);
    if (next === null) return;
    const milliseconds = Math.max(0, next - clock.now());
    this.#timer =
      milliseconds > timerMillisecondsMaximum
        ? after(clock, timerMillisecondsMaximum, () => this.#wait(since))
        : after(clock, milliseconds, () => this.#run());
  }

  #run(): void {
    this.#running = this.#closeLastDay();
  }

  async #closeLastDay(): Promise<void> {
    const { closeDay, clock, logger } = this.#services;
    const businessDate = lastDayOver(this.#services);
    try {
      await closeDay(businessDate);
      logger.info({ businessDate }, 'The end of the day was asked for by its schedule');
      this.#wait(clock.now());
    } catch (error) {
      logger.error({ businessDate, error: describeError(error) }, 'The end of the day failed and is tried again');
      if (!this.#stopped) this.#timer = after(clock, retryMilliseconds, () => this.#run());
    }
  }
}

/** The first time of a cron expression after this one; null when there is none. Milliseconds since the epoch. */
export function nextRun(expression: string, timezone: string, since: number): number | null {
  return new Cron(expression, { timezone, paused: true }).nextRun(new Date(since))?.getTime() ?? null;
}

/** @throws CONFIGURATION_INVALID when the text is no cron expression of five fields */
export function requireCronExpression(expression: string): void {
  try {
    if (expression.trim().split(/\s+/).length !== 5) throw new Error('it has not five fields');
    new Cron(expression, { paused: true }).nextRun();
  } catch (error) {
    throw new LendstreamError(
      'CONFIGURATION_INVALID',
      `END_OF_DAY_SCHEDULE is no cron expression such as "5 0 * * *": ${describeError(error)}`,
      { cause: error },
    );
  }
}
