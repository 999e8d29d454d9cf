import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { eventually } from '../eventually.ts';
import { streamDecoder } from './stream-encodings.ts';

/** A dispatched event, as the `EventSource` of a browser would give it to a page. */
export interface ReceivedEvent {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Reads `text/event-stream` by the rules of the HTML standard (9.2.6), written out one by one. */
export class EventStreamReader {
  readonly response: IncomingMessage;
  readonly events: ReceivedEvent[] = [];
  readonly comments: string[] = [];
  lastEventId = '';
  retry: number | undefined;
  isEnded = false;
  #line = '';
  #type = '';
  #data = '';
  #id = '';

  constructor(response: IncomingMessage) {
    this.response = response;
  }

  static async open(
    port: number,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    isReading = true,
  ): Promise<EventStreamReader> {
    const sent = request({ port, path, headers: { Accept: 'text/event-stream', ...headers }, agent: false });
    sent.end();
    sent.on('error', () => undefined);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const reader = new EventStreamReader(response);
    if (isReading) reader.read();
    return reader;
  }

  read(): void {
    const encoding = this.response.headers['content-encoding'];
    const text = encoding === undefined ? this.response : this.response.pipe(streamDecoder(encoding));
    text.setEncoding('utf8');
    text.on('data', (part: string) => this.receive(part));
    text.on('error', () => undefined);
    this.response.on('close', () => (this.isEnded = true));
  }

  receive(text: string): void {
    const lines = (this.#line + text).split(/\r\n|\n|\r/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  /** The parsed data of the events of the default type: batches. */
  get batches(): { cursor: Record<string, string>; events: Record<string, unknown>[] }[] {
    return this.events.filter(({ type }) => type === 'message').map(({ data }) => JSON.parse(data) as never);
  }

  get numbers(): unknown[] {
    return this.batches.flatMap(({ events }) => events.map(({ number }) => number));
  }

  /** The parsed data of the events of another type. */
  ofType(type: string): Record<string, unknown>[] {
    return this.events.filter((event) => event.type === type).map(({ data }) => JSON.parse(data) as never);
  }

  until(condition: (reader: this) => boolean, milliseconds = 15_000): Promise<void> {
    return eventually(() => condition(this), milliseconds);
  }

  close(): void {
    this.response.destroy();
  }

  #take(line: string): void {
    if (line === '') this.#dispatch();
    else if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
    else {
      const [, field = '', value = ''] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? [];
      if (field === 'event') this.#type = value;
      else if (field === 'data') this.#data += `${value}\n`;
      else if (field === 'id' && !value.includes('\0')) this.#id = value;
      else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
    }
  }

  #dispatch(): void {
    this.lastEventId = this.#id;
    const [type, data] = [this.#type === '' ? 'message' : this.#type, this.#data];
    this.#type = '';
    this.#data = '';
    if (data !== '') this.events.push({ type, data: data.slice(0, -1), lastEventId: this.lastEventId });
  }
}
