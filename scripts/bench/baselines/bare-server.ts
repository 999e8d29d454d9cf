import { createServer, type ServerResponse } from 'node:http';
import { fdatasync, openSync, write } from 'node:fs';

/**
 * The lower bound of the cost of publishing: a bare HTTP server that parses the same bodies and appends them to a file,
 * durable before it responds. It has no validation, no enrichment and no partitions. The sync clocks the writes: one is
 * under way at a time, and everything that arrives during it makes up the next.
 */
const file = openSync(process.argv[2] ?? 'bare.log', 'a');

let waiting: { body: Buffer; response: ServerResponse }[] = [];
let writing = false;

function writeWaiting(): void {
  if (writing || waiting.length === 0) return;
  writing = true;
  const group = waiting;
  waiting = [];
  const bytes = Buffer.concat(group.map(({ body }) => body));
  write(file, bytes, 0, bytes.length, null, (writeError) => {
    if (writeError !== null) throw writeError;
    fdatasync(file, (syncError) => {
      if (syncError !== null) throw syncError;
      // Without a call of writeHead the response has `Content-Length: 0`, as the service's does. With one it would be
      // chunked.
      for (const { response } of group) response.end();
      writing = false;
      writeWaiting();
    });
  });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!Array.isArray(JSON.parse(body.toString('utf8')))) throw new Error('The body is no array of events');
    waiting.push({ body, response });
    writeWaiting();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no address');
  console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
