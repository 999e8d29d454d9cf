import type { TopicPartition } from '../../../ports/event-log.ts';
import type { Clock } from '../../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import type { KafkaConnections } from '../../connection/connections.ts';
import type { KafkaRequest } from '../../protocol/request.ts';
import type { Coordinators } from '../../connection/coordinator.ts';
import type { ClusterMetadata } from '../../connection/cluster-metadata.ts';
import { partitionsWithOpenTransaction } from './unfinished-transactions.ts';
import { errorOf, isCoordinatorError, protocolError } from '../../protocol/error-codes.ts';
import { Retry, orTransientError } from '../../connection/retry.ts';
import { keyOf } from '../../protocol/partitions-by-topic.ts';
import {
  type DescribedTransaction,
  type InitProducerIdResponse,
  type ProducerIdentity,
  addPartitionsRequest,
  describeTransactionRequest,
  endTransactionRequest,
  initProducerIdRequest,
} from '../../protocol/transaction-requests.ts';

export interface TransactionCoordinatorOptions {
  readonly connections: Pick<KafkaConnections, 'send' | 'current'>;
  readonly coordinators: Coordinators;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A transaction that stays open longer is aborted by its coordinator, and its writer is fenced off. Milliseconds. */
export const transactionMilliseconds = 15_000;

/** How long one step is retried while the coordinator is busy, moves or does not respond. Milliseconds. */
const stepMilliseconds = 10_000;

/**
 * After each commit the coordinator is busy for a few milliseconds with the markers of the transaction, and the next
 * step usually meets that: so the first pause is as short as possible.
 */
const firstPauseMilliseconds = 1;
const pauseMillisecondsMaximum = 50;

/** A transaction that the coordinator has decided, until all of its partitions are known to have the outcome. */
interface DecidedTransaction {
  readonly partitions: readonly TopicPartition[];
  readonly isCommit: boolean;
  /** The connection on which the decision was confirmed. */
  readonly connection: object | undefined;
}

type Attempt<Response> =
  | { readonly response: Response; readonly failure?: undefined }
  | { readonly response?: undefined; readonly failure: LendstreamError };

/**
 * The requests of one writer to the coordinator of its transactional id, which is the writer's name.
 *
 * The coordinator confirms a commit when it has decided it. Only then does it write the markers that make the records
 * visible. A coordinator of Kafka 4 that restarts in between may leave out markers permanently: it treats a partition
 * that has no leader at that moment as deleted, and the transaction as complete. The records committed there stay
 * invisible, and so does everything after them, until the next marker of the same writer. That marker decides them
 * together with that writer's next transaction. A writer that was restored without these records would do the same work
 * again and then have it twice. So a writer that is opened, or continues after the coordinator was away, first checks
 * for missing markers and has them written.
 */
export class TransactionCoordinator {
  readonly #options: TransactionCoordinatorOptions;
  readonly #writerId: string;
  #lastTransaction: DecidedTransaction | undefined;

  constructor(options: TransactionCoordinatorOptions, writerId: string) {
    this.#options = options;
    this.#writerId = writerId;
  }

  /**
   * Fences off every earlier writer of the name, after aborting its open transaction, and makes sure that the records
   * they committed in the partitions are visible.
   * @throws WRITER_FENCED when another one is opened at the same time, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async begin(partitions: readonly TopicPartition[]): Promise<ProducerIdentity> {
    const opening = initProducerIdRequest(this.#writerId, transactionMilliseconds);
    const retry = this.#retry();
    // An id that was opened but not used since shows no decision. Only its last opener can have left one unfinished,
    // most likely a commit: an abort is left out only by a coordinator that went away twice.
    let isCommit = true;
    for (;;) {
      const described = await this.#sendRepeatable(
        describeTransactionRequest(this.#writerId),
        stateErrorCode,
        'Looking at',
      );
      isCommit = described.response === undefined ? isCommit : (decisionOf(described.response) ?? isCommit);
      // While the last transaction is being ended this is refused, and its outcome is looked up again.
      const { response, failure } = described.failure === undefined ? await this.#openOnce(opening) : described;
      if (failure !== undefined) {
        await retry.after(failure);
        continue;
      }
      this.#lastTransaction = { partitions, isCommit, connection: undefined };
      await this.completeMarkers(response);
      return response;
    }
  }

  /**
   * Adds partitions to the open transaction, or opens one with them.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): Promise<void> {
    await this.#add(identity, partitions, () => this.#completeMarkersIfReconnected(identity));
    // A coordinator that was there all the time begins the next transaction when all partitions have the outcome of the
    // last one.
    this.#lastTransaction = undefined;
  }

  /** Whether it is still unknown that all partitions have the outcome of the last transaction. */
  get hasUnconfirmedMarkers(): boolean {
    return this.#lastTransaction !== undefined;
  }

  /**
   * Checks whether any partition lacks the outcome of the last transaction. Asks only the partitions' leaders and
   * changes nothing, so that it may run beside anything else. If the next transaction has begun during the check, that
   * one has taken care of it.
   * @throws LOG_UNAVAILABLE (call again later), LOG_CLOSED
   */
  async lacksMarkers({ producerId }: ProducerIdentity): Promise<boolean> {
    const last = this.#lastTransaction;
    if (last === undefined) return false;
    const open = await partitionsWithOpenTransaction(this.#options, producerId, last.partitions);
    if (this.#lastTransaction !== last) return false;
    if (open.length === 0) this.#lastTransaction = undefined;
    return open.length > 0;
  }

  /**
   * Returns when all partitions have the outcome of the last transaction. Call it only while no transaction is open.
   * @throws LOG_UNAVAILABLE (call again later), WRITER_FENCED, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async completeMarkers(identity: ProducerIdentity): Promise<void> {
    const last = this.#lastTransaction;
    if (last === undefined) return;
    const { logger } = this.#options;
    const retry = this.#retry();
    for (;;) {
      const open = await partitionsWithOpenTransaction(this.#options, identity.producerId, last.partitions);
      if (open.length === 0) break;
      const outcome = last.isCommit ? 'committed' : 'aborted';
      // The coordinator accepts this when it has finished with the last transaction, or believes so. A marker that
      // comes twice changes nothing.
      await this.#add(identity, open);
      await this.#end(identity, last.isCommit);
      const facts = { writerId: this.#writerId, partitions: open.map(keyOf), outcome };
      logger.warn(facts, 'Kafka left out partitions when it ended a transaction; it is now ended there as decided');
      await retry.after(new LendstreamError('LOG_UNAVAILABLE', `Transactions of ${this.#writerId} stay undecided.`));
    }
    if (this.#lastTransaction === last) this.#lastTransaction = undefined;
  }

  /**
   * Commits or aborts the open transaction. Never asks again after a missing response: a request that is still on its
   * way would end the next transaction of this writer, half written.
   * @param partitions The partitions of the transaction.
   * @throws WRITER_FENCED, LOG_UNAVAILABLE, LOG_CLOSED (nothing was committed), OUTCOME_UNKNOWN
   */
  async end(identity: ProducerIdentity, isCommit: boolean, partitions: readonly TopicPartition[]): Promise<void> {
    await this.#end(identity, isCommit);
    this.#lastTransaction = { partitions, isCommit, connection: await this.#connection() };
  }

  async #end(identity: ProducerIdentity, isCommit: boolean): Promise<void> {
    const request = endTransactionRequest(this.#writerId, identity, isCommit);
    const retry = this.#retry();
    let mayHaveEnded = false;
    for (;;) {
      const { response: errorCode, failure } = await this.#attempt(request);
      if (errorCode === protocolError.none) return;
      if (failure?.code === 'OUTCOME_UNKNOWN') throw failure;
      // The coordinator also responds with these when it wrote its decision down but could not replicate it.
      mayHaveEnded ||=
        errorCode === protocolError.coordinatorNotAvailable || errorCode === protocolError.notCoordinator;
      const error = failure ?? this.#refusal(errorCode, isCommit ? 'Committing for' : 'Aborting for');
      if (failure === undefined && !this.#isTransient(errorCode)) {
        throw error.code === 'WRITER_FENCED' && !mayHaveEnded ? error : outcomeUnknown(error);
      }
      await retry.after(mayHaveEnded ? outcomeUnknown(error) : error);
    }
  }

  /** Asks once to abort whatever is open. The coordinator does so by itself when the transaction's time is up. */
  async abortOnce(identity: ProducerIdentity): Promise<void> {
    await this.#attempt(endTransactionRequest(this.#writerId, identity, false));
  }

  #openOnce(opening: KafkaRequest<InitProducerIdResponse>): Promise<Attempt<InitProducerIdResponse>> {
    return this.#sendRepeatable(opening, ({ errorCode }) => errorCode, 'Opening');
  }

  /** @param before Runs first, at each attempt. */
  async #add(
    identity: ProducerIdentity,
    partitions: readonly TopicPartition[],
    before: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const request = addPartitionsRequest(this.#writerId, identity, partitions);
    const retry = this.#retry();
    for (;;) {
      await before();
      const { failure } = await this.#sendRepeatable(
        request,
        firstErrorCode,
        'Adding partitions to the transaction of',
      );
      if (failure === undefined) return;
      await retry.after(failure);
    }
  }

  async #completeMarkersIfReconnected(identity: ProducerIdentity): Promise<void> {
    const connection = this.#lastTransaction?.connection;
    if (connection !== undefined && connection === (await this.#connection())) return;
    await this.completeMarkers(identity);
  }

  /** The connection to the coordinator, if there is one. */
  async #connection(): Promise<object | undefined> {
    const { connections, coordinators } = this.#options;
    const coordinator = await orTransientError(coordinators.of('transaction', this.#writerId));
    return isLendstreamError(coordinator) ? undefined : connections.current(coordinator, 'coordinator');
  }

  /**
   * Sends a request that may be sent twice. Returns `failure` for an error that may pass.
   * @throws any other error
   */
  async #sendRepeatable<Response>(
    request: KafkaRequest<Response>,
    errorCodeOf: (response: Response) => number,
    what: string,
  ): Promise<Attempt<Response>> {
    const { response, failure } = await this.#attempt(request);
    if (failure !== undefined) return { failure };
    const errorCode = errorCodeOf(response);
    if (errorCode === protocolError.none) return { response };
    const refusal = this.#refusal(errorCode, what);
    if (!this.#isTransient(errorCode)) throw refusal;
    return { failure: refusal };
  }

  /**
   * Sends the request once. Returns `failure` for an error that may pass: LOG_UNAVAILABLE (not sent), OUTCOME_UNKNOWN.
   * Throws any other error.
   */
  async #attempt<Response>(
    request: KafkaRequest<Response>,
  ): Promise<
    | { readonly response: Response; readonly failure?: undefined }
    | { readonly response?: undefined; failure: LendstreamError }
  > {
    const { connections, coordinators } = this.#options;
    try {
      const coordinator = await coordinators.of('transaction', this.#writerId);
      return { response: await connections.send(coordinator, 'coordinator', request) };
    } catch (error) {
      coordinators.forget('transaction', this.#writerId);
      const isTransient = isLendstreamError(error, 'LOG_UNAVAILABLE') || isLendstreamError(error, 'OUTCOME_UNKNOWN');
      if (!isTransient) throw error;
      return { failure: error };
    }
  }

  /** Whether the same request may soon get another response. */
  #isTransient(errorCode: number): boolean {
    if (errorCode === protocolError.concurrentTransactions) return true;
    if (!isCoordinatorError(errorCode)) return false;
    if (errorCode !== protocolError.coordinatorLoadInProgress) {
      this.#options.coordinators.forget('transaction', this.#writerId);
    }
    return true;
  }

  #refusal(errorCode: number, what: string): LendstreamError {
    const error = errorOf(errorCode, `${what} the writer ${this.#writerId}`, { writerId: this.#writerId });
    // Another writer of the name has received another producer id.
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

/** When one partition is refused, the brokers report the others as not attempted. */
function firstErrorCode(response: readonly { readonly errorCode: number }[]): number {
  const errors = response.filter(({ errorCode }) => errorCode !== protocolError.none);
  const decisive = errors.find(({ errorCode }) => errorCode !== protocolError.operationNotAttempted) ?? errors[0];
  return decisive?.errorCode ?? protocolError.none;
}

/** An unknown id was never used. */
function stateErrorCode({ errorCode }: DescribedTransaction): number {
  return errorCode === protocolError.transactionalIdNotFound ? protocolError.none : errorCode;
}

/**
 * Whether the last transaction is or will be committed when the id is opened again; undefined when nothing shows it.
 */
function decisionOf({ state }: DescribedTransaction): boolean | undefined {
  if (state === 'PrepareCommit' || state === 'CompleteCommit') return true;
  return ['Ongoing', 'PrepareAbort', 'CompleteAbort', 'PrepareEpochFence'].includes(state) ? false : undefined;
}

function outcomeUnknown(cause: LendstreamError): LendstreamError {
  return new LendstreamError('OUTCOME_UNKNOWN', `The outcome of the transaction is not known. ${cause.message}`, {
    cause,
  });
}
