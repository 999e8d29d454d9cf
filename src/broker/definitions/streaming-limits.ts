/**
 * The limits of definitions and streams that an operator may set (see src/config.ts). Each default is that of the API's
 * origin, whose operators may set the same ones.
 */
export interface StreamingLimits {
  /** Most partitions of an admin's event type, whatever parallelism it asks for. The service's own may have more. */
  readonly partitionsPerEventType: number;
  /** Most partitions that the event types of one subscription may have together. */
  readonly partitionsPerSubscription: number;
  /** The longest `options.retention_time` of an event type. Milliseconds. */
  readonly retentionMilliseconds: number;
  /** Largest and default commit_timeout of a stream. Seconds. */
  readonly commitTimeoutSeconds: number;
  /** Smallest and largest batch_flush_timeout of a stream. Seconds. */
  readonly flushSecondsMinimum: number;
  readonly flushSecondsMaximum: number;
}

/** The most ids of an event type within its deduplication window, unless an operator sets another limit. */
export const deduplicatedIdsMaximumDefault = 1_000_000;

export const defaultStreamingLimits: StreamingLimits = Object.freeze({
  partitionsPerEventType: 8,
  partitionsPerSubscription: 100,
  retentionMilliseconds: 345_600_000,
  commitTimeoutSeconds: 60,
  flushSecondsMinimum: 1,
  flushSecondsMaximum: 2_147_483_647,
});
