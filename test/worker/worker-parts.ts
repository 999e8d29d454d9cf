import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { systemClock } from '../../src/clock.ts';
import { ensureLendingTopics } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { openLendingLog } from '../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** What a worker needs to decide the commands of one partition. */
export interface WorkerParts {
  readonly log: EventLog;
  readonly registry: Registry;
  /** The copy of the changelog. */
  readonly accounts: AccountsCopy;
  close(): Promise<void>;
}

/** Opens all parts on a log with every topic of lending, in one partition. */
export async function openWorkerParts(): Promise<WorkerParts> {
  const dataFolder = await temporaryFolder();
  const log = await openLendingLog(dataFolder);
  await ensureLendingTopics(log, 1);
  const registry = new Registry(log, silentLogger);
  await registry.start();
  const accounts = await openFilledCopy({
    dataFolder,
    log,
    partitionCount: 1,
    clock: systemClock,
    logger: silentLogger,
  });
  return {
    log,
    registry,
    accounts,
    async close() {
      await accounts.close();
      await registry.stop();
      await log.close();
      await removeFolder(dataFolder);
    },
  };
}
