import { connect, type Socket } from 'node:net';

/** A minimal HTTP client: one request at a time; it parses only the status and the end of each response. */
export interface BareConnection {
  /**
   * Posts JSON and returns the status.
   * @param headers Whole lines, each ended by CR LF.
   */
  post(path: string, body: string, headers?: string): Promise<number>;
  /** The same with a request that {@link jsonRequest} made, which may be sent again and again. */
  send(request: Buffer): Promise<number>;
  close(): void;
}

const lengthForm = /\r\ncontent-length: *(\d+)/i;
const endOfHead = '\r\n\r\n';

/** More than most responses have. Bytes. */
const readBytesMaximum = 16 * 1024;

/**
 * The bytes of a request that posts JSON to the address. A load that sends the same requests again makes each of them
 * once: joining and encoding the text of a large one takes longer than sending it.
 * @param body As Latin-1 text: one character for each byte.
 * @param headers Whole lines, each ended by CR LF.
 */
export function jsonRequest(url: string, body: string, headers = ''): Buffer {
  const { host, pathname } = new URL(url);
  return Buffer.from(textOfRequest(host, pathname, body, headers), 'latin1');
}

function textOfRequest(host: string, path: string, body: string, headers: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
    `${headers}Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

/** Opens a connection to the host and port of the URL. @throws Error when it cannot connect. */
export async function openConnection(url: string): Promise<BareConnection> {
  const { host, hostname, port } = new URL(url);
  let received = '';
  let waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
  };
  const receive = (text: string): void => {
    received += text;
    const headEnd = received.indexOf(endOfHead);
    if (headEnd < 0) return;
    const status = Number(received.slice(9, 12));
    const length = Number(lengthForm.exec(received.slice(0, headEnd))?.[1] ?? (status === 204 ? 0 : Number.NaN));
    if (Number.isNaN(length)) return fail(new Error(`An answer has no length: ${received}`));
    if (received.length < headEnd + endOfHead.length + length) return;
    const pending = waiting;
    waiting = undefined;
    const response = received;
    received = '';
    if (status < 300) pending?.resolve(status);
    else pending?.reject(new Error(response));
  };
  const socket = await new Promise<Socket>((resolve, reject) => {
    // Without memory to read into, each response would get 64 KiB of its own.
    const onread = {
      buffer: Buffer.allocUnsafeSlow(readBytesMaximum),
      callback(bytes: number, buffer: Uint8Array) {
        receive((buffer as Buffer).toString('latin1', 0, bytes));
        return true;
      },
    };
    const opening = connect({ port: Number(port), host: hostname, onread }, () => resolve(opening));
    opening.once('error', reject);
  });
  socket.setNoDelay(true);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The service closed a connection')));
  const write = (write: () => void): Promise<number> =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      write();
    });
  return {
    post: (path, body, headers = '') => write(() => socket.write(textOfRequest(host, path, body, headers), 'latin1')),
    send: (request) => write(() => socket.write(request)),
    close() {
      socket.destroy();
    },
  };
}
