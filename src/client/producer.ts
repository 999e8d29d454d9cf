import { after } from './clock.ts';
import type { Connection } from './connection.ts';
import { eventText, PublishError, publishTexts, type PublishOptions, type UnstoredEvent } from './publishing.ts';

/** How a producer forms requests. Everything has a default. */
export interface ProducerOptions extends Omit<PublishOptions, 'signal'> {
  /** How long the first event of a request waits for others. Milliseconds, default 5; 0 waits for the next turn. */
  readonly lingerMilliseconds?: number;
  /** The most events of a request; default 1000. */
  readonly eventsMaximum?: number;
  /** The most characters of a request; default a million. A single longer event is sent alone. */
  readonly charactersMaximum?: number;
  /** The most characters that may wait or be under way; default 16 million. Then `publish` waits. */
  readonly waitingCharactersMaximum?: number;
}

interface WaitingEvent {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const defaults = {
  lingerMilliseconds: 5,
  eventsMaximum: 1_000,
  charactersMaximum: 1_000_000,
  waitingCharactersMaximum: 16_000_000,
};

/**
 * Publishes single events of one event type in few requests. One request is under way at a time, so that the events of
 * a partition are stored in the order in which they were published; what comes meanwhile is the next request.
 */
export class Producer<Event extends object = object> {
  readonly #connection: Connection;
  readonly #eventType: string;
  readonly #options: ProducerOptions & typeof defaults;
  #waiting: WaitingEvent[] = [];
  #waitingCharacters = 0;
  #spaceWaiters: (() => void)[] = [];
  #cancelLinger: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(connection: Connection, eventType: string, options: ProducerOptions = {}) {
    this.#connection = connection;
    this.#eventType = eventType;
    this.#options = { ...defaults, ...options };
  }

  /** The characters of events that wait or are under way. */
  get waitingCharacters(): number {
    return this.#waitingCharacters;
  }

  /**
   * Publishes an event.
   * @returns when it is stored
   * @throws PublishError when it is not known to be stored, LendstreamError when the service refuses the request
   */
  async publish(event: Event): Promise<void> {
    const text = eventText(event);
    while (
      this.#waitingCharacters > 0 &&
      this.#waitingCharacters + text.length > this.#options.waitingCharactersMaximum
    ) {
      await new Promise<void>((resolve) => this.#spaceWaiters.push(resolve));
    }
    if (this.#isClosed) throw new Error('The producer is closed');
    await new Promise<void>((resolve, reject) => {
      this.#waitingCharacters += text.length;
      this.#waiting.push({ text, resolve, reject });
      if (this.#waiting.length >= this.#options.eventsMaximum) this.#send();
      else this.#cancelLinger ??= after(this.#options.lingerMilliseconds, () => this.#send());
    });
  }

  /** Sends what waits. @returns when everything published so far is stored, or has failed */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== undefined) {
      this.#send();
      await this.#sending;
    }
  }

  /** Takes no more events. @returns when everything is stored, or has failed */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  #send(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    // What came while a request was under way has waited long enough.
    while (this.#waiting.length > 0) {
      const events = this.#nextRequest();
      const results = await this.#outcomes(events);
      for (const [index, { resolve, reject }] of events.entries()) {
        const failure = results(index);
        if (failure === undefined) resolve();
        else reject(failure);
      }
      for (const { text } of events) this.#waitingCharacters -= text.length;
      for (const resolve of this.#spaceWaiters.splice(0)) resolve();
    }
  }

  #nextRequest(): WaitingEvent[] {
    const { eventsMaximum, charactersMaximum } = this.#options;
    let characters = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      characters += text.length;
      if (count === eventsMaximum || (count > 0 && characters > charactersMaximum)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** @returns the error of each event; undefined for those that are stored */
  async #outcomes(events: readonly WaitingEvent[]): Promise<(index: number) => unknown> {
    const texts = events.map(({ text }) => text);
    try {
      await publishTexts(this.#connection, this.#eventType, texts, this.#options);
      return () => undefined;
    } catch (error) {
      if (!(error instanceof PublishError)) return () => error;
      const failed = new Map<number, UnstoredEvent>(error.events.map((event) => [event.index, event]));
      return (index) => {
        const event = failed.get(index);
        return event === undefined ? undefined : new PublishError([event]);
      };
    }
  }
}
