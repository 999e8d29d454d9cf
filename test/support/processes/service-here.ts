import { createApp, type App } from '../../../src/app.ts';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { readConfig, type Config } from '../../../src/config.ts';
import { silentLogger, type Logger } from '../../../src/logger.ts';

/** The whole service in the process of the test, for tests that see its HTTP alone. */
export interface ServiceHere {
  readonly url: string;
  /** Ends its streams and closes its files. */
  stop(): Promise<void>;
}

/**
 * The whole service, to be started in the process of the test. It is never overloaded: how late the event loop is
 * depends on the other tests and on what else the machine does, and a service that is late refuses streams and events.
 */
export function createAppHere(config: Config, logger: Logger, clock: Clock = systemClock): Promise<App> {
  return createApp(config, logger, clock, { read: () => 0, close: () => {} });
}

/**
 * Starts the service as {@link startService} would, without a process of its own, whose start takes most of a second of
 * processor time. Its settings do not come from the environment.
 */
export async function startServiceHere(
  dataFolder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceHere> {
  const environment = { HOST: '127.0.0.1', PORT: '0', END_OF_DAY_SCHEDULE: 'off', DATA_DIR: dataFolder, ...settings };
  const app = await createAppHere(readConfig(environment), silentLogger);
  return { url: await app.start(), stop: () => app.stop() };
}
