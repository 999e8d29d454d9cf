import { LendstreamError } from '../../errors.ts';
import type { ClusterMetadata } from '../connection/metadata.ts';
import { errorOf, protocolError } from '../protocol/errors.ts';
import { type ProducerIdentity, initProducerIdRequest } from '../protocol/transaction-requests.ts';

/**
 * The producer ids that this process has been given for appends outside of transactions. A partition numbers its
 * batches under one id; when it can no longer tell what became of a batch it goes on under another one, from zero,
 * while other partitions keep theirs.
 */
export class ProducerIdentities {
  readonly #metadata: ClusterMetadata;
  #newest: ProducerIdentity | undefined;
  #asking: Promise<ProducerIdentity> | undefined;

  constructor(metadata: ClusterMetadata) {
    this.#metadata = metadata;
  }

  /**
   * An identity given out after this one. Partitions take identities only forward, so that none comes back to one under
   * which it has counted.
   * @param spent Undefined when the partition has none yet.
   * @throws LOG_UNAVAILABLE, LOG_CLOSED
   */
  after(spent: ProducerIdentity | undefined): Promise<ProducerIdentity> {
    if (this.#newest !== undefined && this.#newest !== spent) return Promise.resolve(this.#newest);
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** Whoever comes next without an identity is not to get this one. */
  retire(identity: ProducerIdentity | undefined): void {
    if (this.#newest === identity) this.#newest = undefined;
  }

  async #ask(): Promise<ProducerIdentity> {
    // The transaction time is checked even though there will be no transaction: it must not be zero.
    const { errorCode, producerId, producerEpoch } = await this.#metadata.ask(initProducerIdRequest(null, 1));
    if (errorCode !== protocolError.none) {
      const { message, details } = errorOf(errorCode, 'Asking for a producer id');
      throw new LendstreamError('LOG_UNAVAILABLE', message, { details });
    }
    return (this.#newest = { producerId, producerEpoch });
  }
}
