import { isUtf8 } from 'node:buffer';
import type { ProducerMetadata } from '../enrichment.ts';
import type { PreparedRecords, RecordContext } from '../event-preparation.ts';
import type { PreparedEventType } from '../prepared-event-type.ts';
import { SkippedRequests } from '../skipped-requests.ts';
import {
  eidPath,
  isSmallEnough,
  needsNoParsing,
  occurredAtPath,
  recordsOf,
  wantedPathsOf,
  type UnparsedEvents,
} from '../unparsed-events.ts';
import { partField, walkEvents, type WalkedEvents } from './event-walk.ts';
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
  readonly #wantedPaths: readonly (readonly string[])[];
  /** Made at the first request; null when no event can be prepared here. */
  #rules: PlainRules | null | undefined;
  /** The requests that are not walked, after walks that gave up. */
  readonly #skipped = new SkippedRequests();

  constructor(type: PreparedEventType) {
    this.#type = type;
    this.#wantedPaths = wantedPathsOf(type);
  }

  /** The records of a request whose events are known to be valid; undefined when some are not. */
  prepare(body: Buffer, { random, enrichment }: RecordContext): PlainRecords | undefined {
    if (this.#rules === undefined) this.#rules = this.#readRules();
    if (this.#rules === null || this.#skipped.skipsNext()) return undefined;
    const text = isUtf8(body) ? body.toString('latin1') : undefined;
    const walked = text === undefined ? undefined : walkEvents(body, text, this.#rules, this.#wantedPaths.length);
    if (text === undefined || walked === undefined || !areSmallEnough(walked)) {
      this.#skipped.attemptFailed();
      return undefined;
    }
    this.#skipped.attemptSucceeded();
    const events = this.#type.isEnriched ? enriched(body, text, walked, enrichment) : asSent(text, walked);
    return {
      records: recordsOf(this.#type, events, body, random),
      firstEnd: walked.fields[partField.end] as number,
      isFirstPlain: walked.fields[partField.hasFurtherMetadata] === 0,
    };
  }

  #readRules(): PlainRules | null {
    const { rules, isEnriched } = this.#type;
    if (!needsNoParsing(this.#type)) return null;
    return plainRulesOf(rules.schema, { wantedPaths: this.#wantedPaths, hasMetadata: isEnriched });
  }
}

/** Larger metadata is left to full preparation, because it may be stored three times as large: in ASCII. Bytes. */
export const metadataBytesMaximum = 8 * 1024;

function areSmallEnough({ count, fields, fieldsOfEach }: WalkedEvents): boolean {
  for (let base = 0; base < count * fieldsOfEach; base += fieldsOfEach) {
    const bytesBetween = (start: number, end: number): number =>
      (fields[base + end] as number) - (fields[base + start] as number);
    if (!isSmallEnough(bytesBetween(partField.start, partField.end))) return false;
    if (fields[base + partField.hasFurtherMetadata] === 0) continue;
    if (bytesBetween(partField.metadataStart, partField.metadataEnd) > metadataBytesMaximum) return false;
  }
  return true;
}

function asSent(text: string, walked: WalkedEvents): UnparsedEvents {
  const { count, fields, fieldsOfEach } = walked;
  const slice = (event: number, from: number, to: number): string =>
    text.slice(fields[event * fieldsOfEach + from], fields[event * fieldsOfEach + to]);
  return {
    count,
    wantedText: (event, path) => slice(event, partField.wanted + 2 * path, partField.wanted + 2 * path + 1),
    storedText: (event) => slice(event, partField.start, partField.end),
  };
}

function enriched(
  body: Buffer,
  text: string,
  walked: WalkedEvents,
  enrichment: RecordContext['enrichment'],
): UnparsedEvents {
  const { fields, fieldsOfEach } = walked;
  const sent = asSent(text, walked);
  const { wantedText } = sent;
  return {
    ...sent,
    storedText(event, partition) {
      const base = event * fieldsOfEach;
      const metadataStart = fields[base + partField.metadataStart] as number;
      const metadataEnd = fields[base + partField.metadataEnd] as number;
      const metadata =
        fields[base + partField.hasFurtherMetadata] === 0
          ? enrichment.plainMetadataOf(wantedText(event, eidPath), wantedText(event, occurredAtPath), partition)
          : enrichment.metadataOf(
              JSON.parse(body.toString('utf8', metadataStart, metadataEnd)) as ProducerMetadata,
              partition,
            );
      return (
        text.slice(fields[base + partField.start], metadataStart) +
        metadata +
        text.slice(metadataEnd, fields[base + partField.end])
      );
    },
  };
}
