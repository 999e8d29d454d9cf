import { isAscii, isUtf8 } from 'node:buffer';
import { LendstreamError, describeError } from '../../errors.ts';
import { jsonByte } from '../../json-bytes.ts';
import { fieldsPerEvent, scanEvents, spanField, type EventSpans } from './event-byte-positions.ts';
import type { EventObject } from './response-items.ts';
import { repeatedKey } from './repeated-keys.ts';

/** Reading the body of a publish request: the events as values and as bytes. */

/** How deep an event may be nested. JSON levels. */
export const eventDepthMaximum = 100;

/**
 * How many events a request may have. Each costs work and memory in addition to its bytes, and an item in a 422
 * response. Millions of empty events would block the process for seconds.
 */
export const eventsPerRequestMaximum = 100_000;

export interface ParsedEvents {
  readonly body: Buffer;
  /** The body as Latin-1 text: one character for each byte. */
  readonly bodyText: string;
  readonly events: readonly EventObject[];
  readonly spans: EventSpans;
}

/**
 * Parses the body of a publish request and finds the events' bytes in it.
 * @throws MALFORMED_REQUEST, REQUEST_TOO_LARGE for more than {@link eventsPerRequestMaximum} events
 */
export function parseEvents(sent: Buffer): ParsedEvents {
  if (!isUtf8(sent)) throw unreadable('the body is not UTF-8.');
  let body = sent;
  let bodyText = body.toString('latin1');
  let value: unknown;
  try {
    value = parseText(body, bodyText);
  } catch (error) {
    const tolerated = withoutTrailingComma(body);
    if (tolerated === undefined) throw unreadable(describeError(error));
    body = tolerated;
    bodyText = body.toString('latin1');
    try {
      value = parseText(body, bodyText);
    } catch {
      throw unreadable(describeError(error));
    }
  }
  if (!Array.isArray(value)) throw unreadable('an array of events is expected.');
  const events = value as unknown[];
  if (events.length > eventsPerRequestMaximum) {
    throw new LendstreamError(
      'REQUEST_TOO_LARGE',
      `A request may have at most ${eventsPerRequestMaximum} events; this one has ${events.length}.`,
    );
  }
  for (const [index, event] of events.entries()) {
    if (typeof event !== 'object' || event === null || Array.isArray(event)) {
      throw unreadable(`item ${index} of the array is not a JSON object.`);
    }
  }
  const parsed = { body, bodyText, events: events as EventObject[], spans: scanEvents(body, events.length) };
  checkShape(parsed);
  return parsed;
}

function parseText(body: Buffer, latin1: string): unknown {
  // Both encodings give the same text for ASCII.
  return JSON.parse(isAscii(body) ? latin1 : body.toString('utf8'));
}

function unreadable(reason: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Error occurred when parsing event(s). ${reason}`);
}

/**
 * A comma between the last event and the closing bracket is tolerated.
 * @returns the body with a space in its place; undefined when there is no such comma
 */
function withoutTrailingComma(body: Buffer): Buffer | undefined {
  let index = body.length - 1;
  const skip = (): void => {
    while (index >= 0 && (body[index] as number) <= jsonByte.space) index -= 1;
  };
  skip();
  if (body[index] !== jsonByte.closeBracket) return undefined;
  index -= 1;
  skip();
  if (body[index] !== jsonByte.comma) return undefined;
  const repaired = Buffer.from(body);
  repaired[index] = jsonByte.space;
  index -= 1;
  skip();
  return body[index] === jsonByte.closeBrace ? repaired : undefined;
}

/**
 * Refuses repeated keys, because a parser keeps one of them and readers may keep another, and events nested too deep.
 * @throws MALFORMED_REQUEST
 */
function checkShape(parsed: ParsedEvents): void {
  const {
    events,
    spans: { fields },
  } = parsed;
  for (const [index, event] of events.entries()) {
    const base = index * fieldsPerEvent;
    const depth = fields[base + spanField.depth] as number;
    if (depth > eventDepthMaximum) {
      throw unreadable(`item ${index} of the array is nested deeper than ${eventDepthMaximum} levels.`);
    }
    if (fields[base + spanField.keys] !== keyCount(event)) {
      throw duplicateKey(parsed, index, `item ${index} of the array`);
    }
    const hasMetadata = fields[base + spanField.metadataStart] !== -1;
    const metadataKeys = hasMetadata ? (fields[base + spanField.metadataKeys] as number) : 0;
    if (metadataKeys !== 0 && metadataKeys !== keyCount(event['metadata'] as EventObject)) {
      throw duplicateKey(parsed, index, `the metadata of item ${index} of the array`);
    }
    const allKeys = fields[base + spanField.allKeys] as number;
    // Most events have no keys below these levels.
    const elsewhere = allKeys - (fields[base + spanField.keys] as number) - metadataKeys;
    if (elsewhere > 0 && keysWithin(event) !== allKeys) {
      throw duplicateKey(parsed, index, `item ${index} of the array, below its top level`);
    }
  }
}

function duplicateKey({ body, spans: { fields } }: ParsedEvents, index: number, place: string): LendstreamError {
  const base = index * fieldsPerEvent;
  const key = repeatedKey(body, fields[base + spanField.start] as number, fields[base + spanField.end] as number);
  return unreadable(`Duplicate key ${key ?? ''} in ${place}.`);
}

/** Counts the keys of a value at any depth. */
function keysWithin(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (typeof item === 'object' && item !== null) count += keysWithin(item);
    return count;
  }
  // Parsed objects inherit nothing enumerable.
  for (const key in value) {
    count += 1;
    const member = (value as EventObject)[key];
    if (typeof member === 'object' && member !== null) count += keysWithin(member);
  }
  return count;
}

function keyCount(object: EventObject): number {
  let count = 0;
  // Parsed objects inherit nothing enumerable, and unlike Object.keys this allocates nothing.
  for (const _key in object) count += 1;
  return count;
}
