import type { CommitOutcome } from '../../src/broker/subscriptions/commits.ts';
import { describeError, isLendstreamError } from '../../src/errors.ts';
import type { Chance } from './chance.ts';
import type { Connection } from './connection.ts';
import type { ObservedLine } from './invariants/observed-subscriptions.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** A cursor as the API writes it. */
export interface ApiCursor {
  readonly event_type: string;
  readonly partition: string;
  readonly offset: string;
  readonly cursor_token: string;
}

/** A line as JSON. */
export interface StreamLine {
  readonly cursor: ApiCursor;
  readonly events?: readonly unknown[];
  readonly info?: { readonly debug: string; readonly code?: string };
}

/** How a client treats its streams, as probabilities and milliseconds. */
export interface Manners {
  /** Stops reading for a while. */
  stalls: number;
  stallMillisecondsMaximum: number;
  /** Closes the connection. */
  leaves: number;
  /** Does not wait long for the first line of a stream, which may have no partition yet. */
  hurries: number;
  /** Does not commit the received events for now. */
  skipsCommits: number;
  /** Commits long after it received the events. */
  delaysCommits: number;
  /** Sends an earlier commit again. */
  repeatsCommits: number;
  /** Commits the received events under the stream of another client. */
  commitsForOthers: number;
  /** Closes the connection when it fails with an event. Otherwise it goes on with the other partitions. */
  givesUp: number;
  /** How long it waits between two streams. */
  pauseMillisecondsMaximum: number;
}

export const goodManners: Readonly<Manners> = {
  stalls: 0,
  stallMillisecondsMaximum: 0,
  leaves: 0,
  hurries: 0,
  skipsCommits: 0,
  delaysCommits: 0,
  repeatsCommits: 0,
  commitsForOthers: 0,
  givesUp: 1,
  pauseMillisecondsMaximum: 500,
};

/** The service as seen by a client. */
export interface ServiceForClient {
  /** Opens a stream on some node. Rejects when it is refused or gets no response. */
  openStream(
    client: SimulatedProcess,
    subscriptionId: string,
    source: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly streamId: string; readonly connection: Connection }>;
  commit(
    client: SimulatedProcess,
    subscriptionId: string,
    streamId: string,
    cursors: readonly ApiCursor[],
  ): Promise<CommitOutcome>;
  /** Whether the consumer of a subscription fails with an event this time. */
  failsWith(subscriptionId: string, event: unknown): boolean;
  /** The stream ids that clients of the subscription have had. */
  streamIdsOf(subscriptionId: string): readonly string[];
}

export interface ClientOptions {
  readonly process: SimulatedProcess;
  readonly chance: Chance;
  readonly subscriptionId: string;
  readonly service: ServiceForClient;
  readonly newParameters: () => Record<string, unknown>;
  readonly onReceived: (line: ObservedLine) => void;
  readonly note: (text: () => string) => void;
}

/** How long a client waits for a line before it opens another stream. Milliseconds. */
const patienceMilliseconds = 15_000;

/** How often a commit without a response is sent. */
const commitAttemptsMaximum = 5;

/** A client of one subscription: it opens streams, reads, commits, disconnects and returns. */
export class SimulatedClient {
  manners: Manners;
  /** A setting that it never changes. */
  isStuck = false;
  readonly #options: ClientOptions;
  /** Earlier commits. */
  readonly #commits: { readonly streamId: string; readonly cursors: readonly ApiCursor[] }[] = [];

  constructor(options: ClientOptions, manners: Manners) {
    this.#options = options;
    this.manners = manners;
  }

  async run(): Promise<never> {
    const { process, chance, service, subscriptionId, newParameters, note } = this.#options;
    for (;;) {
      await process.clock.sleep(chance.between(1, Math.max(1, this.manners.pauseMillisecondsMaximum)));
      try {
        const parameters = newParameters();
        const { streamId, connection } = await service.openStream(process, subscriptionId, parameters);
        note(() => `${process.name} reads ${streamId} ${JSON.stringify(parameters)}`);
        await this.#consume(streamId, connection, parameters['filter'] !== undefined);
        connection.close();
      } catch (error) {
        note(() => `${process.name} gets no stream: ${describeError(error)}`);
      }
    }
  }

  /** @param isFiltering Whether cursors of lines without events have to be committed too. */
  async #consume(streamId: string, connection: Connection, isFiltering: boolean): Promise<void> {
    const { process, chance, note } = this.#options;
    /** The newest cursor of each partition. */
    const cursors = new Map<string, ApiCursor>();
    /**
     * The offset that was last committed of each partition. A line without events that has it is a keep-alive: its
     * commit would be a heart-beat, and a consumer that has failed with an event has to let its time run out.
     */
    const committedOffsets = new Map<string, string>();
    /** The partitions of which nothing more can be committed, because the consumer failed with an event. */
    const failed = new Set<string>();
    let waitMilliseconds = chance.happens(this.manners.hurries) ? chance.between(10, 2_000) : patienceMilliseconds;
    for (;;) {
      const outcome = await connection.read(waitMilliseconds);
      waitMilliseconds = patienceMilliseconds;
      if (typeof outcome === 'string') {
        note(() => `${process.name} finds ${streamId} ${outcome}`);
        return;
      }
      let isMoved = false;
      const failedBefore = failed.size;
      for (const line of linesOf(outcome.text)) {
        const { cursor, events = [] } = line;
        this.#received(streamId, line);
        const key = `${cursor.event_type}:${cursor.partition}`;
        const isKeepAlive = events.length === 0 && (!isFiltering || committedOffsets.get(key) === cursor.offset);
        if (isKeepAlive || failed.has(key)) continue;
        if (this.#failsWith(events)) {
          failed.add(key);
          continue;
        }
        isMoved = true;
        cursors.set(key, cursor);
      }
      if (failed.size > failedBefore && chance.happens(this.manners.givesUp)) {
        note(() => `${process.name} fails and leaves ${streamId}`);
        return;
      }
      if (chance.happens(this.manners.leaves)) {
        note(() => `${process.name} leaves ${streamId}`);
        return;
      }
      if (chance.happens(this.manners.stalls)) {
        const milliseconds = chance.between(1, this.manners.stallMillisecondsMaximum);
        note(() => `${process.name} stalls for ${milliseconds} ms`);
        await process.clock.sleep(milliseconds);
      }
      if (!isMoved || chance.happens(this.manners.skipsCommits)) continue;
      const committed = [...cursors.values()];
      cursors.clear();
      if (chance.happens(this.manners.delaysCommits)) void this.#commitLate(streamId, committed);
      else if (await this.#commit(streamId, committed)) {
        for (const each of committed) committedOffsets.set(`${each.event_type}:${each.partition}`, each.offset);
      }
      await this.#misbehave(committed);
    }
  }

  #failsWith(events: readonly unknown[]): boolean {
    const { subscriptionId, service } = this.#options;
    return events.some((event) => service.failsWith(subscriptionId, event));
  }

  #received(streamId: string, line: StreamLine): void {
    const { subscriptionId, process, onReceived, note } = this.#options;
    const observed = observedLine(subscriptionId, streamId, line);
    note(() => {
      const { eventType, partition, offset, events } = observed;
      const reason = line.info === undefined ? '' : ` ${line.info.debug}`;
      return `${process.name} gets ${eventType}:${partition}@${offset} ${events.join(' ')}${reason}`;
    });
    onReceived(observed);
  }

  async #commitLate(streamId: string, cursors: readonly ApiCursor[]): Promise<void> {
    const { process, chance } = this.#options;
    await process.clock.sleep(chance.between(100, 15_000));
    await this.#commit(streamId, cursors);
  }

  async #misbehave(cursors: readonly ApiCursor[]): Promise<void> {
    const { chance, service, subscriptionId } = this.#options;
    if (chance.happens(this.manners.repeatsCommits)) {
      const earlier = chance.pick(this.#commits);
      if (earlier !== undefined) await this.#commit(earlier.streamId, earlier.cursors);
    }
    if (chance.happens(this.manners.commitsForOthers)) {
      const streamId = chance.pick(service.streamIdsOf(subscriptionId).slice(-6));
      if (streamId !== undefined) await this.#commit(streamId, cursors);
    }
  }

  /** Commits, repeatedly while there is no response. @returns whether the service has accepted it */
  async #commit(streamId: string, cursors: readonly ApiCursor[]): Promise<boolean> {
    const { process, chance, service, subscriptionId, note } = this.#options;
    this.#commits.push({ streamId, cursors });
    for (let attempt = 1; attempt <= commitAttemptsMaximum; attempt += 1) {
      const places = (): string =>
        cursors.map(({ event_type, partition, offset }) => `${event_type}:${partition}@${offsetOf(offset)}`).join(' ');
      try {
        const { items } = await service.commit(process, subscriptionId, streamId, cursors);
        note(
          () => `${process.name} committed ${places()} of ${streamId}: ${items.map(({ result }) => result).join(' ')}`,
        );
        return true;
      } catch (error) {
        note(() => `${process.name} did not commit ${places()} of ${streamId}: ${describeError(error)}`);
        if (isLendstreamError(error) && !error.retriable) return false;
        await process.clock.sleep(chance.between(50, 1_000));
      }
    }
    return false;
  }
}

/** The lines of a chunk. */
export function linesOf(text: string): StreamLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as StreamLine);
}

/** A line in the form that the {@link Invariants} check. */
export function observedLine(
  subscriptionId: string,
  streamId: string,
  { cursor, events = [] }: StreamLine,
): ObservedLine {
  return {
    subscriptionId,
    streamId,
    eventType: cursor.event_type,
    partition: Number(cursor.partition),
    offset: offsetOf(cursor.offset),
    events: events.map((event) => JSON.stringify(event)),
  };
}

/** The inverse of the API's encoding of offsets. */
export function offsetOf(text: string): number {
  const digits = text.slice(text.lastIndexOf('-') + 1);
  return text.endsWith('--1') ? -1 : Number(digits);
}
