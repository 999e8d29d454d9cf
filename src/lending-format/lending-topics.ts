import { hashPartition } from '../broker/publishing/partitioning.ts';
import { ensureTopic } from '../broker/log/ensure-topic.ts';
import type { EventLog, TopicConfiguration, TopicPartition } from '../ports/event-log.ts';
import type { SystemEventType } from '../broker/definitions/event-type.ts';
import { registryTopic } from '../broker/definitions/registry.ts';
import { LendstreamError } from '../errors.ts';
import { lendingSchema } from './self-contained-schema.ts';

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
  'loan_account_changed',
  'loan_state_changed',
  'command_rejected',
  'business_day_closed',
] as const;
export type LendingEventTypeName = (typeof lendingEventTypeNames)[number];

/** The version of the service's own schemas, as in the `metadata.version` of its events. */
export const lendingSchemaVersion = '1.0.0';

/**
 * The partition of an account's commands, records and events, and of the commands for a product.
 * @param routingKey The id of the account or product.
 */
export function partitionOfAccount(routingKey: string, partitionCount: number): number {
  return hashPartition([routingKey], partitionCount);
}

/** All partitions that the commits of one loan partition may write to. */
export function partitionsWrittenBy(partition: number): TopicPartition[] {
  const ownPartitions = [...lendingEventTypeNames, deadLettersTopic, accountsTopic].map((topic) => ({
    topic,
    partition,
  }));
  return [...ownPartitions, { topic: registryTopic, partition: 0 }];
}

/** How long a dead letter is kept for a person to look at. Milliseconds. */
export const deadLetterRetentionMilliseconds = 90 * 24 * 3_600_000;

/** The fields that name the partition of an event, of those that are not about one account. */
const partitionKeyFields: Readonly<Partial<Record<LendingEventTypeName, readonly string[]>>> = {
  command_rejected: ['loanAccountId', 'loanProductId'],
  business_day_closed: ['partition'],
};

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
      partitionKeyFields: partitionKeyFields[name] ?? ['loanAccountId'],
      retentionMilliseconds,
      writtenByServiceAlone: true,
      ...(name === 'command_rejected' ? { absentKeyFieldsAllowed: true } : {}),
    })),
  ];
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
  // At once, since a cluster agrees on each change.
  const ensured = await Promise.all(requiredTopics.map((topic) => ensureTopic(log, topic, present)));
  for (const [index, topic] of requiredTopics.entries()) {
    const found = ensured[index] ?? topic;
    if (found.partitionCount !== partitionCount) {
      throw new LendstreamError(
        'CONFIGURATION_INVALID',
        `LENDING_PARTITIONS is ${partitionCount}, but ${topic.name} was created with ${found.partitionCount}.`,
      );
    }
  }
}
