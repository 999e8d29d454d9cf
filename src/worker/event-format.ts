import { toTimestamp } from '../clock.ts';
import type { LoanEvent } from '../lending/events.ts';
import type { Toggles } from '../lending/toggles.ts';
import type { CommandEnvelope } from './command-format.ts';
import { type CommandPosition, eventId } from './event-identity.ts';
import { writeFields } from './exact-view.ts';
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
  return `{"metadata":${writeMetadata(event.eventType, index, source)},${writeFields(event, digits, 'eventType')}}`;
}

/** Tells that a command was refused and why. It changed nothing, so it has no place in the loan's sequence. */
export function writeCommandRejected(errors: readonly ApiError[], source: EventSource, toggles: Toggles): string {
  const { envelope } = source;
  const fields = JSON.stringify({
    schemaVersion: 1,
    loanAccountId: envelope.loanAccountId,
    loanProductId: envelope.loanProductId,
    causationCommandId: envelope.commandId,
    commandType: envelope.type,
    creationDate: toTimestamp(envelope.receivedAt),
    toggles,
    errors,
  });
  return `{"metadata":${writeMetadata('command_rejected', 0, source)},${fields.slice(1)}`;
}

/** Like the broker's of an event that was published over HTTP. */
function writeMetadata(eventType: LendingEventTypeName, index: number, source: EventSource): string {
  if (shared?.source !== source) shared = { source, ...writeShared(source) };
  return `${shared.beforeId}${eventId(source.position, index)}","event_type":"${eventType}"${shared.afterType}`;
}

/** What the metadata of all events of a command have in common. They are written one right after the other. */
let shared: { readonly source: EventSource; readonly beforeId: string; readonly afterType: string } | null = null;

function writeShared({ envelope, position, receivedAt }: EventSource): { beforeId: string; afterType: string } {
  const rest = JSON.stringify({
    partition: String(position.partition),
    received_at: toTimestamp(receivedAt),
    flow_id: envelope.flowId ?? envelope.commandId,
    version: lendingSchemaVersion,
    published_by: workerName,
  });
  return { beforeId: `{"occurred_at":"${toTimestamp(envelope.receivedAt)}","eid":"`, afterType: `,${rest.slice(1)}` };
}
