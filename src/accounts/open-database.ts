import { join } from 'node:path';
import { LendstreamError, describeError } from '../errors.ts';
import { accountsTopic } from '../lending-format/lending-topics.ts';
import type { Logger } from '../logger.ts';
import type { EventLog } from '../ports/event-log.ts';
import { LoanDatabase, deleteDatabase } from './loan-database.ts';

export interface DatabaseOptions {
  readonly log: EventLog;
  /** The folder of the file of the view, accounts.db. */
  readonly dataFolder: string;
  /** Of the changelog. */
  readonly partitionCount: number;
  readonly logger: Logger;
}

/** Creates a new file in place of the existing one. @throws DATA_FOLDER_UNUSABLE */
export function newDatabase({ dataFolder }: Pick<DatabaseOptions, 'dataFolder'>): LoanDatabase {
  const file = join(dataFolder, 'accounts.db');
  try {
    deleteDatabase(file);
    return new LoanDatabase(file);
  } catch (error) {
    throw new LendstreamError('DATA_FOLDER_UNUSABLE', `${file} cannot be made: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Opens the existing file when it can be continued from its position, else a new one. */
export async function openOrRebuild(options: DatabaseOptions): Promise<LoanDatabase> {
  const { dataFolder, log, partitionCount, logger } = options;
  const file = join(dataFolder, 'accounts.db');
  const bounds = await log.bounds(
    Array.from({ length: partitionCount }, (_, partition) => ({ topic: accountsTopic, partition })),
  );
  let reason: string;
  let database: LoanDatabase | undefined;
  try {
    database = new LoanDatabase(file);
    const positions = database.positions();
    const hasUnknownPartition = [...positions.keys()].some((partition) => partition >= partitionCount);
    const isOutOfRange = bounds.some(({ partition, earliest, latest }) => {
      const position = positions.get(partition);
      return position !== undefined && (position < earliest || position > latest);
    });
    if (database.isCurrentVersion && !hasUnknownPartition && !isOutOfRange) return database;
    reason = database.isCurrentVersion ? 'it is not in step with the log' : 'it is of another version';
  } catch (error) {
    reason = describeError(error);
  }
  database?.abandon();
  logger.info({ file, reason }, 'Rebuilding the view of loans from the log');
  return newDatabase(options);
}
