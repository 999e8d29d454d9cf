import type { TopicPartition } from '../broker/event-log.ts';
import type { Clock } from '../clock.ts';
import { LendstreamError, isLendstreamError } from '../errors.ts';
import type { KafkaConnections, KafkaRequest } from './connections.ts';
import type { Coordinators } from './coordinator.ts';
import { errorOf, isCoordinatorError, protocolError } from './protocol-errors.ts';
import { Retry } from './retry.ts';
import {
  type ProducerIdentity,
  addPartitionsRequest,
  endTransactionRequest,
  initProducerIdRequest,
} from './transaction-requests.ts';

export interface TransactionCoordinationOptions {
  readonly connections: KafkaConnections;
  readonly coordinators: Coordinators;
  readonly clock: Clock;
}

/** A transaction that is open for longer is aborted by its coordinator, and its writer fenced off. Milliseconds. */
export const transactionMilliseconds = 15_000;

/** How long one step is tried again while the coordinator is busy, moves or does not answer. Milliseconds. */
const stepMilliseconds = 10_000;

/**
 * After each commit the coordinator is busy for a few milliseconds with the markers of the transaction, and the next
 * step meets that as a rule: the first pause is as short as it can be.
 */
const firstPauseMilliseconds = 1;
const pauseMillisecondsMaximum = 50;

/** The requests of one writer to the coordinator of its transactional id, which is the writer's name. */
export class TransactionCoordination {
  readonly #options: TransactionCoordinationOptions;
  readonly #writerId: string;

  constructor(options: TransactionCoordinationOptions, writerId: string) {
    this.#options = options;
    this.#writerId = writerId;
  }

  /**
   * Fences off every earlier writer of the name, after its open transaction was aborted.
   * @throws WRITER_FENCED when another one is opened at the same time, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  begin(): Promise<ProducerIdentity> {
    const request = initProducerIdRequest(this.#writerId, transactionMilliseconds);
    return this.#untilDone(request, ({ errorCode }) => errorCode, 'Opening');
  }

  /**
   * Adds partitions to the open transaction, or opens one with them.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): Promise<void> {
    const request = addPartitionsRequest(this.#writerId, identity, partitions);
    await this.#untilDone(request, firstErrorCode, 'Adding partitions to the transaction of');
  }

  /**
   * Commits or aborts the open transaction. Never asks again after a missing answer: a request that still lies somewhere
   * on its way would end the next transaction of this writer, half written.
   * @throws WRITER_FENCED, LOG_UNAVAILABLE, LOG_CLOSED (nothing was committed), OUTCOME_UNKNOWN
   */
  async end(identity: ProducerIdentity, isCommit: boolean): Promise<void> {
    const request = endTransactionRequest(this.#writerId, identity, isCommit);
    const retry = this.#retry();
    let mayHaveEnded = false;
    for (;;) {
      const { answer: errorCode, failure } = await this.#attempt(request);
      if (errorCode === protocolError.none) return;
      if (failure?.code === 'OUTCOME_UNKNOWN') throw failure;
      // The coordinator answers these, too, when it wrote its decision down but could not replicate it.
      mayHaveEnded ||=
        errorCode === protocolError.coordinatorNotAvailable || errorCode === protocolError.notCoordinator;
      const trouble = failure ?? this.#refusal(errorCode, isCommit ? 'Committing for' : 'Aborting for');
      if (failure === undefined && !this.#passes(errorCode)) {
        throw trouble.code === 'WRITER_FENCED' && !mayHaveEnded ? trouble : outcomeUnknown(trouble);
      }
      await retry.after(mayHaveEnded ? outcomeUnknown(trouble) : trouble);
    }
  }

  /** Asks once to abort whatever is open; the coordinator does it by itself when the transaction's time is up. */
  async abandon(identity: ProducerIdentity): Promise<void> {
    await this.#attempt(endTransactionRequest(this.#writerId, identity, false));
  }

  /** For requests that may be sent twice. */
  async #untilDone<Answer>(
    request: KafkaRequest<Answer>,
    errorCodeOf: (answer: Answer) => number,
    what: string,
  ): Promise<Answer> {
    const retry = this.#retry();
    for (;;) {
      const { answer, failure } = await this.#attempt(request);
      if (failure !== undefined) {
        await retry.after(failure);
        continue;
      }
      const errorCode = errorCodeOf(answer);
      if (errorCode === protocolError.none) return answer;
      const refusal = this.#refusal(errorCode, what);
      if (!this.#passes(errorCode)) throw refusal;
      await retry.after(refusal);
    }
  }

  /** Sends the request once. Answers what may pass as a failure: LOG_UNAVAILABLE (not sent), OUTCOME_UNKNOWN. */
  async #attempt<Answer>(
    request: KafkaRequest<Answer>,
  ): Promise<
    | { readonly answer: Answer; readonly failure?: undefined }
    | { readonly answer?: undefined; failure: LendstreamError }
  > {
    const { connections, coordinators } = this.#options;
    try {
      const coordinator = await coordinators.of('transaction', this.#writerId);
      return { answer: await connections.send(coordinator, 'coordinator', request) };
    } catch (error) {
      coordinators.forget('transaction', this.#writerId);
      const isPassing = isLendstreamError(error, 'LOG_UNAVAILABLE') || isLendstreamError(error, 'OUTCOME_UNKNOWN');
      if (!isPassing) throw error;
      return { failure: error };
    }
  }

  /** Whether the same request may be answered otherwise soon. */
  #passes(errorCode: number): boolean {
    if (errorCode === protocolError.concurrentTransactions) return true;
    if (!isCoordinatorError(errorCode)) return false;
    if (errorCode !== protocolError.coordinatorLoadInProgress) {
      this.#options.coordinators.forget('transaction', this.#writerId);
    }
    return true;
  }

  #refusal(errorCode: number, what: string): LendstreamError {
    const error = errorOf(errorCode, `${what} the writer ${this.#writerId}`, { writerId: this.#writerId });
    // Another writer of the name got another producer id.
    if (errorCode !== protocolError.invalidProducerIdMapping) return error;
    return new LendstreamError('WRITER_FENCED', error.message, { details: error.details });
  }

  #retry(): Retry {
    return new Retry(this.#options.clock, {
      forMilliseconds: stepMilliseconds,
      firstPauseMilliseconds,
      pauseMillisecondsMaximum,
    });
  }
}

/** When one partition is refused, the brokers answer for the others that they did not try. */
function firstErrorCode(answer: readonly { readonly errorCode: number }[]): number {
  const errors = answer.filter(({ errorCode }) => errorCode !== protocolError.none);
  const decisive = errors.find(({ errorCode }) => errorCode !== protocolError.operationNotAttempted) ?? errors[0];
  return decisive?.errorCode ?? protocolError.none;
}

function outcomeUnknown(cause: LendstreamError): LendstreamError {
  return new LendstreamError('OUTCOME_UNKNOWN', `How the transaction ended is not known. ${cause.message}`, { cause });
}
