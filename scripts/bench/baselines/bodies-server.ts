import { createServer, type ServerResponse } from 'node:http';

/** The body of a request to a bare server, and the response, which the server ends when the body is durable. */
export interface Publication {
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/**
 * Serves HTTP with nothing but Node: takes every body that is an array, and prints the address. Ends by a signal.
 *
 * A response that is ended without a call of writeHead has `Content-Length: 0`, as the service's has. With one it would
 * be chunked.
 */
export function serveBodies(take: (publication: Publication) => void): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (!Array.isArray(JSON.parse(body.toString('utf8')))) throw new Error('The body is no array of events');
      take({ body, response });
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no address');
    console.log(`http://127.0.0.1:${address.port}`);
  });
  process.on('SIGTERM', () => process.exit(0));
}
