import { type BackOffOptions } from './back-off.ts';
import { newId } from './clock.ts';
import { type Connection, retrying } from './connection.ts';
import { LendstreamError } from './errors.ts';
import { eventText, newEvent, publishTexts, type PublishOptions } from './publishing.ts';
import type { CommandStatus, LoanCommand } from './types.ts';

/** The event type that loan commands are published to. */
export const loanCommandsEventType = 'lendstream.loan-commands';

export interface OutcomeOptions extends BackOffOptions {
  /** How long to wait for the outcome. Milliseconds, default 30 seconds. */
  readonly withinMilliseconds?: number;
  readonly signal?: AbortSignal;
}

/** The first waits are short: most commands are decided within milliseconds. */
const outcomeBackOff = { firstMilliseconds: 10, maximumMilliseconds: 1_000 };
const outcomeMillisecondsDefault = 30_000;

/** Sends loan commands, and learns what became of them. */
export class LoanCommands {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Publishes a command.
   * @returns its `commandId`, as soon as it is stored: a worker then decides it. A command that is sent twice under one
   *   id changes the loan once, so name an id of your own where you may have to repeat it.
   * @throws PublishError for a command that breaks a rule, or is not known to be stored
   */
  async post(command: LoanCommand, options: PublishOptions = {}): Promise<string> {
    const [commandId = ''] = await this.postAll([command], options);
    return commandId;
  }

  /** Publishes commands, in their order. The same as {@link post} for several. */
  async postAll(commands: readonly LoanCommand[], options: PublishOptions = {}): Promise<readonly string[]> {
    const identified = commands.map((command) => ({ ...command, commandId: command.commandId ?? newId() }));
    const texts = identified.map((command) => eventText(newEvent(command)));
    await publishTexts(this.#connection, loanCommandsEventType, texts, options);
    return identified.map(({ commandId }) => commandId);
  }

  /**
   * Waits until a command is decided: `COMMITTED`; `REFUSED`, with the rules in `errors`; or `FAILED`, for one that
   * could not be read and lies among the dead letters.
   * @throws LendstreamError with status 404 when it is not decided in time. The service remembers outcomes for a while
   *   only, so an old command is not known either.
   */
  async outcome(commandId: string, options: OutcomeOptions = {}): Promise<CommandStatus> {
    const { withinMilliseconds = outcomeMillisecondsDefault, signal, ...backOff } = options;
    return retrying(
      async () => {
        const path = `/commands/${encodeURIComponent(commandId)}`;
        const status = (await this.#connection.request('GET', path, { signal })) as CommandStatus;
        if (status.status === 'PENDING') throw new LendstreamError(404, `Command ${commandId} is not decided yet`);
        return status;
      },
      {
        ...outcomeBackOff,
        ...backOff,
        withinMilliseconds,
        signal,
        // A published command is not known before it is decided.
        isRetryable: (error) => error.isRetryable || error.status === 404,
      },
    );
  }

  /** Publishes a command and waits for its outcome: {@link post}, then {@link outcome}. */
  async run(command: LoanCommand, options: PublishOptions & OutcomeOptions = {}): Promise<CommandStatus> {
    return this.outcome(await this.post(command, options), options);
  }
}
