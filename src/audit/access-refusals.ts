import { randomUUID } from 'node:crypto';
import type { Principal } from '../access/principal.ts';
import { after, type Clock, type Timer } from '../clock.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditEntry } from './audit-entry.ts';

/** How often refusals are recorded: those of one sender within this time are one record. Milliseconds. */
export const refusalMilliseconds = 1_000;

/** The most senders with a record of their own in this time. The others share one, so that no attack fills the log. */
export const refusedSendersMaximum = 100;

/** A request that was refused access. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly who: Principal | null;
  readonly from: string;
  readonly flowId: string;
  /** Names the operation; called for the first refusal of a sender alone. */
  readonly operationOf: () => string | null;
}

export interface AccessRefusalsOptions {
  readonly audit: Pick<AuditLog, 'append' | 'isFailing'>;
  readonly clock: Clock;
}

/**
 * Counts refusals of access and records them every second: one record for each address, name and status. While the
 * audit cannot be written they are counted on.
 */
export class AccessRefusals {
  readonly #options: AccessRefusalsOptions;
  readonly #counted = new Map<string, AuditEntry & { count: number }>();
  #timer: Timer | undefined;

  constructor(options: AccessRefusalsOptions) {
    this.#options = options;
  }

  note(refusal: Refusal): void {
    const { clock } = this.#options;
    const { status, who, from } = refusal;
    const own = JSON.stringify([status, from, who?.name]);
    const isShared = !this.#counted.has(own) && this.#counted.size >= refusedSendersMaximum;
    const key = isShared ? String(status) : own;
    const known = this.#counted.get(key);
    if (known !== undefined) known.count += 1;
    else this.#counted.set(key, this.#entryOf(refusal, isShared));
    this.#timer ??= after(clock, refusalMilliseconds, () => this.#record());
  }

  /** Records what was counted. */
  close(): void {
    this.#timer?.cancel();
    this.#record();
  }

  #entryOf({ status, who, from, flowId, operationOf }: Refusal, isShared: boolean): AuditEntry & { count: number } {
    return {
      stage: 'refused',
      requestId: randomUUID(),
      at: this.#options.clock.now(),
      flowId: isShared ? '' : flowId,
      who: isShared ? null : who,
      from: isShared ? null : from,
      operation: isShared ? null : operationOf(),
      subject: null,
      status,
      count: 1,
    };
  }

  #record(): void {
    const { audit, clock } = this.#options;
    this.#timer = undefined;
    if (this.#counted.size === 0) return;
    if (audit.isFailing) {
      this.#timer = after(clock, refusalMilliseconds, () => this.#record());
      return;
    }
    // A record that cannot be stored in time stays in the audit log, which tries on.
    for (const entry of this.#counted.values()) audit.append(entry).catch(() => undefined);
    this.#counted.clear();
  }
}
