import { toTimestamp } from '../clock.ts';
import { addDays } from '../lending/dates.ts';
import type { LoanEvent, LoanEventHeader } from '../lending/events.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { Toggles } from '../lending/toggle-names.ts';
import type { CommandEnvelope } from './command-format.ts';
import { type CommandPosition, eventId } from './derived-ids.ts';
import { writeFields } from './amount-format.ts';
import { type LendingEventTypeName, lendingSchemaVersion } from './lending-topics.ts';
import type { ApiError } from './refusal-format.ts';

/** The `published_by` of every event of the worker. */
const workerName = 'lending-worker';

/** The parts of an event's metadata that come from its command and from that command's position in the log. */
export interface EventSource {
  readonly envelope: CommandEnvelope;
  readonly position: CommandPosition;
  /** When the worker decided. Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/**
 * Writes the events of one command as they are published: metadata like that of any published event, the fields beside
 * it, amounts exact. What the events of a command have in common, the header except for its sequence and the metadata
 * except for id and type, is written once.
 * @param digits Decimal digits of the loan's currency.
 * @returns a function that writes the event at an index among those of the command, from 0
 */
export function eventWriter(source: EventSource, digits: number): (event: LoanEvent, index: number) => string {
  const metadataOf = metadataWriter(source);
  let header: AroundSequence | undefined;
  let caused: LoanEvent | undefined;
  return (event, index) => {
    // A command may post several transactions, and to several accounts.
    if (header === undefined || !hasSameHeader(event, caused)) header = writeAroundSequence(event, digits);
    caused = event;
    const fields = writeFields(event, digits, 'eventType', headerStart);
    return `{"metadata":${metadataOf(event.eventType, index)},${fields},${header.before}${event.sequence}${header.after}}`;
  };
}

/** The first field of the header, which follows the fields of its event. */
const headerStart = 'schemaVersion' satisfies keyof LoanEventHeader;

/** Whether two events of one command are about the same account and transaction. */
function hasSameHeader(event: LoanEventHeader, other: LoanEventHeader | undefined): boolean {
  return (
    event.loanAccountId === other?.loanAccountId &&
    event.transactionEncodedKey === other.transactionEncodedKey &&
    event.valueDate === other.valueDate
  );
}

/** The text of a header before and after its sequence. */
interface AroundSequence {
  readonly before: string;
  readonly after: string;
}

function writeAroundSequence(event: LoanEventHeader, digits: number): AroundSequence {
  const subject = {
    schemaVersion: event.schemaVersion,
    loanAccountId: event.loanAccountId,
    loanAccountEncodedKey: event.loanAccountEncodedKey,
    productTypeKey: event.productTypeKey,
  };
  const cause = {
    causationCommandId: event.causationCommandId,
    transactionEncodedKey: event.transactionEncodedKey,
    transactionType: event.transactionType,
    valueDate: event.valueDate,
    bookingDate: event.bookingDate,
    creationDate: event.creationDate,
    toggles: event.toggles,
  };
  return { before: `${writeFields(subject, digits)},"sequence":`, after: `,${writeFields(cause, digits)}` };
}

/**
 * The event that reports why a command was refused. The command changed nothing, so the event has no number in the
 * loan's sequence.
 */
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
  return `{"metadata":${metadataWriter(source)('command_rejected', 0)},${fields.slice(1)}`;
}

/** The event that reports that the end of a day is done for all accounts of a partition. */
export function writeBusinessDayClosed(businessDate: LocalDate, source: EventSource): string {
  const { envelope, position } = source;
  const fields = JSON.stringify({
    schemaVersion: 1,
    partition: position.partition,
    businessDate,
    nextBusinessDate: addDays(businessDate, 1),
    causationCommandId: envelope.commandId,
    creationDate: toTimestamp(envelope.receivedAt),
  });
  return `{"metadata":${metadataWriter(source)('business_day_closed', 0)},${fields.slice(1)}`;
}

/** Writes the same metadata as the broker does for an event that was published over HTTP. */
function metadataWriter({
  envelope,
  position,
  receivedAt,
}: EventSource): (eventType: LendingEventTypeName, index: number) => string {
  const flowId = JSON.stringify(envelope.flowId ?? envelope.commandId);
  const { traceparent } = envelope;
  const trace = traceparent === undefined ? '' : `,"span_ctx":${JSON.stringify({ traceparent })}`;
  const positionFields = `"partition":"${position.partition}","received_at":"${toTimestamp(receivedAt)}","flow_id":${flowId}`;
  const beforeId = `{"occurred_at":"${toTimestamp(envelope.receivedAt)}","eid":"`;
  const afterType = `,${positionFields},"version":"${lendingSchemaVersion}","published_by":"${workerName}"${trace}}`;
  return (eventType, index) => `${beforeId}${eventId(position, index)}","event_type":"${eventType}"${afterType}`;
}
