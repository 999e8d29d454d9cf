import { isUtf8 } from 'node:buffer';
import { eventBytesMaximum, type PreparedRecords, type RecordContext } from '../event-preparation.ts';
import type { PreparedEventType } from '../prepared-event-type.ts';
import { SkippedRequests } from '../skipped-requests.ts';
import { eventField, fieldsOfEach } from '../request-memory/event-fields.ts';
import { RequestMemory } from '../request-memory/request-memory.ts';
import { needsNoParsing, recordsOf, wantedPathsOf } from '../unparsed-events.ts';
import { walkEvents } from './event-walk.ts';
import { plainRulesOf, type PlainRules } from './plain-rules.ts';

/** What is known of a request that was prepared. */
export interface PlainRecords {
  readonly records: PreparedRecords;
  /** Where the first event ends, which begins after the bracket. */
  readonly firstEnd: number;
  /** Whether its metadata is only an id and a time. */
  readonly isFirstPlain: boolean;
}

/**
 * Prepares the requests of producers whose events differ in their keys or the order of them, without parsing them: they
 * are validated in one walk over their bytes, where the schema requires nothing else than {@link PlainRules}. Every
 * other request is prepared in full; the outcome is the same.
 */
export class PlainEvents {
  readonly #type: PreparedEventType;
  readonly #memory: RequestMemory;
  readonly #wantedPaths: readonly (readonly string[])[];
  /** Made at the first request; null when no event can be prepared here. */
  #rules: PlainRules | null | undefined;
  /** The requests that are not walked, after walks that gave up. */
  readonly #skipped = new SkippedRequests();

  constructor(type: PreparedEventType, memory = RequestMemory.ofThread()) {
    this.#type = type;
    this.#memory = memory;
    this.#wantedPaths = wantedPathsOf(type);
  }

  /** The records of a request whose events are known to be valid; undefined when some are not. */
  prepare(body: Buffer, context: RecordContext): PlainRecords | undefined {
    if (this.#rules === undefined) this.#rules = this.#readRules();
    if (this.#rules === null || this.#skipped.skipsNext()) return undefined;
    const count = isUtf8(body) ? this.#walk(body, this.#rules) : undefined;
    const records = count === undefined || !this.#memory.load(body) ? undefined : this.#records(count, context);
    if (records === undefined) {
      this.#skipped.attemptFailed();
      return undefined;
    }
    this.#skipped.attemptSucceeded();
    const { fields } = this.#memory;
    return {
      records,
      firstEnd: fields[eventField.end] as number,
      isFirstPlain: fields[eventField.hasFurtherMetadata] === 0,
    };
  }

  /** Writes the fields of the events, and returns their count if they are valid and small. */
  #walk(body: Buffer, rules: PlainRules): number | undefined {
    const { fields } = this.#memory;
    const wantedCount = this.#wantedPaths.length;
    const count = walkEvents(body, rules, wantedCount, fields);
    return count !== undefined && areSmallEnough(fields, count, fieldsOfEach(wantedCount)) ? count : undefined;
  }

  #records(count: number, context: RecordContext): PreparedRecords | undefined {
    const wantedCount = this.#wantedPaths.length;
    const wantedFields = this.#wantedPaths.map((_, path) => eventField.wanted + 2 * path);
    const events = { count, fieldsOfEach: fieldsOfEach(wantedCount), wantedFields };
    return recordsOf(this.#type, this.#memory, events, context);
  }

  #readRules(): PlainRules | null {
    const { rules, isEnriched } = this.#type;
    if (!needsNoParsing(this.#type)) return null;
    return plainRulesOf(rules.schema, { wantedPaths: this.#wantedPaths, hasMetadata: isEnriched });
  }
}

/** Larger metadata is left to full preparation, because it may be stored three times as large: in ASCII. Bytes. */
export const metadataBytesMaximum = 8 * 1024;

function areSmallEnough(fields: Int32Array, count: number, each: number): boolean {
  for (let base = 0; base < count * each; base += each) {
    const bytesBetween = (start: number, end: number): number =>
      (fields[base + end] as number) - (fields[base + start] as number);
    if (bytesBetween(eventField.start, eventField.end) > eventBytesMaximum) return false;
    if (fields[base + eventField.hasFurtherMetadata] === 0) continue;
    if (bytesBetween(eventField.metadataStart, eventField.metadataEnd) > metadataBytesMaximum) return false;
  }
  return true;
}
