import type { EventLog } from '../../ports/event-log.ts';
import type { Publisher } from '../../broker/publishing/publisher.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Clock } from '../../clock.ts';
import type { HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import type { CommandOutcomesLimits } from '../../views/command-outcomes.ts';
import { type ChangelogUpdate, LoanView } from '../../views/loan-view.ts';
import { type CommandOutcome, isCheckpointKey, parseCheckpoint } from '../../lending-format/checkpoint.ts';
import { loansTopic } from '../../lending-format/lending-topics.ts';
import { commandIdOfKey, parseIdempotencyRecord } from '../../worker/idempotency-records.ts';

/** The services that the routers of the lending API use. */
export interface LendingServices {
  readonly view: LoanView<CommandOutcome>;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a command that posted no transaction is remembered. Milliseconds. */
  readonly idempotencyMilliseconds: number;
  /** Replaces the API's own times. */
  readonly outcomeWait?: OutcomeWait | undefined;
}

/** How long a request waits for the outcome of its command. Seconds. */
export interface OutcomeWait {
  /** When the request names no time (`Prefer: wait=N`). */
  readonly secondsDefault: number;
  /** The longest wait that a request can get. */
  readonly secondsMaximum: number;
}

export interface LoanViewSettings {
  readonly dataFolder: string;
  readonly log: EventLog;
  readonly partitionCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health?: HealthPart;
  /** Replaces the view's own limits. */
  readonly outcomes?: CommandOutcomesLimits | undefined;
}

/** Reads the worker's records other than loans; null for a loan. A checkpoint record is never deleted. */
export function readChangelogUpdate(key: string, value: Buffer | null): ChangelogUpdate<CommandOutcome> | null {
  if (isCheckpointKey(key))
    return { kind: 'outcomes', outcomes: value === null ? [] : parseCheckpoint(value).outcomes };
  const commandId = commandIdOfKey(key);
  if (commandId === undefined) return null;
  return { kind: 'command', commandId, command: value === null ? null : parseIdempotencyRecord(value.toString()) };
}

/**
 * Opens the view of the loans that the worker writes. The worker's checkpoint records bring the outcome of each
 * command.
 * @throws what {@link LoanView.open} throws
 */
export function openLoanView(settings: LoanViewSettings): Promise<LoanView<CommandOutcome>> {
  return LoanView.open<CommandOutcome>({
    ...settings,
    topic: loansTopic,
    readUpdate: readChangelogUpdate,
  });
}
