import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses of a connection that must wait for earlier ones. */
const inLine = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes a response emit `close` when its connection ends, even while it waits for earlier responses. A client may send
 * requests without waiting for responses, and Node notifies only the response whose turn it is. A stream that was not
 * notified would keep its partitions until it missed the commits of events that it never sent.
 */
export function tellOfConnectionEnd({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  let answers = inLine.get(socket);
  if (answers === undefined) {
    const waiting = new Set<ServerResponse>();
    inLine.set(socket, waiting);
    socket.once('close', () => {
      for (const answer of waiting) answer.destroy().emit('close');
    });
    answers = waiting;
  }
  answers.add(response);
  response.once('socket', () => inLine.get(socket)?.delete(response));
}
