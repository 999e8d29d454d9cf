/** What kafkajs keeps of a request until its answer. */
export interface RequestInFlight {
  readonly correlationId: number;
}

/**
 * The requests of one connection that have no answer yet, in place of the map that kafkajs keeps them in. A map is laid
 * out anew every few requests, and each layout that the collector once took for old keeps the next one and everything
 * in it, so that much of what waited for an answer stayed as garbage: 5 KB for each stream that was opened. Here
 * nothing is left of a request that is answered.
 */
export class RequestsInFlight<Request extends RequestInFlight> {
  readonly #requests: Request[] = [];

  get size(): number {
    return this.#requests.length;
  }

  has(correlationId: number): boolean {
    return this.#indexOf(correlationId) >= 0;
  }

  get(correlationId: number): Request | undefined {
    return this.#requests[this.#indexOf(correlationId)];
  }

  set(correlationId: number, request: Request): this {
    const index = this.#indexOf(correlationId);
    if (index < 0) this.#requests.push(request);
    else this.#requests[index] = request;
    return this;
  }

  /** The last one takes the place of the one that goes: their order means nothing. */
  delete(correlationId: number): boolean {
    const index = this.#indexOf(correlationId);
    if (index < 0) return false;
    const last = this.#requests.pop();
    if (last !== undefined && index < this.#requests.length) this.#requests[index] = last;
    return true;
  }

  clear(): void {
    this.#requests.length = 0;
  }

  /** A copy, as kafkajs removes requests while it goes through them. */
  values(): readonly Request[] {
    return [...this.#requests];
  }

  forEach(visit: (request: Request) => void): void {
    for (const request of this.values()) visit(request);
  }

  /** They are few, and answered in about the order in which they were sent. */
  #indexOf(correlationId: number): number {
    return this.#requests.findIndex((request) => request.correlationId === correlationId);
  }
}
