import { isReservedId, type CommittedOffset } from '../broker/coordination.ts';
import { readMirror } from '../broker/cursor-mirror.ts';
import type { EventLog, Offset } from '../broker/event-log.ts';
import { describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How often changed positions are exported: lag tools look every few seconds at most. Milliseconds. */
export const exportMilliseconds = 5_000;

/** How often somebody exports every subscription again, lest the log forgets groups that are idle. Milliseconds. */
export const renewalMilliseconds = 12 * 60 * 60 * 1_000;

/** How often a process asks whether that is due. Milliseconds. */
const renewalCheckMilliseconds = 60 * 60 * 1_000;

/** How many groups are exported at once. */
const exportsAtOnce = 8;

export interface GroupExportOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Whether it is this process that exports everything this time. */
  readonly claimRenewal: () => Promise<boolean>;
}

/**
 * Shows committed offsets as the positions of a consumer group, whose name is the subscription's id, so that the usual
 * tools see the lag. Nothing waits for it and nothing reads it back; what fails is tried again with the next change.
 */
export class GroupExport {
  readonly #options: GroupExportOptions;
  /** By subscription, then place: what has changed since the last export. */
  #changed = new Map<string, Map<string, CommittedOffset>>();
  #exporting: Promise<void> = Promise.resolve();
  #failureLogged = false;
  readonly #timers: NodeJS.Timeout[];

  constructor(options: GroupExportOptions) {
    this.#options = options;
    this.#timers = [
      setInterval(() => void this.export(), exportMilliseconds).unref(),
      setInterval(() => void this.#renew(), renewalCheckMilliseconds).unref(),
    ];
  }

  note(subscriptionId: string, place: string, committed: CommittedOffset): void {
    if (isReservedId(subscriptionId)) return;
    const places = this.#changed.get(subscriptionId) ?? new Map<string, CommittedOffset>();
    this.#changed.set(subscriptionId, places.set(place, committed));
  }

  forget(subscriptionId: string): void {
    this.#changed.delete(subscriptionId);
  }

  /** Exports what has changed. */
  export(): Promise<void> {
    this.#exporting = this.#exporting.then(() => this.#exportChanged());
    return this.#exporting;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.export();
  }

  async #exportChanged(): Promise<void> {
    const groups = [...this.#changed];
    this.#changed = new Map();
    const next = groups.values();
    await Promise.all(
      Array.from({ length: exportsAtOnce }, async () => {
        for (const [subscriptionId, places] of next) await this.#exportGroup(subscriptionId, places);
      }),
    );
  }

  async #exportGroup(subscriptionId: string, places: Map<string, CommittedOffset>): Promise<void> {
    const positions = [...places.values()].map(({ eventType, partition, offset }) => ({
      topic: eventType,
      partition,
      offset: nextOffset(offset),
    }));
    try {
      await this.#options.log.exportGroupOffsets(subscriptionId, positions);
      this.#failureLogged = false;
    } catch (error) {
      if (!this.#failureLogged) {
        const facts = { subscriptionId, error: describeError(error) };
        this.#options.logger.warn(facts, 'Positions of consumer groups cannot be shown to lag tools');
      }
      this.#failureLogged = true;
      if (isLendstreamError(error) && !error.retriable) return;
      // What has changed meanwhile is newer.
      for (const [place, committed] of places) {
        if (this.#changed.get(subscriptionId)?.has(place) !== true) this.note(subscriptionId, place, committed);
      }
    }
  }

  async #renew(): Promise<void> {
    try {
      if (!(await this.#options.claimRenewal())) return;
      for (const [subscriptionId, offsets] of await readMirror(this.#options.log)) {
        for (const { epoch: _, ...committed } of offsets) {
          const place = `${committed.eventType}:${committed.partition}`;
          if (this.#changed.get(subscriptionId)?.has(place) !== true) this.note(subscriptionId, place, committed);
        }
      }
    } catch (error) {
      this.#options.logger.warn({ error: describeError(error) }, 'Consumer groups could not be renewed');
    }
  }
}

/** A group's position is what it reads next, an offset of ours what it read last. */
function nextOffset(committed: Offset): Offset {
  return committed + 1;
}
