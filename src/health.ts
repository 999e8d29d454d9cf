import type { Clock } from './clock.ts';

/** How long log or coordination store may not answer before a process that needs them is not ready. */
export const unreachableMillisecondsMaximum = 10_000;

/** How one part of this process does. */
export interface PartHealth {
  /** For people and their dashboards, e.g. `log-writer`. */
  readonly name: string;
  readonly ready: boolean;
  /** Since when it has been ready, or has not. Milliseconds since the epoch. */
  readonly since: number;
  /** Why it is not ready, in a sentence; null while it is. */
  readonly reason: string | null;
}

/**
 * How this process does, part by part. Each part reports to its own {@link HealthPart}; `/ready` and `/health` read
 * them all. The process can serve while every part is ready.
 */
export class Health {
  readonly #clock: Clock;
  readonly #parts: HealthPart[] = [];
  #end: (reason: string) => void = () => {};

  /** Settles, with the reason, when a part has failed that this process cannot go on without. */
  readonly ended: Promise<string>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** A further part, ready until it says otherwise. */
  part(name: string): HealthPart {
    const part = new HealthPart(name, this.#clock, this.#end);
    this.#parts.push(part);
    return part;
  }

  /** Every part, in the order in which they were opened. */
  parts(): PartHealth[] {
    return this.#parts.map(({ name, ready, since, reason }) => ({ name, ready, since, reason }));
  }

  /** Why this process cannot serve now; empty when it can. */
  notReadyReasons(): string[] {
    return this.#parts.flatMap(({ reason }) => (reason === null ? [] : [reason]));
  }
}

export class HealthPart implements PartHealth {
  readonly name: string;
  readonly #clock: Clock;
  readonly #end: (reason: string) => void;
  #since: number;
  #reason: string | null = null;
  #hasFailed = false;

  constructor(name: string, clock: Clock, end: (reason: string) => void) {
    this.name = name;
    this.#clock = clock;
    this.#end = end;
    this.#since = clock.now();
  }

  get ready(): boolean {
    return this.#reason === null;
  }

  get since(): number {
    return this.#since;
  }

  get reason(): string | null {
    return this.#reason;
  }

  /** Says that the part works. */
  isReady(): void {
    this.#set(null);
  }

  /** Says that the part does not work now, and why, in a sentence. It may become ready again. */
  isNotReady(reason: string): void {
    this.#set(reason);
  }

  /** Says that the part will not work again and that this process cannot go on without it. */
  hasFailed(reason: string): void {
    this.#set(reason);
    this.#hasFailed = true;
    this.#end(reason);
  }

  #set(reason: string | null): void {
    if (this.#hasFailed) return;
    if (this.ready !== (reason === null)) this.#since = this.#clock.now();
    this.#reason = reason;
  }
}
