import type { Request } from 'express';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose clients send no body before they are asked for it. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets the application see requests with `Expect: 100-continue` before their bodies are asked for, so that one that it
 * refuses costs its client no body. Node closes the connection after a response without an interim one: whether the
 * body follows all the same is not known then (RFC 9110, 10.1.1).
 */
export function waitForBodies(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    server.emit('request', request, response);
  });
}

/** Asks for the body of a request whose client waits for that. Call it when nothing but the body can refuse it. */
export function askForBody(request: Request): void {
  if (request.headers.expect !== undefined && waiting.delete(request)) request.res?.writeContinue();
}
