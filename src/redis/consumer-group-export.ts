import { every, giveWay, type Clock, type Timer } from '../clock.ts';
import type { CommittedOffset } from '../ports/coordination.ts';
import { isReservedId } from '../ports/reserved-ids.ts';
import { readMirror } from '../broker/log/cursors-topic.ts';
import type { EventLog, Offset } from '../ports/event-log.ts';
import { describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How often changed positions are exported: lag tools poll every few seconds at most. Milliseconds. */
export const exportIntervalMilliseconds = 5_000;

const hourMilliseconds = 60 * 60 * 1_000;

/**
 * How long a process that exports every subscription again keeps the others from doing the same. This export keeps the
 * log from forgetting idle groups. With the time up to the next check it is due every twelve hours. Milliseconds.
 */
export const renewalClaimMilliseconds = 11 * hourMilliseconds;

/** How often a process checks whether that is due, beginning at its start. Milliseconds. */
export const renewalCheckIntervalMilliseconds = hourMilliseconds;

/** How many subscriptions a renewal goes through before everything else of the process has its turn. */
const subscriptionsPerTurn = 1_000;

/** How many groups are exported at once. */
const concurrentExportsMaximum = 8;

export interface GroupExportOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Returns whether this process is the one to export everything this time. */
  readonly claimRenewal: () => Promise<boolean>;
  /** Lets another process export everything, or this one at its next check. */
  readonly releaseRenewal: () => Promise<void>;
}

/**
 * Shows committed offsets as the positions of a consumer group, so that the usual tools see the lag. The name of the
 * group is the id of the subscription. Nothing waits for the export and nothing reads it back. A failed export is tried
 * again together with the next change.
 */
export class GroupExport {
  readonly #options: GroupExportOptions;
  /** By subscription, then partition: the offsets that have changed since the last export. */
  #changed = new Map<string, Map<string, CommittedOffset>>();
  #exporting: Promise<void> = Promise.resolve();
  #renewing: Promise<void> = Promise.resolve();
  #failureLogged = false;
  #isClosed = false;
  #timers: Timer[] = [];

  constructor(options: GroupExportOptions) {
    this.#options = options;
  }

  /** Begins to export. Checks the renewal at once, so that a process that restarts within the hour checks it too. */
  start(): void {
    const { clock } = this.#options;
    this.#timers = [
      every(clock, exportIntervalMilliseconds, () => void this.export()),
      every(clock, renewalCheckIntervalMilliseconds, () => this.#checkRenewal()),
    ];
    this.#checkRenewal();
  }

  #checkRenewal(): void {
    this.#renewing = this.#renewing.then(() => this.#renew());
  }

  add(subscriptionId: string, partitionKey: string, committed: CommittedOffset): void {
    if (isReservedId(subscriptionId)) return;
    const changedOffsets = this.#changed.get(subscriptionId) ?? new Map<string, CommittedOffset>();
    this.#changed.set(subscriptionId, changedOffsets.set(partitionKey, committed));
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
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    // A claimed renewal is finished here: no other process would do it for hours.
    await this.#renewing;
    await this.export();
  }

  async #exportChanged(): Promise<void> {
    const groups = [...this.#changed];
    this.#changed = new Map();
    const next = groups.values();
    await Promise.all(
      Array.from({ length: concurrentExportsMaximum }, async () => {
        for (const [subscriptionId, offsetsByPartition] of next)
          await this.#exportGroup(subscriptionId, offsetsByPartition);
      }),
    );
  }

  async #exportGroup(subscriptionId: string, offsetsByPartition: Map<string, CommittedOffset>): Promise<void> {
    const positions = [...offsetsByPartition.values()].map(({ eventType, partition, offset }) => ({
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
        this.#options.logger.warn(facts, 'Cannot export the offsets of consumer groups to lag tools');
      }
      this.#failureLogged = true;
      if (isLendstreamError(error) && !error.retriable) return;
      // Offsets that have changed since then are newer.
      for (const [partitionKey, committed] of offsetsByPartition) {
        if (this.#changed.get(subscriptionId)?.has(partitionKey) !== true)
          this.add(subscriptionId, partitionKey, committed);
      }
    }
  }

  async #renew(): Promise<void> {
    let isClaimed = false;
    try {
      if (!(await this.#options.claimRenewal())) return;
      isClaimed = true;
      let untilPause = subscriptionsPerTurn;
      for (const [subscriptionId, offsets] of await readMirror(this.#options.log)) {
        untilPause -= 1;
        if (untilPause === 0) {
          await giveWay();
          untilPause = subscriptionsPerTurn;
        }
        for (const { epoch: _, ...committed } of offsets) {
          const partitionKey = `${committed.eventType}:${committed.partition}`;
          if (this.#changed.get(subscriptionId)?.has(partitionKey) !== true)
            this.add(subscriptionId, partitionKey, committed);
        }
      }
    } catch (error) {
      if (!this.#isClosed) {
        this.#options.logger.warn({ error: describeError(error) }, 'Cannot renew the exported consumer groups');
      }
      if (isClaimed) await this.#options.releaseRenewal().catch(() => undefined);
    }
  }
}

/** The position of a group is the offset that it reads next. A committed offset is the one that was read last. */
function nextOffset(committed: Offset): Offset {
  return committed + 1;
}
