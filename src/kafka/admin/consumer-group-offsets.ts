import type { Clock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { RequestSender } from '../connection/connections.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import type { Coordinators } from '../connection/coordinator.ts';
import { errorOf, isCoordinatorError, protocolError } from '../protocol/error-codes.ts';
import { Retry, orTransientError } from '../connection/retry.ts';
import {
  offsetCommitRequest,
  offsetFetchRequest,
  type Position,
  type WithErrorCode,
} from '../protocol/group-offset-requests.ts';

export interface GroupOffsetsOptions {
  readonly connections: RequestSender;
  readonly coordinators: Coordinators;
  readonly clock: Clock;
}

/** How long to keep asking while the group's coordinator moves or loads. */
const coordinatorRetry = { forMilliseconds: 10_000, firstPauseMilliseconds: 50, pauseMillisecondsMaximum: 50 };

/**
 * Stores and looks up positions as offsets of groups without members, so that Kafka's own tools show each subscription
 * and its lag. The brokers forget a group that is not renewed (`offsets.retention.minutes`, seven days by default).
 */
export class KafkaGroupOffsets {
  readonly #options: GroupOffsetsOptions;

  constructor(options: GroupOffsetsOptions) {
    this.#options = options;
  }

  /**
   * Stores the positions of a group. Skips partitions of topics that no longer exist.
   * @throws LOG_UNAVAILABLE; UNPROCESSABLE when a client has joined the group
   */
  async export(group: string, positions: readonly Position[]): Promise<void> {
    if (positions.length === 0) return;
    await this.#sendToCoordinator(group, offsetCommitRequest(group, positions), (results) => {
      const refused = results.find(({ errorCode }) => !ignoredErrorCodes.has(errorCode));
      if (refused === undefined) return;
      if (refused.errorCode === protocolError.unknownMemberId) {
        throw new LendstreamError('UNPROCESSABLE', `A client consumes with the group id ${group} of a subscription.`);
      }
      throw errorOf(refused.errorCode, `Exporting the offsets of group ${group}`);
    });
  }

  /**
   * Returns the positions of a group, sorted by topic, then partition.
   * @throws LOG_UNAVAILABLE
   */
  async of(group: string): Promise<Position[]> {
    const positions = await this.#sendToCoordinator(group, offsetFetchRequest(group), (results) => {
      const refused = results.find(({ errorCode }) => errorCode !== protocolError.none);
      if (refused !== undefined) throw errorOf(refused.errorCode, `Looking up the offsets of group ${group}`);
    });
    return positions
      .filter(({ offset }) => offset >= 0)
      .map(({ topic, partition, offset }) => ({ topic, partition, offset }))
      .sort((left, right) =>
        left.topic === right.topic ? left.partition - right.partition : left.topic < right.topic ? -1 : 1,
      );
  }

  async #sendToCoordinator<Results extends WithErrorCode<object>[]>(
    group: string,
    request: KafkaRequest<Results>,
    check: (results: Results) => void,
  ): Promise<Results> {
    const { connections, coordinators, clock } = this.#options;
    const attempt = async (): Promise<Results> => {
      const results = await connections.send(await coordinators.of('group', group), 'coordinator', request);
      if (results.some(({ errorCode }) => isCoordinatorError(errorCode))) throw coordinatorMissing(group);
      check(results);
      return results;
    };
    const retry = new Retry(clock, coordinatorRetry);
    for (;;) {
      // Both requests may be sent again: the positions are set, not added.
      const result = await orTransientError(attempt());
      if (!(result instanceof LendstreamError)) return result;
      coordinators.forget('group', group);
      await retry.after(result);
    }
  }
}

const ignoredErrorCodes = new Set<number>([protocolError.none, protocolError.unknownTopicOrPartition]);

function coordinatorMissing(group: string): LendstreamError {
  return new LendstreamError('LOG_UNAVAILABLE', `The coordinator of group ${group} is not available.`);
}
