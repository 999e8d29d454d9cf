import { type EventLog, noValue } from '../ports/event-log.ts';
import { LendstreamError } from '../errors.ts';
import { formatOf, storedFormat } from '../lending/changelog/stored-format.ts';
import { accountRecordOf } from './account-record-keys.ts';
import { accountsTopic } from './lending-topics.ts';

/** The changelog of earlier versions: one record for each loan with its whole history. */
const earlierChangelogTopic = 'lendstream.loans';

/** How much of each partition is read to find the format of its accounts. Bytes. */
const formatSampleBytes = 64 * 1024;

/**
 * Refuses a log that an earlier version wrote, before anything is written to it. Its accounts could not be read, and
 * its commands would be done once more.
 * @throws CONFIGURATION_INVALID, and the errors of the log
 */
export async function refuseEarlierFormat(log: EventLog): Promise<void> {
  const found = await log.listTopics([earlierChangelogTopic, accountsTopic]);
  if (found.some(({ name }) => name === earlierChangelogTopic)) {
    throw new LendstreamError(
      'CONFIGURATION_INVALID',
      `The log has ${earlierChangelogTopic}, which an earlier version wrote and this one does not read: start with other data.`,
    );
  }
  const { partitionCount } = found.find(({ name }) => name === accountsTopic) ?? { partitionCount: 0 };
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
  const formats = await Promise.all(partitions.map((partition) => formatOfAccounts(log, partition)));
  const other = formats.find((format) => format !== undefined && format !== storedFormat);
  if (other === undefined) return;
  throw new LendstreamError(
    'CONFIGURATION_INVALID',
    `The log has accounts of format ${other}, and this version reads format ${storedFormat}: start with other data, or with the version that wrote them.`,
  );
}

/** The format of the first account of a partition; undefined when no account is among its first records. */
async function formatOfAccounts(log: EventLog, partition: number): Promise<number | undefined> {
  const [bounds] = await log.bounds([{ topic: accountsTopic, partition }]);
  if (bounds === undefined || bounds.earliest === bounds.latest) return undefined;
  const from = { topic: accountsTopic, partition, offset: bounds.earliest };
  const { batches } = await log.read(from, { bytesMaximum: formatSampleBytes, waitMilliseconds: 0 });
  for (const batch of batches) {
    for (let index = 0; index < batch.count; index += 1) {
      const start = batch.valueStarts[index] ?? noValue;
      if (start === noValue || accountRecordOf(batch.key(index) ?? '') === undefined) continue;
      return formatOf(batch.bytes.toString('utf8', start, batch.valueEnds[index]));
    }
  }
  return undefined;
}
