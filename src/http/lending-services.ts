import type { EventLog } from '../broker/event-log.ts';
import type { Publisher } from '../broker/publishing.ts';
import type { Registry } from '../broker/registry.ts';
import type { Clock } from '../clock.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import { LoanView } from '../views/loan-view.ts';
import { type CommandOutcome, isFenceKey, parseFence } from '../worker/fence.ts';
import { loansTopic } from '../worker/lending-topics.ts';

/** What the routers of the lending API work with. */
export interface LendingServices {
  readonly view: LoanView<CommandOutcome>;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface LoanViewSettings {
  readonly dataFolder: string;
  readonly log: EventLog;
  readonly partitionCount: number;
  readonly logger: Logger;
  readonly health?: HealthPart;
}

/**
 * Opens the view of the loans that the worker writes, its fence records telling what became of each command.
 * @throws what {@link LoanView.open} throws
 */
export function openLoanView(settings: LoanViewSettings): Promise<LoanView<CommandOutcome>> {
  return LoanView.open<CommandOutcome>({
    ...settings,
    topic: loansTopic,
    readOutcomes: (key, value) => (isFenceKey(key) ? parseFence(value).outcomes : null),
  });
}
