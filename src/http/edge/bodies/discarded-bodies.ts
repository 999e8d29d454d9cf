import type { Response } from 'express';
import type { Socket } from 'node:net';
import { after, type Clock, type Timer } from '../../../clock.ts';

declare global {
  namespace Express {
    interface Locals {
      /** The clock of the application, by which refused bodies are discarded. */
      clock: Clock;
    }
  }
}

/**
 * How long the rest of a refused body is read after the response. A client that reads while it sends has seen the
 * response long before; the others have to come to the end of their body. Milliseconds.
 */
export const discardingMillisecondsMaximum = 2_000;

/** How much of a refused body is read after the response. Bytes. */
export const discardedBytesMaximum = 8 * 1024 * 1024;

/** The same for one that was refused for its size alone. Bytes. */
export const discardedBytesOfTooLarge = 4 * discardedBytesMaximum;

const tooLargeStatus = 413;

/**
 * Reads on while a client sends a body that is refused, since closing the connection at once would take the response
 * from it, and cuts the connection at a limit. It is used again when the body ends before. Call this before the
 * response is ended.
 */
export function discardBody(response: Response): void {
  const { req: request } = response;
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  const bytesMaximum = response.statusCode === tooLargeStatus ? discardedBytesOfTooLarge : discardedBytesMaximum;
  const allowClosing = closeLater(socket);
  let deadline: Timer | undefined;
  let isOver = false;
  let bytes = 0;
  // Responses to earlier requests of the connection come first, and must not be cut.
  response.once('finish', () => {
    if (isOver) return;
    deadline = after(request.app.locals.clock, discardingMillisecondsMaximum, () => socket.destroy());
  });
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMaximum) socket.destroy();
  });
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    deadline?.cancel();
    allowClosing();
  };
  // The second one comes alone when the connection is gone.
  request.once('end', finish).once('close', finish);
}

/** A connection on which bodies are discarded. */
interface HeldConnection {
  bodies: number;
  isClosing: boolean;
}

/** Requests that a client sends without waiting arrive together, so one connection can have several such bodies. */
const heldConnections = new WeakMap<Socket, HeldConnection>();

/**
 * Node closes a connection after its last response, and unread bytes reset it then. This only ends its own side.
 * @returns allows the connection to be closed, once the bodies of all its requests may
 */
function closeLater(socket: Socket): () => void {
  const held = heldConnections.get(socket) ?? hold(socket);
  held.bodies += 1;
  return () => {
    held.bodies -= 1;
    if (held.bodies > 0) return;
    heldConnections.delete(socket);
    // That of its class is there again.
    Reflect.deleteProperty(socket, 'destroySoon');
    if (held.isClosing) socket.destroySoon();
  };
}

function hold(socket: Socket): HeldConnection {
  const held = { bodies: 0, isClosing: false };
  heldConnections.set(socket, held);
  socket.destroySoon = () => {
    held.isClosing = true;
    socket.end();
  };
  return held;
}
