import { toTimestamp } from '../clock.ts';
import type { LoanEvent } from '../lending/events.ts';
import type { Toggles } from '../lending/toggles.ts';
import type { CommandEnvelope } from './command-format.ts';
import { type CommandPosition, eventId } from './event-identity.ts';
import { writeView } from './exact-view.ts';
import { type LendingEventTypeName, lendingSchemaVersion } from './lending-topics.ts';
import type { ApiError } from './refusal-format.ts';

/** Who published: the `published_by` of every event of the worker. */
const workerName = 'lending-worker';

/** What an event's metadata takes from the command that caused it and from where that command lies. */
export interface EventSource {
  readonly envelope: CommandEnvelope;
  readonly position: CommandPosition;
  /** When the worker decided. Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/**
 * A loan's event as it is published: metadata like that of any published event, the fields beside it, amounts exact.
 * @param index Place among the events of its command, from 0.
 * @param digits Of the loan's currency.
 */
export function writeLoanEvent(event: LoanEvent, index: number, source: EventSource, digits: number): string {
  const { eventType, ...fields } = event;
  return writeView({ metadata: metadataOf(eventType, index, source), ...fields }, digits);
}

/** Tells that a command was refused and why. It changed nothing, so it has no place in the loan's sequence. */
export function writeCommandRejected(errors: readonly ApiError[], source: EventSource, toggles: Toggles): string {
  const { envelope } = source;
  return JSON.stringify({
    metadata: metadataOf('command_rejected', 0, source),
    schemaVersion: 1,
    loanAccountId: envelope.loanAccountId,
    loanProductId: envelope.loanProductId,
    causationCommandId: envelope.commandId,
    commandType: envelope.type,
    creationDate: toTimestamp(envelope.receivedAt),
    toggles,
    errors,
  });
}

function metadataOf(eventType: LendingEventTypeName, index: number, source: EventSource): Record<string, unknown> {
  const { envelope, position, receivedAt } = source;
  return {
    occurred_at: toTimestamp(envelope.receivedAt),
    eid: eventId(position, index),
    event_type: eventType,
    partition: String(position.partition),
    received_at: toTimestamp(receivedAt),
    flow_id: envelope.flowId ?? envelope.commandId,
    version: lendingSchemaVersion,
    published_by: workerName,
  };
}
