import type { Clock } from './clock.ts';

/**
 * How long the log or the coordination store may be unreachable before a process that needs them is not ready.
 * Milliseconds.
 */
export const unreachableMillisecondsMaximum = 10_000;

/** The state of one part of this process. */
export interface PartHealth {
  /** For people and their dashboards, e.g. `log-writer`. */
  readonly name: string;
  readonly ready: boolean;
  /** When it last became ready or not ready. Milliseconds since the epoch. */
  readonly since: number;
  /** Why it is not ready, in a sentence; null while it is. */
  readonly reason: string | null;
  /** How far it is, while it reads what it needs before it is ready; null otherwise. */
  readonly progress: ReadingProgress | null;
}

/** How many records of the log were read, of those that have to be. */
export interface ReadingProgress {
  readonly recordsRead: number;
  readonly records: number;
  /** Rounded down. */
  readonly percent: number;
  readonly partitions: readonly {
    readonly partition: number;
    readonly recordsRead: number;
    readonly records: number;
  }[];
}

/** What a part reports while it reads what it needs. */
export interface Reading {
  /** In a sentence. */
  readonly reason: string;
  readonly progress: ReadingProgress;
}

/** Why a part is not ready. */
interface Obstacle {
  readonly reason: string;
  readonly progress: ReadingProgress | null;
}

/**
 * The state of this process, part by part. Each part reports to its own {@link HealthPart}; `/ready` and `/health` read
 * them all. The process can serve while every part is ready.
 */
export class Health {
  readonly #clock: Clock;
  readonly #parts: HealthPart[] = [];
  #end: (reason: string) => void = () => {};

  /** Resolves, with the reason, when a part has failed that this process cannot continue without. */
  readonly ended: Promise<string>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Adds a part, which is ready until it reports otherwise. */
  part(name: string): HealthPart {
    const part = new HealthPart(name, this.#clock, this.#end);
    this.#parts.push(part);
    return part;
  }

  /** Every part, in the order in which they were opened. */
  parts(): PartHealth[] {
    return this.#parts.map((part) => {
      const { name, ready, since, reason, progress } = part;
      return { name, ready, since, reason, progress };
    });
  }

  /** Why this process cannot serve now; empty when it can. */
  notReadyReasons(): string[] {
    return this.#parts.flatMap(({ reason }) => (reason === null ? [] : [reason]));
  }
}

/** One part of this process, which reports its own state here. After {@link reportFailed} the state is final. */
export class HealthPart implements PartHealth {
  readonly name: string;
  readonly #clock: Clock;
  readonly #end: (reason: string) => void;
  #since: number;
  #obstacle: (() => Obstacle) | null = null;
  #hasFailed = false;

  constructor(name: string, clock: Clock, end: (reason: string) => void) {
    this.name = name;
    this.#clock = clock;
    this.#end = end;
    this.#since = clock.now();
  }

  get ready(): boolean {
    return this.#obstacle === null;
  }

  get since(): number {
    return this.#since;
  }

  get reason(): string | null {
    return this.#obstacle?.().reason ?? null;
  }

  get progress(): ReadingProgress | null {
    return this.#obstacle?.().progress ?? null;
  }

  /** Reports that the part works. */
  reportReady(): void {
    this.#set(null);
  }

  /** Reports that the part does not work now, and why, in a sentence. It may become ready again. */
  reportNotReady(reason: string): void {
    this.#set(() => ({ reason, progress: null }));
  }

  /**
   * Reports that the part is not ready because it reads what it needs.
   * @param look Returns how far it is. It is called for each look at the health.
   */
  reportReading(look: () => Reading): void {
    this.#set(look);
  }

  /** Reports that the part will not work again and that this process cannot continue without it. */
  reportFailed(reason: string): void {
    this.#set(() => ({ reason, progress: null }));
    this.#hasFailed = true;
    this.#end(reason);
  }

  #set(obstacle: (() => Obstacle) | null): void {
    if (this.#hasFailed) return;
    if (this.ready !== (obstacle === null)) this.#since = this.#clock.now();
    this.#obstacle = obstacle;
  }
}
