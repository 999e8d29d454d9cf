import { ensureTopic } from '../broker/log/ensure-topic.ts';
import type { EventLog, TopicConfiguration, TopicPartition } from '../ports/event-log.ts';
import type { SystemEventType } from '../broker/definitions/event-type.ts';
import { registryTopic } from '../broker/definitions/registry.ts';
import { LendstreamError } from '../errors.ts';
import { type JsonSchema, loadSchema } from '../schemas.ts';

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

/**
 * Refuses a log that an earlier version wrote, before anything is written to it. Its accounts could not be read, and
 * its commands would be done once more.
 * @throws CONFIGURATION_INVALID
 */
export async function refuseEarlierFormat(log: EventLog): Promise<void> {
  const [found] = await log.listTopics([earlierChangelogTopic]);
  if (found === undefined) return;
  throw new LendstreamError(
    'CONFIGURATION_INVALID',
    `The log has ${earlierChangelogTopic}, which an earlier version wrote and this one does not read: start with other data.`,
  );
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
