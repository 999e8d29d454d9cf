import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type CheckStep, startCheckThread } from './check-thread.ts';

/**
 * Checks a database file in the background, again and again: at no time does a start or a request wait for it.
 * In: the file and the script of the thread that reads it. Out: progress, and each damage that is found.
 * Start with `#checkAgainAndAgain`; `check-thread.ts` is the thread.
 */

/** When the first check begins. Milliseconds after the start, which has other work to do. */
const firstCheckMillisecondsDefault = 10_000;

/** The pause between the end of a check and the next one. Milliseconds. */
const pauseMilliseconds = 24 * 60 * 60 * 1_000;

/** The pause after a check that could not be finished. Milliseconds. */
const retryMilliseconds = 60_000;

/** After a step, the thread rests this many times as long as the step took: it uses a quarter of a core and a disk. */
const restPerStep = 3;

/** The shortest rest after a step. Milliseconds. */
const restMillisecondsMinimum = 4;

/** How often the progress is logged, as a share of the file. */
const loggedShare = 0.1;

/** The most damages of one check that are logged line by line. All are counted. */
const loggedDamagesMaximum = 20;

export interface IntegrityCheckOptions {
  readonly path: string;
  /** The compiled module of the thread, which calls `serveCheck`. */
  readonly script: URL;
  readonly clock: Clock;
  readonly logger: Logger;
  /** When the first check begins. Milliseconds after the start. Default ten seconds. */
  readonly firstCheckMilliseconds?: number;
  /** Called with all damages that the present check has found so far, when one is found and when a check has ended. */
  readonly onDamages: (damages: DamageReport) => void;
}

/** The damages that one check has found. */
export interface DamageReport {
  readonly count: number;
  /** A sentence about the first one; null when there is none. */
  readonly first: string | null;
}

/** How far the check of a file is. */
export interface IntegrityProgress {
  /** The name of the file. */
  readonly file: string;
  /** How much of the file the present check has read, or the last one when none runs: from 0 to 1. */
  readonly checkedShare: number;
  /** When the last check reached the end of the file. Milliseconds since the epoch; null before that. */
  readonly finishedAt: number | null;
  /** How many damages the last check found, until the present one finds some or ends. */
  readonly damageCount: number;
}

export class IntegrityCheck {
  readonly #options: IntegrityCheckOptions;
  readonly #file: string;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #checkedShare = 0;
  #finishedAt: number | null = null;
  #damages: DamageReport = { count: 0, first: null };

  constructor(options: IntegrityCheckOptions) {
    this.#options = options;
    this.#file = basename(options.path);
    this.#ended = this.#checkAgainAndAgain();
  }

  get progress(): IntegrityProgress {
    const { count: damageCount } = this.#damages;
    return { file: this.#file, checkedShare: this.#checkedShare, finishedAt: this.#finishedAt, damageCount };
  }

  /** Ends the check after the step that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #checkAgainAndAgain(): Promise<void> {
    const { clock, logger, firstCheckMilliseconds = firstCheckMillisecondsDefault } = this.#options;
    const { signal } = this.#closing;
    await clock.sleep(firstCheckMilliseconds, signal);
    while (!signal.aborted) {
      let pause = pauseMilliseconds;
      try {
        await this.#check(signal);
      } catch (error) {
        logger.warn({ file: this.#file, error: describeError(error) }, 'Checking a file failed; retrying');
        pause = retryMilliseconds;
      }
      await clock.sleep(pause, signal);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { path, script, clock, logger, onDamages } = this.#options;
    const startedAt = clock.monotonic();
    this.#checkedShare = 0;
    let loggedAt = 0;
    let damages: DamageReport = { count: 0, first: null };
    logger.info({ file: this.#file }, 'Checking the integrity of a file');
    const thread = startCheckThread(script, path);
    try {
      for (let isDone = false; !isDone;) {
        const stepStartedAt = clock.monotonic();
        const step = await thread.step();
        if (signal.aborted) return;
        isDone = step.isDone;
        this.#checkedShare = step.checkedShare;
        if (step.damages.length > 0) {
          damages = this.#add(damages, step);
          this.#damages = damages;
          onDamages(damages);
        }
        if (step.checkedShare >= loggedAt + loggedShare && !isDone) {
          loggedAt = step.checkedShare;
          logger.info({ file: this.#file, checkedPercent: Math.floor(100 * loggedAt) }, 'Checking a file continues');
        }
        const rest = restPerStep * (clock.monotonic() - stepStartedAt);
        if (!isDone) await clock.sleep(Math.max(rest, restMillisecondsMinimum), signal);
        if (signal.aborted) return;
      }
    } finally {
      await thread.close();
    }
    this.#damages = damages;
    this.#finishedAt = clock.now();
    onDamages(damages);
    const seconds = Math.round((clock.monotonic() - startedAt) / 1_000);
    logger.info({ file: this.#file, seconds, damages: damages.count }, 'The integrity of a file was checked');
  }

  #add(damages: DamageReport, step: CheckStep): DamageReport {
    const { logger } = this.#options;
    for (const damage of step.damages.slice(0, Math.max(0, loggedDamagesMaximum - damages.count))) {
      logger.error({ file: this.#file, damage }, 'A file is damaged');
    }
    return { count: damages.count + step.damages.length, first: damages.first ?? step.damages[0] ?? null };
  }
}
