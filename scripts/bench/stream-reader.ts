import { connect } from 'node:net';
import { Agent, request } from 'node:http';

/**
 * Reads any number of streams to their backlog's end with a client that splits lines and parses nothing but each
 * line's cursor, and prints the time from the first stream's opening to the last event.
 */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
  /** Events to wait for per subscription. */
  readonly events: number;
  readonly batchLimit: number;
  readonly window: number;
  /** Commit each line as it comes (true), or only what is left at the end of the window's half. */
  readonly commitEachLine: boolean;
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

function commit(subscription: string, streamId: string, cursors: readonly Cursor[]): Promise<void> {
  const body = Buffer.from(JSON.stringify({ items: cursors }));
  return new Promise((resolve, reject) => {
    const sent = request(
      `${settings.url}/subscriptions/${subscription}/cursors`,
      {
        method: 'POST',
        agent,
        headers: { 'X-Nakadi-StreamId': streamId, 'Content-Type': 'application/json', 'Content-Length': body.length },
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

/** The bytes of a chunked body without its framing: sizes are hexadecimal lines between the data. */
class Unchunker {
  #left = 0;
  #pending: Buffer = Buffer.alloc(0);

  feed(chunk: Buffer, onData: (data: Buffer) => void): void {
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#left > 2) {
        const data = bytes.subarray(0, Math.min(bytes.length, this.#left - 2));
        onData(data);
        this.#left -= data.length;
        bytes = bytes.subarray(data.length);
      } else if (this.#left > 0) {
        const skipped = Math.min(bytes.length, this.#left);
        this.#left -= skipped;
        bytes = bytes.subarray(skipped);
      } else {
        const end = bytes.indexOf(newline);
        if (end < 0) {
          this.#pending = bytes;
          return;
        }
        this.#left = Number.parseInt(bytes.toString('latin1', 0, end), 16) + 2;
        bytes = bytes.subarray(end + 1);
      }
    }
  }
}

function readStream(subscription: string): Promise<number> {
  const query = `batch_limit=${settings.batchLimit}&max_uncommitted_events=${settings.window}&batch_flush_timeout=1`;
  const positions = new Map<string, number>();
  let delivered = 0;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const unchunker = new Unchunker();
    const unsettled = new Map<string, Cursor>();
    let streamId = '';
    let head: Buffer | undefined = Buffer.alloc(0);
    let tail: Buffer[] = [];
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
    const onLine = (line: Buffer): void => {
      const text = line.toString('latin1', 0, Math.min(line.length, 400));
      const cursor = JSON.parse(text.slice(text.indexOf('{"partition"'), text.indexOf('}') + 1)) as Cursor;
      const position = Number(cursor.offset.slice(9)) + 1;
      const fresh = position - (positions.get(cursor.partition) ?? 0);
      if (fresh <= 0) return;
      positions.set(cursor.partition, position);
      delivered += fresh;
      sinceCommit += fresh;
      unsettled.set(cursor.partition, cursor);
      if (delivered >= settings.events) {
        socket.destroy();
        resolve(performance.now());
        return;
      }
      if (settings.commitEachLine || sinceCommit >= settings.window / 2) commitUnsettled();
    };
    const onData = (data: Buffer): void => {
      let start = 0;
      for (let end = data.indexOf(newline); end >= 0; end = data.indexOf(newline, start)) {
        const piece = data.subarray(start, end);
        onLine(tail.length === 0 ? piece : Buffer.concat([...tail, piece]));
        tail = [];
        start = end + 1;
      }
      if (start < data.length) tail.push(data.subarray(start));
    };
    socket.on('data', (chunk: Buffer) => {
      if (head === undefined) {
        unchunker.feed(chunk, onData);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const headers = head.toString('latin1', 0, end);
      streamId = /x-nakadi-streamid: (\S+)/i.exec(headers)?.[1] ?? '';
      if (!headers.startsWith('HTTP/1.1 200')) reject(new Error(headers));
      const rest = head.subarray(end + 4);
      head = undefined;
      unchunker.feed(rest, onData);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`A stream ended after ${delivered} of ${settings.events} events`)));
    socket.write(`GET /subscriptions/${subscription}/events?${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  });
}

const begin = performance.now();
const ends = await Promise.all(settings.subscriptions.map(readStream));
agent.destroy();
const milliseconds = Math.max(...ends) - begin;
const events = settings.events * settings.subscriptions.length;
console.log(JSON.stringify({ eventsPerSecond: (events * 1000) / milliseconds }));
process.exit(0);
