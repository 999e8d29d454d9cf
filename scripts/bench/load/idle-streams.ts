import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Opens idle streams, one per subscription, reports that they are open, and holds them until it is told to end. Reads
 * its settings as one line from standard input: the ids of thousands of subscriptions are too long for an argument.
 */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
}

const [line] = (await once(createInterface({ input: process.stdin }), 'line')) as [string];
const settings = JSON.parse(line) as Settings;
const { hostname, port } = new URL(settings.url);

/** Opens one stream and resolves at its first line: from then on it is idle. */
function open(subscription: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received = (received + chunk.toString('latin1')).slice(0, 2000);
      if (received.startsWith('HTTP/1.1 200') && received.includes('\r\n\r\n')) resolve(socket);
      else if (received.includes('\r\n\r\n')) reject(new Error(received));
    });
    socket.on('error', reject);
    socket.write(
      `GET /subscriptions/${subscription}/events?batch_flush_timeout=60 HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`,
    );
  });
}

const sockets: Socket[] = [];
for (const subscription of settings.subscriptions) sockets.push(await open(subscription));
console.log(JSON.stringify({ open: sockets.length }));
process.on('SIGTERM', () => process.exit(0));
