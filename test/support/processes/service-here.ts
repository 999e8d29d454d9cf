import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';

/** The whole service in the process of the test, for tests that see its HTTP alone. */
export interface ServiceHere {
  readonly url: string;
  /** Ends its streams and closes its files. */
  stop(): Promise<void>;
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
  const app = await createApp(readConfig(environment), silentLogger);
  return { url: await app.start(), stop: () => app.stop() };
}
