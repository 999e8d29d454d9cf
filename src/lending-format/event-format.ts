import { toTimestamp } from '../clock.ts';
import type { LoanEvent, LoanEventHeader } from '../lending/events.ts';
import { toInstant } from '../lending/loan.ts';
import type { Toggles } from '../lending/toggles.ts';
import type { CommandEnvelope } from './command-format.ts';
import { type CommandPosition, eventId } from './event-identity.ts';
import { writeFields } from './exact-view.ts';
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
 * A loan's event as it is published: metadata like that of any published event, the fields beside it, amounts exact.
 * @param index Position among the events of its command, from 0.
 * @param digits Decimal digits of the loan's currency.
 */
export function writeLoanEvent(event: LoanEvent, index: number, source: EventSource, digits: number): string {
  const metadata = writeMetadata(event.eventType, index, source);
  return `{"metadata":${metadata},${writeFields(event, digits, 'eventType', headerStart)},${writeHeader(event, digits)}}`;
}

/** The first field of the header, which follows the fields of its event. */
const headerStart = 'schemaVersion' satisfies keyof LoanEventHeader;

/**
 * All events of a command have the same header except for its sequence. They are written one right after another, so
 * the last header is kept.
 */
function writeHeader(event: LoanEventHeader, digits: number): string {
  if (cachedHeader === null || !hasSameHeader(cachedHeader.event, event))
    cachedHeader = { event, ...writeAroundSequence(event, digits) };
  return `${cachedHeader.before}${event.sequence}${cachedHeader.after}`;
}

let cachedHeader: { readonly event: LoanEventHeader; readonly before: string; readonly after: string } | null = null;

function hasSameHeader(one: LoanEventHeader, other: LoanEventHeader): boolean {
  return (
    one.causationCommandId === other.causationCommandId &&
    one.loanAccountId === other.loanAccountId &&
    one.transactionEncodedKey === other.transactionEncodedKey &&
    one.toggles === other.toggles &&
    one.creationDate === other.creationDate &&
    one.transactionType === other.transactionType &&
    one.valueDate === other.valueDate &&
    one.bookingDate === other.bookingDate &&
    one.loanAccountEncodedKey === other.loanAccountEncodedKey &&
    one.productTypeKey === other.productTypeKey
  );
}

function writeAroundSequence(event: LoanEventHeader, digits: number): { before: string; after: string } {
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
  return `{"metadata":${writeMetadata('command_rejected', 0, source)},${fields.slice(1)}`;
}

/** The same metadata as the broker writes for an event that was published over HTTP. */
function writeMetadata(eventType: LendingEventTypeName, index: number, source: EventSource): string {
  if (cachedMetadata?.source !== source) cachedMetadata = { source, ...writeCommonMetadata(source) };
  return `${cachedMetadata.beforeId}${eventId(source.position, index)}","event_type":"${eventType}"${cachedMetadata.afterType}`;
}

/** The metadata that all events of a command share, kept because they are written one right after another. */
let cachedMetadata: { readonly source: EventSource; readonly beforeId: string; readonly afterType: string } | null =
  null;

function writeCommonMetadata({ envelope, position, receivedAt }: EventSource): { beforeId: string; afterType: string } {
  const flowId = JSON.stringify(envelope.flowId ?? envelope.commandId);
  const positionFields = `"partition":"${position.partition}","received_at":"${toTimestamp(receivedAt)}","flow_id":${flowId}`;
  return {
    beforeId: `{"occurred_at":"${toInstant(envelope.receivedAt)}","eid":"`,
    afterType: `,${positionFields},"version":"${lendingSchemaVersion}","published_by":"${workerName}"}`,
  };
}
