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

/** What the routers of the lending API work with. */
export interface LendingServices {
  readonly view: LoanView<CommandOutcome>;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a command that posted no transaction is remembered. */
  readonly rememberedMilliseconds: number;
  /** Another time than the API's own. */
  readonly outcomeWait?: OutcomeWait | undefined;
}

/** How long a request waits for the outcome of its command. Seconds. */
export interface OutcomeWait {
  /** When it does not say (`Prefer: wait=N`). */
  readonly secondsDefault: number;
  /** At most, whatever it says. */
  readonly secondsMaximum: number;
}

export interface LoanViewSettings {
  readonly dataFolder: string;
  readonly log: EventLog;
  readonly partitionCount: number;
  readonly logger: Logger;
  readonly health?: HealthPart;
  /** Other limits than the view's own. */
  readonly outcomes?: CommandOutcomesLimits | undefined;
}

/** What the worker's records tell, the loans aside. A position is never deleted. */
export function readChangelogNews(key: string, value: Buffer | null): ChangelogNews<CommandOutcome> | null {
  if (isFenceKey(key)) return { kind: 'outcomes', outcomes: value === null ? [] : parseFence(value).outcomes };
  const commandId = commandIdOfKey(key);
  if (commandId === undefined) return null;
  return { kind: 'command', commandId, command: value === null ? null : parseRemembered(value.toString()) };
}

/**
 * Opens the view of the loans that the worker writes, its fence records telling what became of each command.
 * @throws what {@link LoanView.open} throws
 */
export function openLoanView(settings: LoanViewSettings): Promise<LoanView<CommandOutcome>> {
  return LoanView.open<CommandOutcome>({
    ...settings,
    topic: loansTopic,
    readNews: readChangelogNews,
  });
}
