import { every, withTimeout, type Clock, type Timer } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Coordination } from '../../ports/coordination.ts';
import type { NodeReport } from '../../ports/node-reports.ts';

/** What does not change while a process runs. */
export type NodeFacts = Pick<NodeReport, 'nodeId' | 'host' | 'version' | 'roles' | 'startedAt'>;

export interface NodeReporterOptions {
  readonly coordination: Pick<Coordination, 'reportNode' | 'withdrawNode'>;
  readonly facts: NodeFacts;
  /** What changes. */
  readonly state: () => Omit<NodeReport, keyof NodeFacts | 'address'>;
  readonly leaseMilliseconds: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How many reports a process sends in the time of a lease: one that is lost does not make it look lost. */
const reportsPerLease = 3;

/** How long a process that stops waits for the store. Milliseconds. */
const withdrawalMillisecondsMaximum = 2_000;

/** Tells all processes, a few times in each lease, that this one lives and what it holds. */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #timer: Timer | undefined;
  #address: string | undefined;
  #report: Promise<void> = Promise.resolve();
  #isReporting = false;
  #isStopped = false;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** @param address That this process listens on. */
  start(address: string): void {
    const { clock, leaseMilliseconds } = this.#options;
    if (this.#isStopped) return;
    this.#address = address;
    this.#reportSoon();
    this.#timer = every(clock, leaseMilliseconds / reportsPerLease, () => this.#reportSoon());
  }

  /**
   * Reports a change that people wait for, such as the end of a start, without waiting for the next turn. Does nothing
   * before {@link start}.
   */
  reportChange(): void {
    // The report under way has the state before the change.
    void this.#report.then(() => this.#reportSoon());
  }

  /** Withdraws this process, so that it is not listed as lost, unless the store does not respond soon. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#timer?.cancel();
    if (this.#timer === undefined) return;
    const { coordination, facts, clock, logger } = this.#options;
    const withdrawal = this.#report
      // A report under way must not come after it.
      .then(() => coordination.withdrawNode(facts.nodeId))
      .catch((error: unknown) => {
        logger.debug({ error: describeError(error) }, 'This process could not withdraw its report');
      });
    await withTimeout(clock, withdrawal, withdrawalMillisecondsMaximum, () => undefined);
  }

  /** One report at a time: a slow store gets no more of them. */
  #reportSoon(): void {
    const address = this.#address;
    if (address === undefined || this.#isReporting || this.#isStopped) return;
    this.#isReporting = true;
    const { coordination, facts, state, logger } = this.#options;
    this.#report = coordination
      .reportNode({ ...facts, address, ...state() })
      .catch((error: unknown) => {
        // The lease, which is renewed as often, says so to the operator.
        logger.debug({ error: describeError(error) }, 'This process could not report itself; the next report follows');
      })
      .finally(() => {
        this.#isReporting = false;
      });
  }
}
