import { LendstreamError } from '../../errors.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';
import { type ProducerIdentity, initProducerIdRequest } from '../protocol/transaction-requests.ts';

/**
 * The producer ids that this process has received for appends outside of transactions. A partition numbers its batches
 * under one id. When the outcome of a batch can no longer be found out, the partition continues under another id, from
 * zero, while other partitions keep theirs.
 */
export class ProducerIdentities {
  readonly #metadata: ClusterMetadata;
  #newest: ProducerIdentity | undefined;
  #pendingRequest: Promise<ProducerIdentity> | undefined;

  constructor(metadata: ClusterMetadata) {
    this.#metadata = metadata;
  }

  /**
   * Returns an identity that was given out after this one. Partitions take identities only forward, so that none
   * returns to one under which it has counted.
   * @param previous Undefined when the partition has none yet.
   * @throws LOG_UNAVAILABLE, LOG_CLOSED
   */
  after(previous: ProducerIdentity | undefined): Promise<ProducerIdentity> {
    if (this.#newest !== undefined && this.#newest !== previous) return Promise.resolve(this.#newest);
    this.#pendingRequest ??= this.#requestIdentity().finally(() => (this.#pendingRequest = undefined));
    return this.#pendingRequest;
  }

  /** The next partition that needs an identity must not get this one. */
  retire(identity: ProducerIdentity | undefined): void {
    if (this.#newest === identity) this.#newest = undefined;
  }

  async #requestIdentity(): Promise<ProducerIdentity> {
    // The broker checks the transaction timeout even though there will be no transaction: it must not be zero.
    const { errorCode, producerId, producerEpoch } = await this.#metadata.sendToAny(initProducerIdRequest(null, 1));
    if (errorCode !== protocolError.none) {
      const { message, details } = errorOf(errorCode, 'Asking for a producer id');
      throw new LendstreamError('LOG_UNAVAILABLE', message, { details });
    }
    return (this.#newest = { producerId, producerEpoch });
  }
}
