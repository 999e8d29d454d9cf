import { connect } from 'node:net';

/** Reads one response to its end and looks at nothing in it. Prints events per second. */
interface Settings {
  readonly url: string;
  /** How many events the response has. */
  readonly events: number;
}

const { url, events } = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { hostname, port, host } = new URL(url);
/** As the reader of the measured stream. Bytes. */
const readBytesMaximum = 64 * 1024;

const begin = performance.now();
const socket = connect({
  port: Number(port),
  host: hostname,
  onread: { buffer: Buffer.allocUnsafeSlow(readBytesMaximum), callback: () => true },
});
socket.on('end', () => {
  console.log(JSON.stringify({ eventsPerSecond: (events * 1000) / (performance.now() - begin) }));
  process.exit(0);
});
socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
