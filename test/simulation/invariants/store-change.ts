import type { CommittedOffset, CursorToCommit } from '../../../src/ports/coordination.ts';
import type { StoreOperation, SubscriptionSnapshot } from '../simulated-store.ts';

/** A change of what the store knows of one subscription. */
export interface StoreChange {
  /** The state before; undefined when the store has lost it. */
  readonly before: SubscriptionSnapshot | undefined;
  readonly after: SubscriptionSnapshot;
  /** Those on this subscription that are in progress, and those that have just ended. */
  readonly operations: readonly StoreOperation[];
  /** The monotonic time of the store. Milliseconds. */
  readonly storeTime: number;
  /** Whether the store has lost its data. */
  readonly hasForgotten: boolean;
}

/** Whether a reset is in progress, or has just ended, that moves positions. */
export function isResetWithOffsets({ method, arguments: [, offsets] }: StoreOperation): boolean {
  return method === 'finishReset' && (offsets as readonly CommittedOffset[]).length > 0;
}

export function isFinishedReset({ method, isFinished, error }: StoreOperation): boolean {
  return method === 'finishReset' && isFinished && error === undefined;
}

/** Whether a client sent the cursor. The service commits under the fence of the partition. */
export function isOfClient({ fence }: CursorToCommit): boolean {
  return fence === undefined;
}
