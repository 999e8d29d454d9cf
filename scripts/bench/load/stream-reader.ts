import { connect } from 'node:net';
import { Agent, request } from 'node:http';
import { LineHeads } from './line-heads.ts';

/**
 * Reads any number of streams to the end of their backlog. The client counts lines and parses only each line's cursor.
 * Prints the time from the opening of the first stream to the last event. All events have the same size, so the length
 * of each line shows whether it brought every event between its cursor and the one before.
 */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
  /** Events to wait for per subscription. */
  readonly events: number;
  readonly batchLimit: number;
  readonly window: number;
  /** Commit each line as it arrives (true), or only what is uncommitted when half of the window is used. */
  readonly commitEachLine: boolean;
  /** The key of the reader, if it has one. */
  readonly apiKey?: string;
}

interface Cursor {
  readonly partition: string;
  readonly offset: string;
  readonly event_type: string;
  readonly cursor_token: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { hostname, port } = new URL(settings.url);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const newline = 10;
const keyHeaders = settings.apiKey === undefined ? {} : { Authorization: `Bearer ${settings.apiKey}` };
const keyLine = settings.apiKey === undefined ? '' : `Authorization: Bearer ${settings.apiKey}\r\n`;

function commit(subscription: string, streamId: string, cursors: readonly Cursor[]): Promise<void> {
  const body = Buffer.from(JSON.stringify({ items: cursors }));
  return new Promise((resolve, reject) => {
    const sent = request(
      `${settings.url}/subscriptions/${subscription}/cursors`,
      {
        method: 'POST',
        agent,
        headers: {
          'X-Nakadi-StreamId': streamId,
          'Content-Type': 'application/json',
          'Content-Length': body.length,
          ...keyHeaders,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () =>
          (response.statusCode ?? 500) < 300
            ? resolve()
            : reject(new Error(`A commit was answered ${response.statusCode}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Finds the lines in a chunked body. Before the data of each chunk comes a line with its hexadecimal size. */
class ChunkedLines {
  readonly #lines: LineHeads;
  #sizeText = '';
  /** Bytes of the chunk still to come, including the two that end it. */
  #left = 0;

  constructor(onLine: (head: string, bytes: number) => void) {
    this.#lines = new LineHeads(onLine);
  }

  feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 2) {
        const end = Math.min(bytes.length, at + this.#left - 2);
        this.#lines.feed(bytes.subarray(at, end));
        this.#left -= end - at;
        at = end;
      } else if (this.#left > 0) {
        const skipped = Math.min(bytes.length - at, this.#left);
        this.#left -= skipped;
        at += skipped;
      } else {
        const end = bytes.indexOf(newline, at);
        this.#sizeText += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
        if (end < 0) return;
        this.#left = Number.parseInt(this.#sizeText, 16) + 2;
        this.#sizeText = '';
        at = end + 1;
      }
    }
  }
}

const eventsStart = ',"events":[';
const eventsEnd = ']}';
/** The extra text in the first line of a stream. */
const startInfo = ',"info":{"debug":"Stream started"}';

/** Checks that no event is missing. */
class Completeness {
  readonly #positions = new Map<string, number>();
  #eventBytes: number | undefined;
  #isFirstLine = true;

  /** Returns how many events a line brought; they must be all those between its cursor and the one before. */
  checkLine({ partition, offset }: Cursor, head: string, lineBytes: number): number {
    const position = Number(offset.slice(9)) + 1;
    const events = position - (this.#positions.get(partition) ?? 0);
    this.#positions.set(partition, position);
    const info = this.#isFirstLine ? startInfo.length : 0;
    this.#isFirstLine = false;
    if (events === 0) return 0;
    const eventsAt = head.indexOf(eventsStart) + eventsStart.length;
    const joinedBytes = lineBytes - eventsAt - eventsEnd.length - info;
    // A comma follows each event except the last.
    const eventBytes = (joinedBytes + 1) / events - 1;
    this.#eventBytes ??= eventBytes;
    if (eventBytes !== this.#eventBytes) {
      throw new Error(
        `A line up to offset ${offset} of partition ${partition} does not hold ${events} events: ${head}`,
      );
    }
    return events;
  }
}

/**
 * The most that one read from the connection returns, as with Node's own sockets. The kernel fills memory that stays in
 * the processor's cache in half the time that 512 KiB take. Bytes.
 */
const readBytesMaximum = 64 * 1024;

function readStream(subscription: string): Promise<number> {
  const query = `batch_limit=${settings.batchLimit}&max_uncommitted_events=${settings.window}&batch_flush_timeout=1`;
  return new Promise((resolve, reject) => {
    const completeness = new Completeness();
    const unsettled = new Map<string, Cursor>();
    let delivered = 0;
    let streamId = '';
    let headers: string | undefined = '';
    let committing = false;
    let sinceCommit = 0;

    const commitUnsettled = (): void => {
      if (committing || unsettled.size === 0) return;
      committing = true;
      sinceCommit = 0;
      const cursors = [...unsettled.values()];
      unsettled.clear();
      commit(subscription, streamId, cursors).then(() => {
        committing = false;
        if (settings.commitEachLine || sinceCommit >= settings.window / 2) commitUnsettled();
      }, reject);
    };
    const lines = new ChunkedLines((head, bytes) => {
      const cursor = JSON.parse(head.slice(head.indexOf('{"partition"'), head.indexOf('}') + 1)) as Cursor;
      const events = completeness.checkLine(cursor, head, bytes);
      if (events === 0) return;
      delivered += events;
      sinceCommit += events;
      unsettled.set(cursor.partition, cursor);
      if (delivered >= settings.events) {
        socket.destroy();
        resolve(performance.now());
        return;
      }
      if (settings.commitEachLine || sinceCommit >= settings.window / 2) commitUnsettled();
    });
    const onBytes = (bytes: Buffer): void => {
      if (headers === undefined) {
        lines.feed(bytes);
        return;
      }
      const before = headers.length;
      headers += bytes.toString('latin1');
      const end = headers.indexOf('\r\n\r\n');
      if (end < 0) return;
      streamId = /x-nakadi-streamid: (\S+)/i.exec(headers)?.[1] ?? '';
      if (!headers.startsWith('HTTP/1.1 200')) reject(new Error(headers));
      headers = undefined;
      lines.feed(bytes.subarray(end + 4 - before));
    };
    const socket = connect({
      port: Number(port),
      host: hostname,
      // One buffer for all reads: none of its content is kept.
      onread: {
        buffer: Buffer.allocUnsafeSlow(readBytesMaximum),
        callback: (count, buffer) => {
          try {
            onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, count));
          } catch (error) {
            reject(error);
            socket.destroy();
          }
          return true;
        },
      },
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`A stream ended after ${delivered} of ${settings.events} events`)));
    socket.write(
      `GET /subscriptions/${subscription}/events?${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${keyLine}\r\n`,
    );
  });
}

const begin = performance.now();
const ends = await Promise.all(settings.subscriptions.map(readStream));
agent.destroy();
const milliseconds = Math.max(...ends) - begin;
const events = settings.events * settings.subscriptions.length;
console.log(JSON.stringify({ eventsPerSecond: (events * 1000) / milliseconds }));
process.exit(0);
