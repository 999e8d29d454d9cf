import { v5 as uuidV5 } from 'uuid';
import type { ChunkBuilder, EventRun } from '../../../broker/streaming/chunk-builder.ts';
import { asciiJson } from '../../../broker/streaming/line-format.ts';
import { toTimestamp } from '../../../clock.ts';
import { jsonByte, readString, skipSpace, skipString, skipValue } from '../../../json-bytes.ts';
import type { RecordBatch } from '../../../ports/event-log.ts';

const { quote, backslash, comma, openBrace } = jsonByte;

const eidNamespace = 'b0a4d6a5-7f3e-5c1d-9a52-3f8e6c9d2b17';

/**
 * Writes the events of a partition as Mambu's clients read them:
 * `{"metadata":{"eid","occurred_at","content_type","category","event_type"},"body":"...","template_name"}`. The body is
 * the text of the event without its metadata. An event is not parsed: its bytes are copied around the metadata, and
 * what JSON has to escape in a string is escaped.
 */
export function wrappedEvents(eventType: string, partition: number): (chunk: ChunkBuilder, run: EventRun) => void {
  const name = asciiJson(eventType);
  const afterTime = `,"content_type":"application/json","category":"DATA","event_type":${name}},"body":`;
  const end = `,"template_name":${name}}`;
  return (chunk, { batch, from, to, isLast }) => {
    for (let index = from; index < to; index += 1) {
      const start = batch.valueStarts[index] as number;
      const { eid, occurredAt, body } = splitEvent(batch.bytes, start, batch.valueEnds[index] as number);
      const id = eid ?? `"${uuidV5(`${eventType}:${partition}:${batch.offsets[index]}`, eidNamespace)}"`;
      const time = occurredAt ?? `"${toTimestamp(batch.appendedAt)}"`;
      const separator = index === from ? '' : ',';
      chunk.addText(
        `${separator}{"metadata":{"eid":${id},"occurred_at":${time}${afterTime}${JSON.stringify(body)}${end}`,
      );
    }
    chunk.releaseAfter(batch, isLast);
  };
}

/** The parts of an event, each byte as one character. */
interface EventParts {
  /** JSON, as the event has it; undefined when it has none that is a string. */
  readonly eid: string | undefined;
  /** The same. */
  readonly occurredAt: string | undefined;
  /** The JSON of the event without its member `metadata`. */
  readonly body: string;
}

function splitEvent(bytes: RecordBatch['bytes'], start: number, end: number): EventParts {
  const text = (from: number, to: number): string => bytes.toString('latin1', from, to);
  const metadata = findMember(bytes, skipSpace(bytes, start), 'metadata');
  if (metadata === undefined || bytes[metadata.valueStart] !== openBrace) {
    return { eid: undefined, occurredAt: undefined, body: text(start, end) };
  }
  const stringOf = (name: string): string | undefined => {
    const member = findMember(bytes, metadata.valueStart, name);
    return member === undefined || bytes[member.valueStart] !== quote
      ? undefined
      : text(member.valueStart, member.valueEnd);
  };
  const { separatorStart, nextStart } = metadata;
  // Of the commas around a member one goes with it.
  const [cutStart, cutEnd] =
    nextStart === undefined ? [separatorStart, metadata.valueEnd] : [metadata.keyStart, nextStart];
  return {
    eid: stringOf('eid'),
    occurredAt: stringOf('occurred_at'),
    body: text(start, cutStart) + text(cutEnd, end),
  };
}

/** Where a member of an object lies in its text. */
interface Member {
  /** The comma before it; its key when it is the first. */
  readonly separatorStart: number;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Behind the comma after it; undefined when it is the last. */
  readonly nextStart: number | undefined;
}

/** The first member with this key. @param start Of a value, which has members only if it is an object. */
function findMember(bytes: Buffer, start: number, key: string): Member | undefined {
  if (bytes[start] !== openBrace) return undefined;
  let keyStart = skipSpace(bytes, start + 1);
  let separatorStart = keyStart;
  while (bytes[keyStart] === quote) {
    const keyEnd = skipString(bytes, keyStart);
    const colon = skipSpace(bytes, keyEnd);
    const valueStart = skipSpace(bytes, colon + 1);
    const valueEnd = skipValue(bytes, valueStart);
    const after = skipSpace(bytes, valueEnd);
    const nextStart = bytes[after] === comma ? after + 1 : undefined;
    if (isKey(bytes, keyStart, keyEnd, key)) return { separatorStart, keyStart, valueStart, valueEnd, nextStart };
    if (nextStart === undefined) return undefined;
    separatorStart = after;
    keyStart = skipSpace(bytes, nextStart);
  }
  return undefined;
}

/** @param key ASCII without anything that JSON escapes. */
function isKey(bytes: Buffer, start: number, end: number, key: string): boolean {
  if (end - start === key.length + 2) return bytes.toString('latin1', start + 1, end - 1) === key;
  return bytes.subarray(start, end).includes(backslash) && readString(bytes, start, end) === key;
}
