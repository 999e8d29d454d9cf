import { join } from 'node:path';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { PartitionBounds } from '../ports/event-log.ts';
import { AccountTables, deleteDatabase } from './account-tables.ts';

export interface DatabaseOptions {
  /** The folder of the file of the copy, accounts.db. */
  readonly dataFolder: string;
  /** Of the changelog. */
  readonly partitionCount: number;
  readonly logger: Logger;
}

/** The file of the local copy. */
export function databaseFile({ dataFolder }: Pick<DatabaseOptions, 'dataFolder'>): string {
  return join(dataFolder, 'accounts.db');
}

/** Creates a new file in place of the existing one. @throws DATA_FOLDER_UNUSABLE */
export function newDatabase(options: Pick<DatabaseOptions, 'dataFolder'>): AccountTables {
  const file = databaseFile(options);
  try {
    deleteDatabase(file);
    return new AccountTables(file);
  } catch (error) {
    throw new LendstreamError('DATA_FOLDER_UNUSABLE', `${file} cannot be made: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/**
 * Opens the existing file when it can be continued from its position, else a new one.
 * @param bounds What the log has of each partition of the changelog, with what is being committed.
 * @throws DATA_FOLDER_UNUSABLE
 */
export function openOrRebuild(options: DatabaseOptions, bounds: readonly PartitionBounds[]): AccountTables {
  const { partitionCount, logger } = options;
  const file = databaseFile(options);
  let reason: string;
  let database: AccountTables | undefined;
  try {
    database = new AccountTables(file);
    const positions = database.positions();
    const hasUnknownPartition = [...positions.keys()].some((partition) => partition >= partitionCount);
    const isOutOfRange = bounds.some(({ partition, earliest, latest }) => {
      const position = positions.get(partition);
      return position !== undefined && (position < earliest || position > latest);
    });
    if (!hasUnknownPartition && !isOutOfRange) return database;
    reason = 'it is not in step with the log';
  } catch (error) {
    reason = describeError(error);
  }
  database?.abandon();
  logger.info({ file, reason }, 'Rebuilding the copy of accounts from the log');
  return newDatabase(options);
}
