import { connect, type Socket } from 'node:net';
import type { Delivery } from './generator/drafts.ts';
import { decompressed } from '../support/http/decompressed.ts';

/** Sends bytes unchanged and reads the response, however odd either is. */

export interface WireResponse {
  readonly status: number;
  /** Names in lower case; of several values the last. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Decompressed; of a stream, the lines that had arrived when it was read. */
  readonly body: string;
}

export interface Exchange {
  /** Undefined when the connection ended without one. */
  readonly response: WireResponse | undefined;
  /** From sending to the response. */
  readonly milliseconds: number;
  /** Without a response: whether the service ended the connection rather than this client. */
  readonly wasEnded: boolean;
}

export interface Sending {
  readonly port: number;
  readonly bytes: Buffer;
  readonly delivery: Delivery;
  readonly isHead: boolean;
  /** Called with a stream that is left open after its first lines, and with each later line. */
  readonly onStreamLine?: (line: string) => void;
}

/** The timeout of a response. */
export const responseMillisecondsMaximum = 20_000;
/** After how long a client that sent an invalid request closes its side. */
const oddMillisecondsMaximum = 80;
/** How much of a stream a response waits for. */
const streamMilliseconds = 60;
/** How long a stream may stay open after that. */
const streamLifeMilliseconds = 4_000;

export function exchange({ port, bytes, delivery, isHead, onStreamLine }: Sending): Promise<Exchange> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const reader = new ResponseReader(isHead);
    const timers: NodeJS.Timeout[] = [];
    let isDone = false;
    const done = (wasEnded: boolean): void => {
      if (isDone) return;
      isDone = true;
      for (const timer of timers) clearTimeout(timer);
      const milliseconds = performance.now() - startedAt;
      const response = reader.response();
      if (response !== undefined && reader.isOpenStream && onStreamLine !== undefined) {
        keepReading(socket, reader, onStreamLine);
      } else socket.destroy();
      resolve({ response, milliseconds, wasEnded });
    };
    const later = (milliseconds: number, act: () => void): void => void timers.push(setTimeout(act, milliseconds));
    socket.on('error', () => done(true));
    socket.on('end', () => done(true));
    socket.on('close', () => done(true));
    socket.on('data', (chunk) => {
      reader.receive(chunk);
      if (reader.isComplete) done(true);
      else if (reader.isOpenStream) later(streamMilliseconds, () => done(false));
    });
    socket.on('connect', () => {
      if (delivery === 'cut' || delivery === 'dropped') {
        socket.write(bytes, () => socket.destroy());
        return;
      }
      socket.write(bytes);
      if (delivery === 'odd') later(oddMillisecondsMaximum, () => socket.end());
    });
    later(responseMillisecondsMaximum, () => done(false));
  });
}

function keepReading(socket: Socket, reader: ResponseReader, onLine: (line: string) => void): void {
  let delivered = 0;
  const deliverLines = (): void => {
    const lines = (reader.response()?.body ?? '').split('\n').slice(0, -1);
    for (const line of lines.slice(delivered)) onLine(line);
    delivered = lines.length;
  };
  deliverLines();
  socket.on('data', deliverLines);
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(), streamLifeMilliseconds);
  socket.on('end', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
}

/** Reads one response from the bytes of a connection; interim responses are skipped. */
class ResponseReader {
  readonly #isHead: boolean;
  #bytes = Buffer.alloc(0);
  #head: { readonly status: number; readonly headers: Record<string, string> } | undefined;

  constructor(isHead: boolean) {
    this.#isHead = isHead;
  }

  receive(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#head === undefined) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = readHead(this.#bytes.subarray(0, end).toString('latin1'));
      this.#bytes = this.#bytes.subarray(end + 4);
      if (head.status >= 200 || head.status === 101) this.#head = head;
    }
  }

  get isComplete(): boolean {
    if (this.#head === undefined) return false;
    const { status, headers } = this.#head;
    if (this.#isHead || status === 204 || status === 304) return true;
    if (isChunked(headers)) return unchunked(this.#bytes).isComplete;
    const length = headers['content-length'];
    return length !== undefined && this.#bytes.length >= Number(length);
  }

  get isOpenStream(): boolean {
    return this.#head?.headers['content-type']?.startsWith('application/x-json-stream') === true;
  }

  response(): WireResponse | undefined {
    if (this.#head === undefined) return undefined;
    const { status, headers } = this.#head;
    const length = status === 204 || status === 304 ? '0' : headers['content-length'];
    // The bytes after it are the response to another request.
    const framed = length === undefined ? this.#bytes : this.#bytes.subarray(0, Number(length));
    const sent = isChunked(headers) ? unchunked(framed).bytes : framed;
    const body = decompressed(sent, headers['content-encoding']);
    return { status, headers, body: this.#isHead ? '' : body.toString() };
  }
}

function readHead(text: string): { readonly status: number; readonly headers: Record<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(fields) };
}

function isChunked(headers: Readonly<Record<string, string>>): boolean {
  return headers['transfer-encoding'] === 'chunked';
}

function unchunked(bytes: Buffer): { readonly bytes: Buffer; readonly isComplete: boolean } {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) return { bytes: Buffer.concat(chunks), isComplete: true };
    if (Number.isNaN(size) || lineEnd + 2 + size > bytes.length)
      return { bytes: Buffer.concat(chunks), isComplete: false };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
