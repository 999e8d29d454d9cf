import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses of a connection that must wait for earlier ones. */
const queuedResponses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes a response emit `close` when its connection ends, even while it waits for earlier responses. A client may send
 * requests without waiting for responses, and Node notifies only the response whose turn it is. A stream that was not
 * notified would keep its partitions until it missed the commits of events that it never sent.
 */
export function emitCloseOnDisconnect({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  let queued = queuedResponses.get(socket);
  if (queued === undefined) {
    const responses = new Set<ServerResponse>();
    queuedResponses.set(socket, responses);
    socket.once('close', () => {
      for (const queuedResponse of responses) queuedResponse.destroy().emit('close');
    });
    queued = responses;
  }
  queued.add(response);
  response.once('socket', () => queuedResponses.get(socket)?.delete(response));
}
