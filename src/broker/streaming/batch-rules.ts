/**
 * When a batch is sent and how much may be in it: arithmetic only. A stream asks for one partition at a time and passes
 * what that partition has waiting. Nothing here keeps state or reads a clock.
 */
export interface BatchRules {
  /** The most events of one batch. At least 1. */
  readonly batchLimit: number;
  /** How long a partition may wait before its batch is sent, even an empty one (batch_flush_timeout). Milliseconds. */
  readonly flushMilliseconds: number;
  /** The span of append times one batch may cover; 0 means any. Milliseconds. */
  readonly timespanMilliseconds: number;
  /** The most events that may be sent but not committed, over all partitions of the stream. At least 1. */
  readonly uncommittedEventsMaximum: number;
  /** The most events the stream may send in its lifetime; 0 means any number. */
  readonly streamLimit: number;
}

/** The events of one partition that wait to be sent. */
export interface PendingEvents {
  /** Events in memory. */
  readonly events: number;
  /** How many of them belong to a span of append times that is over; 0 while the span is open or none is configured. */
  readonly eventsOfEndedTimespan: number;
  /** When the partition last sent a batch, or was assigned to the stream. Monotonic milliseconds. */
  readonly lastSentAt: number;
  /** The memory allowed for waiting events is used up and this partition has to make room. */
  readonly overflowing: boolean;
}

export type BatchCause = 'batch_limit' | 'batch_timespan' | 'stream_end' | 'overflow' | 'flush_timeout';

export interface DueBatch {
  /** 0 for a keep-alive. */
  readonly events: number;
  readonly cause: BatchCause;
}

/** How many events may be sent now, within the window of uncommitted events and the stream's limit. Never negative. */
export function sendAllowance(rules: BatchRules, uncommittedEvents: number, sentEvents: number): number {
  const window = rules.uncommittedEventsMaximum - uncommittedEvents;
  const allowance = rules.streamLimit === 0 ? window : Math.min(window, rules.streamLimit - sentEvents);
  return Math.max(allowance, 0);
}

/**
 * The batch that a partition has to send now, or undefined when none is due.
 *
 * A batch is due when its span of append times is over, when it is full (or fills what the window still allows), when
 * the stream ends, when memory runs out, or when the partition was silent for the flush interval. Only the last of
 * these sends a batch without events, the keep-alive.
 *
 * @param allowance How many events may be sent (see {@link sendAllowance}).
 * @param now Monotonic milliseconds.
 * @param ending The stream is about to end: waiting events are sent, and no keep-alive is due any more.
 */
export function dueBatch(
  rules: BatchRules,
  pending: PendingEvents,
  allowance: number,
  now: number,
  ending: boolean,
): DueBatch | undefined {
  const room = Math.min(rules.batchLimit, allowance);
  if (room > 0) {
    if (pending.eventsOfEndedTimespan > 0) {
      return { events: Math.min(pending.eventsOfEndedTimespan, room), cause: 'batch_timespan' };
    }
    if (pending.events >= room) return { events: room, cause: 'batch_limit' };
    if (pending.events > 0 && ending) return { events: pending.events, cause: 'stream_end' };
    if (pending.events > 0 && pending.overflowing) return { events: pending.events, cause: 'overflow' };
  }
  if (!ending && now >= flushDueAt(rules, pending.lastSentAt)) {
    return { events: Math.min(pending.events, room), cause: 'flush_timeout' };
  }
  return undefined;
}

/** When a silent partition has to send its waiting events, or a keep-alive. Monotonic milliseconds. */
export function flushDueAt(rules: BatchRules, lastSentAt: number): number {
  return lastSentAt + rules.flushMilliseconds;
}
