/** The entry that kafkajs keeps for a request until its response. */
export interface RequestInFlight {
  readonly correlationId: number;
}

/**
 * The requests of one connection that have no response yet, in place of the map in which kafkajs keeps them. A map
 * moves to new storage every few requests. Once the collector has treated such storage as old, it keeps the next
 * storage and everything in it alive. Much of what waited for a response stayed as garbage that way: 5 KB for each
 * stream that was opened, see "Idle streams" in docs/performance.md. Here nothing is left of a request after its
 * response. `connections.ts` puts it in place with one line; without that line kafkajs uses its own map.
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

  /** The last request moves into the gap: their order means nothing. */
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

  /** Returns a copy, because kafkajs removes requests while it iterates over them. */
  values(): readonly Request[] {
    return [...this.#requests];
  }

  forEach(visit: (request: Request) => void): void {
    for (const request of this.values()) visit(request);
  }

  /** The requests are few, and their responses come in about the order in which they were sent. */
  #indexOf(correlationId: number): number {
    return this.#requests.findIndex((request) => request.correlationId === correlationId);
  }
}
