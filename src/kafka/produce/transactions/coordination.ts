import type { TopicPartition } from '../../../ports/event-log.ts';
import type { Clock } from '../../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import type { KafkaConnections } from '../../connection/connections.ts';
import type { KafkaRequest } from '../../protocol/request.ts';
import type { Coordinators } from '../../connection/coordinator.ts';
import type { ClusterMetadata } from '../../connection/metadata.ts';
import { partitionsWithOpenTransaction } from './open-transactions.ts';
import { errorOf, isCoordinatorError, protocolError } from '../../protocol/errors.ts';
import { Retry, passing } from '../../connection/retry.ts';
import { keyOf } from '../../protocol/topic-partitions.ts';
import {
  type DescribedTransaction,
  type InitProducerIdAnswer,
  type ProducerIdentity,
  addPartitionsRequest,
  describeTransactionRequest,
  endTransactionRequest,
  initProducerIdRequest,
} from '../../protocol/transaction-requests.ts';

export interface TransactionCoordinationOptions {
  readonly connections: KafkaConnections;
  readonly coordinators: Coordinators;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
  readonly logger: Logger;
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

/** A transaction that the coordinator has decided, until it is known that all of its partitions have heard of it. */
interface DecidedTransaction {
  readonly partitions: readonly TopicPartition[];
  readonly isCommit: boolean;
  /** The connection that the decision was answered on. */
  readonly connection: object | undefined;
}

type Attempt<Answer> =
  | { readonly answer: Answer; readonly trouble?: undefined }
  | { readonly answer?: undefined; readonly trouble: LendstreamError };

/**
 * The requests of one writer to the coordinator of its transactional id, which is the writer's name.
 *
 * The coordinator answers a commit when it has decided it, and writes the markers that make the records visible after
 * that. One of Kafka 4 that starts again in between may leave markers out, for good: a partition that has no leader at
 * that moment it takes for deleted, and the transaction for complete. What was committed there stays invisible, and so
 * does everything behind it, until the next marker of the same writer decides it together with that writer's next
 * transaction: restored without it, the writer would do the same again and then have it twice. So whoever opens the
 * writer, or goes on with it after the coordinator was away, looks first, and makes up for the markers that are
 * missing.
 */
export class TransactionCoordination {
  readonly #options: TransactionCoordinationOptions;
  readonly #writerId: string;
  #last: DecidedTransaction | undefined;

  constructor(options: TransactionCoordinationOptions, writerId: string) {
    this.#options = options;
    this.#writerId = writerId;
  }

  /**
   * Fences off every earlier writer of the name, after its open transaction was aborted, and sees to it that what they
   * committed in the partitions is visible.
   * @throws WRITER_FENCED when another one is opened at the same time, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async begin(partitions: readonly TopicPartition[]): Promise<ProducerIdentity> {
    const opening = initProducerIdRequest(this.#writerId, transactionMilliseconds);
    const retry = this.#retry();
    // An id that was opened and not used since tells of no decision. Only its last opener can have left one unfinished,
    // most likely a commit: an abort is left out only by a coordinator that went away twice.
    let isCommit = true;
    for (;;) {
      const described = await this.#ask(describeTransactionRequest(this.#writerId), stateErrorCode, 'Looking at');
      isCommit = described.answer === undefined ? isCommit : (decisionOf(described.answer) ?? isCommit);
      // While the last transaction is being ended this is refused, and what became of it is looked up again.
      const { answer, trouble } = described.trouble === undefined ? await this.#openOnce(opening) : described;
      if (trouble !== undefined) {
        await retry.after(trouble);
        continue;
      }
      this.#last = { partitions, isCommit, connection: undefined };
      await this.settle(answer);
      return answer;
    }
  }

  /**
   * Adds partitions to the open transaction, or opens one with them.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): Promise<void> {
    await this.#add(identity, partitions, () => this.#settleIfInterrupted(identity));
    // A coordinator that was there all the time begins the next transaction when all have heard of the last one.
    this.#last = undefined;
  }

  /** Whether it is not known yet that all partitions have heard what became of the last transaction. */
  get isUnsettled(): boolean {
    return this.#last !== undefined;
  }

  /**
   * Looks whether partitions are left that have not heard what became of the last transaction. Asks their leaders alone
   * and changes nothing, so that it may go on beside anything else; when the next transaction has begun meanwhile, that
   * one has taken care of it.
   * @throws LOG_UNAVAILABLE: to be called again, LOG_CLOSED
   */
  async isLeftOpen({ producerId }: ProducerIdentity): Promise<boolean> {
    const last = this.#last;
    if (last === undefined) return false;
    const open = await partitionsWithOpenTransaction(this.#options, producerId, last.partitions);
    if (this.#last !== last) return false;
    if (open.length === 0) this.#last = undefined;
    return open.length > 0;
  }

  /**
   * Returns when all partitions have heard what became of the last transaction. To be called while none is open.
   * @throws LOG_UNAVAILABLE: to be called again, WRITER_FENCED, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async settle(identity: ProducerIdentity): Promise<void> {
    const last = this.#last;
    if (last === undefined) return;
    const { logger } = this.#options;
    const retry = this.#retry();
    for (;;) {
      const open = await partitionsWithOpenTransaction(this.#options, identity.producerId, last.partitions);
      if (open.length === 0) break;
      const outcome = last.isCommit ? 'committed' : 'aborted';
      // The coordinator takes this when it has finished with the last transaction, or believes so. A marker that comes
      // twice changes nothing.
      await this.#add(identity, open);
      await this.#end(identity, last.isCommit);
      const facts = { writerId: this.#writerId, partitions: open.map(keyOf), outcome };
      logger.warn(facts, 'Kafka had left out partitions when it ended a transaction; it was ended there as decided');
      await retry.after(new LendstreamError('LOG_UNAVAILABLE', `Transactions of ${this.#writerId} stay undecided.`));
    }
    if (this.#last === last) this.#last = undefined;
  }

  /**
   * Commits or aborts the open transaction. Never asks again after a missing answer: a request that still lies
   * somewhere on its way would end the next transaction of this writer, half written.
   * @param partitions Those of the transaction.
   * @throws WRITER_FENCED, LOG_UNAVAILABLE, LOG_CLOSED (nothing was committed), OUTCOME_UNKNOWN
   */
  async end(identity: ProducerIdentity, isCommit: boolean, partitions: readonly TopicPartition[]): Promise<void> {
    await this.#end(identity, isCommit);
    this.#last = { partitions, isCommit, connection: await this.#connection() };
  }

  async #end(identity: ProducerIdentity, isCommit: boolean): Promise<void> {
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

  #openOnce(opening: KafkaRequest<InitProducerIdAnswer>): Promise<Attempt<InitProducerIdAnswer>> {
    return this.#ask(opening, ({ errorCode }) => errorCode, 'Opening');
  }

  /** @param before What is to be done first, at each attempt. */
  async #add(
    identity: ProducerIdentity,
    partitions: readonly TopicPartition[],
    before: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const request = addPartitionsRequest(this.#writerId, identity, partitions);
    const retry = this.#retry();
    for (;;) {
      await before();
      const { trouble } = await this.#ask(request, firstErrorCode, 'Adding partitions to the transaction of');
      if (trouble === undefined) return;
      await retry.after(trouble);
    }
  }

  async #settleIfInterrupted(identity: ProducerIdentity): Promise<void> {
    const connection = this.#last?.connection;
    if (connection !== undefined && connection === (await this.#connection())) return;
    await this.settle(identity);
  }

  /** The connection to the coordinator, if there is one. */
  async #connection(): Promise<object | undefined> {
    const { connections, coordinators } = this.#options;
    const coordinator = await passing(coordinators.of('transaction', this.#writerId));
    return isLendstreamError(coordinator) ? undefined : connections.current(coordinator, 'coordinator');
  }

  /**
   * Sends a request that may be sent twice. Answers what may pass as trouble.
   * @throws what does not
   */
  async #ask<Answer>(
    request: KafkaRequest<Answer>,
    errorCodeOf: (answer: Answer) => number,
    what: string,
  ): Promise<Attempt<Answer>> {
    const { answer, failure } = await this.#attempt(request);
    if (failure !== undefined) return { trouble: failure };
    const errorCode = errorCodeOf(answer);
    if (errorCode === protocolError.none) return { answer };
    const refusal = this.#refusal(errorCode, what);
    if (!this.#passes(errorCode)) throw refusal;
    return { trouble: refusal };
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

/** An id that is not known was never used. */
function stateErrorCode({ errorCode }: DescribedTransaction): number {
  return errorCode === protocolError.transactionalIdNotFound ? protocolError.none : errorCode;
}

/** What became or will become of the last transaction when the id is opened anew; undefined when nothing tells. */
function decisionOf({ state }: DescribedTransaction): boolean | undefined {
  if (state === 'PrepareCommit' || state === 'CompleteCommit') return true;
  return ['Ongoing', 'PrepareAbort', 'CompleteAbort', 'PrepareEpochFence'].includes(state) ? false : undefined;
}

function outcomeUnknown(cause: LendstreamError): LendstreamError {
  return new LendstreamError('OUTCOME_UNKNOWN', `How the transaction ended is not known. ${cause.message}`, { cause });
}
