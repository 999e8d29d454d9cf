import { EmbeddedLog } from '../../src/embedded/log.ts';
import type { EmbeddedLogOptions } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { removeFolder, temporaryFolder } from './processes/service.ts';

/** An embedded log in a separate folder, which can be closed and opened again. */
export interface TemporaryLog {
  readonly dataFolder: string;
  log: EmbeddedLog;
  /** Closes the log and opens it again, with other options if given. */
  reopen(options?: Partial<EmbeddedLogOptions>): Promise<EmbeddedLog>;
  /** Closes the log and removes its folder. */
  cleanup(): Promise<void>;
}

export async function openTemporaryLog(options: Partial<EmbeddedLogOptions> = {}): Promise<TemporaryLog> {
  const dataFolder = await temporaryFolder();
  const open = (changed: Partial<EmbeddedLogOptions> = {}): Promise<EmbeddedLog> =>
    EmbeddedLog.open({ dataFolder, logger: silentLogger, syncsToDisk: false, ...options, ...changed });
  const temporary: TemporaryLog = {
    dataFolder,
    log: await open(),
    reopen: async (changed) => {
      await temporary.log.close();
      temporary.log = await open(changed);
      return temporary.log;
    },
    cleanup: async () => {
      await temporary.log.close();
      await removeFolder(dataFolder);
    },
  };
  return temporary;
}
