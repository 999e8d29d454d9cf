import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The answers of a connection that others have to precede. */
const inLine = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Has an answer learn of the end of its connection, as an event `close`, also while it stands in line: a client may
 * send requests without waiting for answers, and Node tells only the one whose turn it is. A stream that nobody told
 * would keep its partitions until it missed the commits of what it never sent.
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
