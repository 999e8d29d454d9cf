import type { EventLog } from '../../ports/event-log.ts';
import type { Publisher } from '../../broker/publishing/publisher.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Clock } from '../../clock.ts';
import type { HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import type { CommandOutcomesLimits } from '../../views/command-outcomes.ts';
import { type ChangelogNews, LoanView } from '../../views/loan-view.ts';
import { type CommandOutcome, isFenceKey, parseFence } from '../../lending-format/fence.ts';
import { loansTopic } from '../../lending-format/lending-topics.ts';
import { commandIdOfKey, parseRemembered } from '../../worker/remembered-commands.ts';

/** The services that the routers of the lending API use. */
export interface LendingServices {
  readonly view: LoanView<CommandOutcome>;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a command that posted no transaction is remembered. Milliseconds. */
  readonly rememberedMilliseconds: number;
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
  readonly logger: Logger;
  readonly health?: HealthPart;
  /** Replaces the view's own limits. */
  readonly outcomes?: CommandOutcomesLimits | undefined;
}

/** Reads the worker's records other than loans; null for a loan. A fence record is never deleted. */
export function readChangelogNews(key: string, value: Buffer | null): ChangelogNews<CommandOutcome> | null {
  if (isFenceKey(key)) return { kind: 'outcomes', outcomes: value === null ? [] : parseFence(value).outcomes };
  const commandId = commandIdOfKey(key);
  if (commandId === undefined) return null;
  return { kind: 'command', commandId, command: value === null ? null : parseRemembered(value.toString()) };
}

/**
 * Opens the view of the loans that the worker writes. The worker's fence records bring the outcome of each command.
 * @throws what {@link LoanView.open} throws
 */
export function openLoanView(settings: LoanViewSettings): Promise<LoanView<CommandOutcome>> {
  return LoanView.open<CommandOutcome>({
    ...settings,
    topic: loansTopic,
    readNews: readChangelogNews,
  });
}
