import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * What a server hands to the operating system on its next connection, one text for each write. A client cannot
 * count them: several writes may arrive in one read, and one write in several.
 */
export function handedWritesOf(server: Server): readonly string[] {
  const writes: string[] = [];
  server.once('connection', (socket: Socket) => {
    const one = socket._write.bind(socket);
    const several = socket._writev?.bind(socket);
    socket._write = (chunk: Buffer | string, encoding, callback) => {
      writes.push(chunk.toString());
      one(chunk, encoding, callback);
    };
    if (several === undefined) return;
    socket._writev = (chunks, callback) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      several(chunks, callback);
    };
  });
  return writes;
}
