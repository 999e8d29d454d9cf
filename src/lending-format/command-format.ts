/**
 * JSON of the lending system: commands, loans, products and events, in and out, under the toggles.
 * In: payloads as they were sent, records of the log. Out: commands, and texts with exact amounts.
 * Start with commands below; `event-format.ts` writes events, `response-bodies.ts` resources, `checkpoint.ts` the
 * worker's position.
 */

import { hash } from 'node:crypto';
import { validate as isUuid, v5 as uuidv5 } from 'uuid';
import type { PreparedEvent } from '../broker/publishing/publisher.ts';
import { toTimestamp } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { CreateLoan, EndOfDay, LoanCommand, RestructuringCommand } from '../lending/commands.ts';
import { type Refusal, refusal } from '../lending/refusals.ts';
import type { LocalDate } from '../lending/terms.ts';
import { type ExistingLoanCommand, payloadReaders } from './payloads/command-payload.ts';
import { type CreateLoanPayload, readCreateLoan } from './payloads/loan-payload.ts';
import { type RestructuringPayload, readRestructuring } from './payloads/restructuring-payload.ts';
import { type CommandPosition, keysOf } from './derived-ids.ts';
import { type ExactJson, isExactObject, readExactObject, writeCanonical, writeExact } from './exact-json.ts';
import { type LoanChange, isLoanChange, readLoanChange } from './loan-changes/loan-changes.ts';
import { FieldReader } from './payloads/field-reader.ts';
import { isAccountOrProductId } from './payloads/id-forms.ts';
import {
  type ProductCommandType,
  type ProductRequest,
  isProductCommand,
  productCommandTypes,
  readProductRequest,
} from './product-commands.ts';

/**
 * The wire format of loan commands: `{metadata, commandId?, type, loanAccountId | loanProductId, payload}`, where
 * `payload` is the body of the REST request of that command, its numbers as they were written.
 */
export const commandTypes: readonly CommandType[] = [
  'CREATE_LOAN',
  'UPDATE_LOAN',
  'RESCHEDULE',
  'REFINANCE',
  ...(Object.keys(payloadReaders) as ExistingLoanCommand['type'][]),
  ...productCommandTypes,
  'END_OF_DAY',
];
export type CommandType = LoanCommand['type'] | ProductCommandType | EndOfDay['type'];

/** The type under which unreadable commands are counted. */
export const unreadableCommandType = 'unknown';

/** The position of a command in the log, and when the log stored it. */
export interface CommandSource extends CommandPosition {
  /** Milliseconds since the epoch; the time of the command when its metadata names none. */
  readonly appendedAt: number;
}

/** The known facts of every command whose envelope could be read. */
export interface CommandEnvelope {
  readonly commandId: string;
  /**
   * Of type, subject and payload, in whatever form they were sent: two commands with the same id and digest are the
   * same one.
   */
  readonly digest: string;
  readonly type: CommandType;
  readonly loanAccountId?: string;
  readonly loanProductId?: string;
  /** Of END_OF_DAY alone: the partition of accounts that it is about. */
  readonly partition?: number;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** From the command's metadata; the command's events have the same. */
  readonly flowId: string | null;
  /** From the command's metadata: its place in a trace, which its events have too; absent where it has none. */
  readonly traceparent?: string;
  /** Who published it, as its metadata say; absent where they do not. */
  readonly publishedBy?: string;
}

/** The command that opens an account, still without its product, which is in the registry. */
type CreateLoanRequest = Omit<CreateLoan, 'product'> & { readonly productTypeKey: string };

/** A command that replaces an account, still without the product, and maybe without the id of the new one. */
export type RestructuringRequest = Omit<RestructuringCommand, 'product' | 'newAccountId'> & RestructuringPayload;

export type ParsedCommand =
  | {
      readonly kind: 'loan';
      readonly envelope: CommandEnvelope;
      readonly command: ExistingLoanCommand | CreateLoanRequest;
    }
  | { readonly kind: 'restructuring'; readonly envelope: CommandEnvelope; readonly request: RestructuringRequest }
  | { readonly kind: 'product'; readonly envelope: CommandEnvelope; readonly request: ProductRequest }
  | { readonly kind: 'end of day'; readonly envelope: CommandEnvelope; readonly command: EndOfDay }
  /** A change is worked out on the loan as it is when the command is decided. */
  | { readonly kind: 'loan change'; readonly envelope: CommandEnvelope; readonly change: LoanChange }
  /** The envelope is valid, the payload is not: the refusals name the wrong fields to the sender. */
  | { readonly kind: 'refused'; readonly envelope: CommandEnvelope; readonly refusals: readonly Refusal[] }
  /** The envelope cannot be read. `commandId` is null where that cannot be read either. */
  | { readonly kind: 'unreadable'; readonly reason: string; readonly commandId: string | null };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The field that names the loan or product of a command. */
export function idFieldOf(type: CommandType): 'loanAccountId' | 'loanProductId' {
  return isProductCommand(type) ? 'loanProductId' : 'loanAccountId';
}

/** Reads a record of the command topic. Never throws: the result says when the record cannot be read. */
export function parseCommand(value: Buffer, source: CommandSource): ParsedCommand {
  let event: ExactJson;
  try {
    event = readExactObject(utf8.decode(value));
  } catch (error) {
    return { kind: 'unreadable', reason: `The command is not a JSON object: ${describeError(error)}`, commandId: null };
  }
  const metadata = isExactObject(event['metadata']) ? event['metadata'] : {};
  const commandId = event['commandId'] ?? metadata['eid'];
  if (typeof commandId !== 'string' || !isUuid(commandId))
    return unreadable('commandId (or metadata.eid) is not a UUID', null);
  const type = commandTypes.find((candidate) => candidate === event['type']);
  if (type === undefined) return unreadable(`type is not one of ${commandTypes.join(', ')}`, commandId);
  const subject = readSubject(type, event);
  if (typeof subject === 'string') return unreadable(subject, commandId);
  const flowId = metadata['flow_id'];
  const traceparent = isExactObject(metadata['span_ctx']) ? metadata['span_ctx']['traceparent'] : undefined;
  const publishedBy = metadata['published_by'];
  const receivedAt = typeof metadata['received_at'] === 'string' ? Date.parse(metadata['received_at']) : Number.NaN;
  const payload = event['payload'] ?? {};
  let digest: string;
  try {
    digest = digestOf(type, subject, payload);
  } catch (error) {
    return unreadable(`The payload is nested too deeply: ${describeError(error)}`, commandId);
  }
  const envelope: CommandEnvelope = {
    commandId: commandId.toLowerCase(),
    digest,
    type,
    ...subject,
    receivedAt: Number.isNaN(receivedAt) ? source.appendedAt : receivedAt,
    flowId: typeof flowId === 'string' ? flowId : null,
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof publishedBy === 'string' ? { publishedBy } : {}),
  };
  if (!isExactObject(payload)) {
    return { kind: 'refused', envelope, refusals: [refusal('INVALID_PARAMETERS', 'payload')] };
  }
  return readCommand(envelope, payload, keysOf(source));
}

/** What a command is about: a loan, a product, or all accounts of a partition. */
type CommandSubject = Pick<CommandEnvelope, 'loanAccountId' | 'loanProductId' | 'partition'>;

/** What the event of a command is about; the reason in words when it does not say so. */
function readSubject(type: CommandType, event: ExactJson): CommandSubject | string {
  if (type === 'END_OF_DAY') {
    const partition = Number(String(event['partition']));
    return Number.isSafeInteger(partition) && partition >= 0 ? { partition } : 'partition is missing or not a number';
  }
  const idField = idFieldOf(type);
  const id = event[idField];
  return isAccountOrProductId(id) ? { [idField]: id } : `${idField} is missing or not an id`;
}

/** The length of a digest: 132 bits. Characters. */
const digestCharacters = 22;

function digestOf(type: CommandType, subject: CommandSubject, payload: unknown): string {
  const id = subject.loanAccountId ?? subject.loanProductId ?? String(subject.partition);
  return hash('sha256', writeCanonical([type, id, payload]), 'base64url').slice(0, digestCharacters);
}

/** A command as a request asks for it. */
export interface RequestedCommand {
  /** UUID; also the event's eid. */
  readonly commandId: string;
  readonly type: CommandType;
  /** For every command on a loan; those on products have `loanProductId`. */
  readonly loanAccountId?: string;
  readonly loanProductId?: string;
  /** What {@link readPayload} read. */
  readonly payload: ExactJson;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** A command that was read once: what it carries, and why the worker would refuse its form. */
export interface PreparedCommand {
  readonly envelope: CommandEnvelope;
  readonly payload: ExactJson;
  /** The faults of form that the worker would find, so that such a request can be refused at once; none when right. */
  readonly refusals: readonly Refusal[];
}

/**
 * Reads the body of a request: one JSON object, or nothing for an empty one. Numbers keep the text that they have.
 * @throws SyntaxError when the body is no JSON object
 */
export function readPayload(bodyText: string): ExactJson {
  return bodyText.trim() === '' ? {} : readExactObject(bodyText);
}

/**
 * The event of the command that closes a business day for the accounts of a partition. The same day and partition give
 * the same command, so that it is done once, whatever asks for it and how often.
 * @param receivedAt Milliseconds since the epoch.
 */
export function writeEndOfDay(partition: number, businessDate: LocalDate, receivedAt: number): PreparedEvent {
  const commandId = uuidv5(`${partition}|${businessDate}`, endOfDayNamespace);
  const fields = { commandId, type: 'END_OF_DAY', partition, payload: { businessDate } };
  return {
    eid: commandId,
    occurredAt: toTimestamp(receivedAt),
    keyFields: [String(partition)],
    partition,
    fieldsText: JSON.stringify(fields).slice(1, -1),
  };
}

const endOfDayNamespace = '0d3cf5f2-53a4-4c3c-9c55-3f1f3e6c9a57';

/** Checks the form of a command, and gives it the digest that {@link parseCommand} will find in it. */
export function prepareCommand({ type, payload, ...request }: RequestedCommand): PreparedCommand {
  const idField = idFieldOf(type);
  const id = request[idField] ?? '';
  const { commandId, receivedAt } = request;
  const digest = digestOf(type, { [idField]: id }, payload);
  const envelope: CommandEnvelope = { commandId, digest, type, [idField]: id, receivedAt, flowId: null };
  if (!isAccountOrProductId(id)) return { envelope, payload, refusals: [refusal('INVALID_PARAMETERS', 'id')] };
  const parsed = readCommand(envelope, payload, keysOf({ partition: 0, offset: 0 }));
  return { envelope, payload, refusals: parsed.kind === 'refused' ? parsed.refusals : [] };
}

/** The event of a command, on one line, the payload's numbers unchanged. */
export function writeCommand({ envelope, payload }: PreparedCommand): PreparedEvent {
  const { commandId, type, loanAccountId, loanProductId, receivedAt } = envelope;
  return {
    eid: commandId,
    occurredAt: toTimestamp(receivedAt),
    keyFields: [envelope[idFieldOf(type)] ?? ''],
    fieldsText: writeExact({ commandId, type, loanAccountId, loanProductId, payload }).slice(1, -1),
  };
}

function readCommand(
  envelope: CommandEnvelope,
  payload: ExactJson,
  newKey: (purpose: string) => string,
): ParsedCommand {
  if (envelope.type === 'UPDATE_LOAN') {
    const change = readLoanChange(payload, envelope.loanAccountId ?? '');
    return isLoanChange(change)
      ? { kind: 'loan change', envelope, change }
      : { kind: 'refused', envelope, refusals: change };
  }
  const refusals: Refusal[] = [];
  const reader = new FieldReader(payload, refusals);
  const parsed = readByType(envelope, payload, reader, newKey);
  reader.refuseUnknown();
  return refusals.length > 0 ? { kind: 'refused', envelope, refusals } : parsed;
}

function readByType(
  envelope: CommandEnvelope,
  payload: ExactJson,
  reader: FieldReader,
  newKey: (purpose: string) => string,
): ParsedCommand {
  const { commandId, digest, receivedAt } = envelope;
  const header = { commandId, digest, receivedAt, loanAccountId: envelope.loanAccountId ?? '' };
  const loan = (command: ExistingLoanCommand | CreateLoanRequest): ParsedCommand => ({
    kind: 'loan',
    envelope,
    command,
  });
  const { type } = envelope;
  if (type === 'END_OF_DAY') {
    const businessDate = reader.require('businessDate', reader.date('businessDate')) ?? '';
    const command: EndOfDay = { type, commandId, digest, receivedAt, partition: envelope.partition ?? 0, businessDate };
    return { kind: 'end of day', envelope, command };
  }
  if (type === 'CREATE_LOAN') {
    const created: CreateLoanPayload = readCreateLoan(reader, header.loanAccountId);
    return loan({ type, ...header, ...created });
  }
  if (type === 'RESCHEDULE' || type === 'REFINANCE') {
    return { kind: 'restructuring', envelope, request: { type, ...header, ...readRestructuring(reader, type) } };
  }
  if (isProductCommand(type)) {
    const request = readProductRequest(type, envelope.loanProductId ?? '', payload, reader, newKey);
    return { kind: 'product', envelope, request };
  }
  // The table's type says that the payload it reads for a type completes the command of that type.
  return loan({
    type,
    ...header,
    ...payloadReaders[type as ExistingLoanCommand['type']](reader),
  } as ExistingLoanCommand);
}

function unreadable(reason: string, commandId: string | null): ParsedCommand {
  return { kind: 'unreadable', reason, commandId };
}
