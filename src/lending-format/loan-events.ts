import { type EventLog, type Offset, noValue } from '../ports/event-log.ts';
import { withoutForeignRecords } from '../broker/log/external-records.ts';
import { hashPartition } from '../broker/publishing/partitioning.ts';
import { isLendstreamError } from '../errors.ts';
import { lendingEventTypeNames } from './lending-topics.ts';

/**
 * The events of one loan, for a person who looks at it. The log has no index by loan, but all of a loan's events lie in
 * one partition of each event type under its id as the key, so they are found by looking at keys alone, newest first.
 */

/** How much of the log one look may read, over all event types. Bytes. */
export const scannedBytesMaximum = 64 * 1024 * 1024;

/** How many offsets are looked through at a time. */
const windowOffsets = 4_096;

const readBytes = 1024 * 1024;

/** How long a read waits for records that must be there. Milliseconds. */
const readWaitMilliseconds = 100;

export interface LoanEvents {
  /**
   * As they are stored, by the loan's sequence; a rejected command, which has no place in it, stands behind what had
   * happened by then.
   */
  readonly events: readonly string[];
  /** Whether everything that the log still holds was looked through. */
  readonly complete: boolean;
}

/** @param bytesMaximum How much to read at most, exceeded by no more than one read. */
export async function readLoanEvents(
  log: EventLog,
  loanAccountId: string,
  partitionCount: number,
  bytesMaximum: number = scannedBytesMaximum,
): Promise<LoanEvents> {
  const partition = hashPartition([loanAccountId], partitionCount);
  const places = lendingEventTypeNames.map((topic) => ({ topic, partition }));
  const scans = (await log.bounds(places)).map(({ topic, earliest, latest }) => ({ topic, earliest, end: latest }));
  const found: FoundEvent[] = [];
  let bytesLeft = bytesMaximum;
  let open = scans.filter(({ earliest, end }) => end > earliest);
  while (open.length > 0 && bytesLeft > 0) {
    for (const scan of open) {
      const start = Math.max(scan.earliest, scan.end - windowOffsets);
      bytesLeft -= await scanWindow(log, { topic: scan.topic, partition, start, end: scan.end }, loanAccountId, found);
      scan.end = start;
    }
    open = open.filter(({ earliest, end }) => end > earliest);
  }
  return { events: inOrder(found).map(({ text }) => text), complete: open.length === 0 };
}

interface FoundEvent {
  readonly text: string;
  /** Undefined for a rejected command. */
  readonly sequence: number | undefined;
  /** RFC 3339 in UTC, which sorts as text. */
  readonly receivedAt: string;
}

interface Window {
  readonly topic: string;
  readonly partition: number;
  readonly start: Offset;
  readonly end: Offset;
}

/** Collects the loan's events of a window. Answers how many bytes were read. */
async function scanWindow(
  log: EventLog,
  { topic, partition, start, end }: Window,
  loanAccountId: string,
  found: FoundEvent[],
): Promise<number> {
  let bytesRead = 0;
  for (let offset = start; offset < end;) {
    let result;
    try {
      const options = { bytesMaximum: readBytes, waitMilliseconds: readWaitMilliseconds };
      result = await log.read({ topic, partition, offset }, options);
    } catch (error) {
      // Expired since the bounds were asked for: there is nothing to be found any more.
      if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')) return bytesRead;
      throw error;
    }
    for (const source of result.batches) {
      const batch = withoutForeignRecords(source);
      bytesRead += source.bytes.length;
      for (let index = 0; index < batch.count; index += 1) {
        const valueStart = batch.valueStarts[index] ?? noValue;
        const isInside = (batch.offsets[index] ?? 0) < end;
        if (!isInside || valueStart === noValue || batch.key(index) !== loanAccountId) continue;
        found.push(readEvent(batch.bytes.toString('utf8', valueStart, batch.valueEnds[index])));
      }
    }
    // Nothing within the time, though it must be there: the next look finds it.
    if (result.nextOffset === offset) return bytesRead;
    offset = result.nextOffset;
  }
  return bytesRead;
}

function readEvent(text: string): FoundEvent {
  const { sequence, metadata } = JSON.parse(text) as { sequence?: number; metadata?: { received_at?: string } };
  return { text, sequence, receivedAt: metadata?.received_at ?? '' };
}

function inOrder(found: readonly FoundEvent[]): FoundEvent[] {
  const ordered = found
    .filter(({ sequence }) => sequence !== undefined)
    .sort((left, right) => (left.sequence ?? 0) - (right.sequence ?? 0));
  const rejected = found
    .filter(({ sequence }) => sequence === undefined)
    .sort((left, right) => (left.receivedAt < right.receivedAt ? -1 : 1));
  for (const event of rejected) {
    const next = ordered.findIndex(({ receivedAt }) => receivedAt > event.receivedAt);
    ordered.splice(next === -1 ? ordered.length : next, 0, event);
  }
  return ordered;
}
