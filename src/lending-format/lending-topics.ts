import { ensureTopic } from '../broker/log/ensure-topic.ts';
import { type EventLog, type TopicConfiguration, type TopicPartition, noValue } from '../ports/event-log.ts';
import type { SystemEventType } from '../broker/definitions/event-type.ts';
import { registryTopic } from '../broker/definitions/registry.ts';
import { LendstreamError } from '../errors.ts';
import { formatOf, storedFormat } from '../lending/changelog/stored-format.ts';
import { type JsonSchema, loadSchema } from '../schemas.ts';
import { accountRecordOf } from './account-record-keys.ts';

/** Commands for loans, in partitions by loan. Also an event type: producers may post to it. */
export const loanCommandsTopic = 'lendstream.loan-commands';
/** The changelog: each loan's state after its last command, and a checkpoint record per partition. */
export const accountsTopic = 'lendstream.accounts';
/** Commands that could not be read or decided, with the reason. */
export const deadLettersTopic = 'lendstream.loan-commands.dead-letters';

/** The event types that the worker publishes. Each topic has the name of its event type. */
export const lendingEventTypeNames = [
  'loan_transaction_posted',
  'loan_fee_event',
  'loan_balance_changed',
  'loan_schedule_changed',
  'loan_state_changed',
  'command_rejected',
] as const;
export type LendingEventTypeName = (typeof lendingEventTypeNames)[number];

/** The version of the service's own schemas, as in the `metadata.version` of its events. */
export const lendingSchemaVersion = '1.0.0';

/** All partitions that the commits of one loan partition may write to. */
export function partitionsWrittenBy(partition: number): TopicPartition[] {
  const ownPartitions = [...lendingEventTypeNames, deadLettersTopic, accountsTopic].map((topic) => ({
    topic,
    partition,
  }));
  return [...ownPartitions, { topic: registryTopic, partition: 0 }];
}

/** How long a dead letter is kept for a person to look at. Milliseconds. */
const deadLetterRetentionMilliseconds = 90 * 24 * 3_600_000;

/** The event types of the lending module, to be registered at start. */
export function lendingEventTypes(partitionCount: number, retentionMilliseconds: number): SystemEventType[] {
  return [
    {
      name: loanCommandsTopic,
      schema: lendingSchema('commands/loan-command.json'),
      partitionCount,
      partitionKeyFields: ['loanAccountId', 'loanProductId'],
      retentionMilliseconds,
      keptUntilDone: true,
      absentKeyFieldsAllowed: true,
    },
    ...lendingEventTypeNames.map((name) => ({
      name,
      schema: lendingSchema(`events/${name.replaceAll('_', '-')}.json`),
      partitionCount,
      partitionKeyFields: name === 'command_rejected' ? ['loanAccountId', 'loanProductId'] : ['loanAccountId'],
      retentionMilliseconds,
      writtenByServiceAlone: true,
      ...(name === 'command_rejected' ? { absentKeyFieldsAllowed: true } : {}),
    })),
  ];
}

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

/**
 * Creates the topics that are no event types, the changelog and the dead letters, where they are missing.
 * @throws CONFIGURATION_INVALID when they exist with another number of partitions, which would split a loan's history
 */
export async function ensureLendingTopics(log: EventLog, partitionCount: number): Promise<void> {
  const requiredTopics: TopicConfiguration[] = [
    { name: accountsTopic, partitionCount, cleanupPolicy: 'compact', retentionMilliseconds: 0 },
    {
      name: deadLettersTopic,
      partitionCount,
      cleanupPolicy: 'delete',
      retentionMilliseconds: deadLetterRetentionMilliseconds,
    },
  ];
  const present = await log.listTopics(requiredTopics.map(({ name }) => name));
  for (const topic of requiredTopics) {
    const found = await ensureTopic(log, topic, present);
    if (found.partitionCount !== partitionCount) {
      throw new LendstreamError(
        'CONFIGURATION_INVALID',
        `LENDING_PARTITIONS is ${partitionCount}, but ${topic.name} was created with ${found.partitionCount}.`,
      );
    }
  }
}

/**
 * A schema file that includes everything it refers to in `common.json`, so that it is complete wherever it is shown.
 * @param file Path below schemas/.
 */
export function lendingSchema(file: string): JsonSchema {
  const shared = loadSchema('common.json')['$defs'] as Record<string, unknown>;
  const own = withLocalReferences(loadSchema(file));
  const definitions: Record<string, unknown> = { ...(own.schema['$defs'] as object | undefined) };
  const referredNames = [...own.referredNames];
  for (let name = referredNames.pop(); name !== undefined; name = referredNames.pop()) {
    if (definitions[name] !== undefined) continue;
    if (shared[name] === undefined) throw new Error(`${file} refers to ${name}, which is not in common.json`);
    const definition = withLocalReferences(shared[name]);
    definitions[name] = definition.schema;
    referredNames.push(...definition.referredNames);
  }
  return { ...own.schema, $defs: definitions };
}

interface LocalSchema {
  readonly schema: JsonSchema;
  /** The definitions that it refers to, in the order of the references. */
  readonly referredNames: readonly string[];
}

/** A copy of a schema that refers to its own `$defs` in place of those of `common.json`. */
function withLocalReferences(schema: unknown): LocalSchema {
  const referredNames: string[] = [];
  const copy = JSON.parse(JSON.stringify(schema), (keyword, value: unknown) => {
    if (keyword !== '$ref' || typeof value !== 'string') return value;
    const name = value.slice(value.indexOf(definitionsPath) + definitionsPath.length);
    referredNames.push(name);
    return definitionsPath + name;
  }) as JsonSchema;
  return { schema: copy, referredNames };
}

const definitionsPath = '#/$defs/';
