import { connect, type Socket } from 'node:net';

/** A minimal HTTP client: one request at a time; it parses only the status and the end of each response. */
export interface BareConnection {
  /**
   * Posts JSON and returns the status.
   * @param headers Whole lines, each ended by CR LF.
   */
  post(path: string, body: string, headers?: string): Promise<number>;
  close(): void;
}

const lengthForm = /\r\ncontent-length: *(\d+)/i;
const endOfHead = '\r\n\r\n';

/** Opens a connection to the host and port of the URL. @throws Error when it cannot connect. */
export async function openConnection(url: string): Promise<BareConnection> {
  const { hostname, port } = new URL(url);
  let received = '';
  let waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect(Number(port), hostname, () => resolve(opening));
    opening.once('error', reject);
  });
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The service closed a connection')));
  socket.on('data', (text: string) => {
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
  });
  return {
    post(path, body, headers = '') {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
            `${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
          'latin1',
        );
      });
    },
    close() {
      socket.destroy();
    },
  };
}
