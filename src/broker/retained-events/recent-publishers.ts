import { toTimestamp } from '../../clock.ts';
import type { FoundEvent } from './partition-search.ts';
import type { SearchBounds } from './search-budget.ts';

/** The latest events of an event type that are looked at to see who publishes. */
export const recentEventsMaximum = 1_000;

/** How much is read for them at most, and how long that may take. */
export const recentEventsBounds: SearchBounds = {
  events: 10 * recentEventsMaximum,
  bytes: 16 * 1024 * 1024,
  milliseconds: 1_000,
};

export interface RecentPublisher {
  /** As in `published_by` of its events; null for records of other producers, which do not say. */
  readonly name: string | null;
  /** How many of the events are its own. */
  readonly events: number;
  /** When the log took its latest one. RFC 3339. */
  readonly lastPublishedAt: string;
  readonly lastFlowId: string | null;
}

/** Who published some events, counted while they are found, the latest event first. */
export class RecentPublishers {
  readonly #byName = new Map<string | null, RecentPublisher>();

  /** Counts an event. @returns its bytes */
  add({ batch, index }: FoundEvent): Buffer {
    const bytes = batch.bytes.subarray(batch.valueStarts[index], batch.valueEnds[index]);
    const { published_by: by, flow_id: flowId } = metadataOf(bytes);
    const name = typeof by === 'string' ? by : null;
    const known = this.#byName.get(name);
    const publisher = known ?? {
      name,
      lastPublishedAt: toTimestamp(batch.appendedAt),
      lastFlowId: typeof flowId === 'string' ? flowId : null,
    };
    this.#byName.set(name, { ...publisher, events: (known?.events ?? 0) + 1 });
    return bytes;
  }

  /** Those whose events are the latest first. */
  list(): readonly RecentPublisher[] {
    return [...this.#byName.values()];
  }
}

function metadataOf(bytes: Buffer): { readonly published_by?: unknown; readonly flow_id?: unknown } {
  const event: unknown = JSON.parse(bytes.toString());
  const metadata = typeof event === 'object' && event !== null && 'metadata' in event ? event.metadata : undefined;
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}
