/** Ids that the service created in a run, so that requests use existing resources; the oldest are dropped. */

export type IdKind = 'subscription' | 'transaction' | 'command' | 'loan' | 'product';

/** How many of each kind are remembered. */
const idsMaximum = 40;

/** The placeholder for an id while none is known. */
const unknown: Readonly<Record<IdKind, string>> = {
  subscription: 'e388316a-bed2-5c68-a633-e3e7113bb84a',
  transaction: 'none',
  command: 'b6a7c1de-93a5-4c0e-8f5d-0a6d3b1f2e4e',
  loan: 'fuzz-loan-0',
  product: 'annuity',
};

/** An open stream, whose cursors can be committed while it is open. */
export interface Session {
  readonly subscription: string;
  readonly stream: string;
  /** The texts of cursors of lines with events. */
  readonly cursors: string[];
}

const unknownSession: Session = {
  subscription: unknown.subscription,
  stream: 'b6a7c1de-93a5-4c0e-8f5d-0a6d3b1f2e4d',
  cursors: ['{"partition":"0","offset":"001-0001--1","event_type":"fuzz.kept.business","cursor_token":"x"}'],
};

export class LiveIds {
  readonly #known = new Map<IdKind, string[]>();
  readonly #sessions: Session[] = [];

  add(kind: IdKind, id: string): void {
    const ids = this.#known.get(kind) ?? [];
    if (!ids.includes(id)) ids.push(id);
    if (ids.length > idsMaximum) ids.shift();
    this.#known.set(kind, ids);
  }

  /** @param fraction From 0 (inclusive) to 1 (exclusive): selects one of the known ids. */
  pick(kind: IdKind, fraction: number): string {
    const ids = this.#known.get(kind) ?? [];
    return ids[Math.floor(fraction * ids.length)] ?? unknown[kind];
  }

  addSession(session: Session): void {
    this.#sessions.push(session);
    // Streams last only for seconds.
    if (this.#sessions.length > 8) this.#sessions.shift();
  }

  /** @param fraction From 0 (inclusive) to 1 (exclusive): selects one of the known ids. */
  session(fraction: number): Session {
    return this.#sessions[Math.floor(fraction * this.#sessions.length)] ?? unknownSession;
  }

  sessionOf(stream: string): Session | undefined {
    return this.#sessions.find((session) => session.stream === stream);
  }
}
