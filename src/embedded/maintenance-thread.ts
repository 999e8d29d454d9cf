import { LendstreamError, describeError } from '../errors.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import { startLogThread } from './thread/log-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { MaintenanceRequests } from './thread/messages.ts';

export interface MaintenanceThreadOptions {
  readonly databasePath: string;
  readonly health: HealthPart;
  readonly logger: Logger;
}

/** The thread that maintains the log. It is started when it is first needed, and again when it ended by itself. */
export class MaintenanceThread {
  readonly #options: MaintenanceThreadOptions;
  #thread: Promise<LogThread<MaintenanceRequests>> | undefined;
  #isStopped = false;

  constructor(options: MaintenanceThreadOptions) {
    this.#options = options;
  }

  /** Whether maintenance has to end: {@link stop} was called. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The running thread. @throws LOG_CLOSED after {@link stop} */
  started(): Promise<LogThread<MaintenanceRequests>> {
    if (this.#isStopped) return Promise.reject(new LendstreamError('LOG_CLOSED', 'The log is closed.'));
    this.#thread ??= this.#start();
    return this.#thread;
  }

  /** Does what nothing waits for: a failure is logged, and the next round tries again. */
  async runInBackground(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (this.#isStopped) return;
      this.#options.logger.warn({ error: describeError(error) }, 'Maintenance of the log failed; retrying');
    }
  }

  /** Nothing may begin any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Ends the thread. To be called after {@link stop}, when the work under way has ended. */
  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    if (thread === undefined) return;
    await this.runInBackground(async () => {
      await thread.call('close', null);
    });
    await thread.end();
  }

  async #start(): Promise<LogThread<MaintenanceRequests>> {
    const { databasePath, health, logger } = this.#options;
    const script = new URL('./thread/removable-records.js', import.meta.url);
    const thread = startLogThread<MaintenanceRequests>(script, (error) => {
      logger.error({ error: describeError(error) }, 'The thread that maintains the log ended; restarting it');
      health.reportNotReady(`The thread that maintains the log ended; restarting it: ${describeError(error)}.`);
      this.#thread = undefined;
    });
    try {
      await thread.call('open', { path: databasePath });
      health.reportReady();
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.end();
      throw error;
    }
  }
}
