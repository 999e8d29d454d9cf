import { type EventLog, type Offset, noValue } from '../ports/event-log.ts';
import { withoutExternalRecords } from '../broker/log/external-records.ts';
import { readPastRetention } from '../broker/log/stored-records.ts';
import { hashPartition } from '../broker/publishing/partitioning.ts';
import { lendingEventTypeNames } from './lending-topics.ts';

/**
 * The events of one loan, for people to look at. The log has no index by loan, but all of a loan's events are in one
 * partition of each event type, with its id as the key. They are found by reading keys alone, newest first.
 */

/** How much of the log one search may read, over all event types. Bytes. */
export const scannedBytesMaximum = 64 * 1024 * 1024;

/** How many offsets are searched at a time. */
const windowOffsets = 4_096;

const readBytes = 1024 * 1024;

/**
 * How long a search waits for records that exist but have not arrived, such as those of a transaction that is being
 * committed. Milliseconds. It waits that long once; afterwards it takes what is there.
 */
const arrivalMilliseconds = 5_000;

/** How long a read waits once the search has waited in vain. Milliseconds. */
const shortArrivalMilliseconds = 100;

export interface LoanEvents {
  /**
   * The events as they are stored, in the order of the loan's sequence. A rejected command has no number in that
   * sequence and comes after the events that had happened by then.
   */
  readonly events: readonly string[];
  /** Whether the search covered everything that the log still holds. */
  readonly complete: boolean;
}

/**
 * Finds the events of one loan.
 * @param bytesMaximum How much to read at most, exceeded by no more than one read. Bytes.
 */
export async function readLoanEvents(
  log: EventLog,
  loanAccountId: string,
  partitionCount: number,
  bytesMaximum: number = scannedBytesMaximum,
): Promise<LoanEvents> {
  const partition = hashPartition([loanAccountId], partitionCount);
  const topicPartitions = lendingEventTypeNames.map((topic) => ({ topic, partition }));
  // Kafka ends a transaction in one partition after another, so the events of a command whose response the caller has
  // seen may still be uncommitted. Reads wait for them.
  const bounds = await log.bounds(topicPartitions, { includeUncommitted: true });
  const scans = bounds.map(({ topic, earliest, latest }) => ({ topic, earliest, end: latest }));
  const found: FoundEvent[] = [];
  let bytesLeft = bytesMaximum;
  let isComplete = true;
  let unfinished = scans.filter(({ earliest, end }) => end > earliest);
  while (unfinished.length > 0 && bytesLeft > 0) {
    for (const scan of unfinished) {
      const start = Math.max(scan.earliest, scan.end - windowOffsets);
      const waitMilliseconds = isComplete ? arrivalMilliseconds : shortArrivalMilliseconds;
      const window = { topic: scan.topic, partition, start, end: scan.end, waitMilliseconds };
      const scanned = await scanWindow(log, window, loanAccountId, found);
      bytesLeft -= scanned.bytesRead;
      isComplete &&= scanned.isComplete;
      scan.end = start;
    }
    unfinished = unfinished.filter(({ earliest, end }) => end > earliest);
  }
  return { events: inEventOrder(found).map(({ text }) => text), complete: isComplete && unfinished.length === 0 };
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
  /** How long a read waits for records. */
  readonly waitMilliseconds: number;
}

/** Collects the loan's events of a window. @returns how many bytes were read */
async function scanWindow(
  log: EventLog,
  { topic, partition, start, end, waitMilliseconds }: Window,
  loanAccountId: string,
  found: FoundEvent[],
): Promise<{ readonly bytesRead: number; readonly isComplete: boolean }> {
  let bytesRead = 0;
  for (let offset = start; offset < end;) {
    const options = { bytesMaximum: readBytes, waitMilliseconds };
    const result = await readPastRetention(log, { topic, partition, offset }, options);
    for (const source of result.batches) {
      const batch = withoutExternalRecords(source);
      bytesRead += source.bytes.length;
      for (let index = 0; index < batch.count; index += 1) {
        const valueStart = batch.valueStarts[index] ?? noValue;
        const isBeforeEnd = (batch.offsets[index] ?? 0) < end;
        if (!isBeforeEnd || valueStart === noValue || batch.key(index) !== loanAccountId) continue;
        found.push(readEvent(batch.bytes.toString('utf8', valueStart, batch.valueEnds[index])));
      }
    }
    // The records exist but did not arrive within the time.
    if (result.nextOffset === offset) return { bytesRead, isComplete: false };
    offset = result.nextOffset;
  }
  return { bytesRead, isComplete: true };
}

function readEvent(text: string): FoundEvent {
  const { sequence, metadata } = JSON.parse(text) as { sequence?: number; metadata?: { received_at?: string } };
  return { text, sequence, receivedAt: metadata?.received_at ?? '' };
}

function inEventOrder(found: readonly FoundEvent[]): FoundEvent[] {
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
