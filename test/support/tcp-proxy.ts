import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** How the proxy treats data and connections. */
export type ProxyMode =
  /** Everything passes. */
  | { readonly kind: 'pass' }
  /** Open connections are reset, and new ones refused (reset as soon as they are made). */
  | { readonly kind: 'cut' }
  /**
   * Connections are accepted and their data is swallowed: nothing comes back, nothing is closed. This includes open
   * connections.
   */
  | { readonly kind: 'half-open' }
  /** Each piece arrives late, in the given direction or in both: a delayed request or a delayed response. */
  | { readonly kind: 'delay'; readonly milliseconds: number; readonly direction?: 'to target' | 'to client' }
  /** Nothing is read from either side until the mode changes; then everything resumes where it was. */
  | { readonly kind: 'pause' };

/** A TCP proxy whose mode changes at run time. */
export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  readonly mode: ProxyMode;
  /**
   * Sets the mode for open and new connections. Half-open connections are reset when the mode changes, because some of
   * their bytes are lost.
   */
  setMode(mode: ProxyMode): void;
  /** New connections go to this target from now on. */
  setTarget(target: Target): void;
  /** The number of open connections, and of all connections so far. */
  readonly connections: { readonly open: number; readonly made: number };
  close(): Promise<void>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Changes what passes on one connection, before the mode of the proxy applies to it. */
export interface Editor {
  /** @returns what the target gets when the client has sent these bytes; empty when there is nothing yet */
  readonly toTarget: (bytes: Buffer) => Buffer;
  /** @returns what the client gets when the target has sent these bytes; empty when there is nothing yet */
  readonly toClient: (bytes: Buffer) => Buffer;
}

interface Connection {
  readonly client: Socket;
  readonly target: Socket;
  hasLostBytes: boolean;
  /** Applies the current mode. */
  apply(): void;
}

/**
 * Listens in front of a target.
 * @param port the port to listen on; 0 picks a free one
 * @param editorOf makes the editor of a connection; without it, everything passes as it is
 */
export async function openTcpProxy(firstTarget: Target, port = 0, editorOf?: () => Editor): Promise<TcpProxy> {
  let target = firstTarget;
  let mode: ProxyMode = { kind: 'pass' };
  let made = 0;
  const open = new Set<Connection>();

  const reset = (connection: Connection): void => {
    connection.client.resetAndDestroy();
    connection.target.resetAndDestroy();
  };

  const accept = (client: Socket): void => {
    made += 1;
    if (mode.kind === 'cut') {
      // A client that has disconnected needs no response.
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...target, noDelay: true, allowHalfOpen: true });
    const connection: Connection = {
      client,
      target: upstream,
      hasLostBytes: false,
      apply() {
        if (mode.kind === 'cut' || (connection.hasLostBytes && mode.kind !== 'half-open')) return reset(connection);
        for (const socket of [client, upstream]) {
          if (mode.kind === 'pause') socket.pause();
          else socket.resume();
        }
      },
    };
    open.add(connection);
    const losing = (): void => {
      connection.hasLostBytes = true;
    };
    const editor = editorOf?.() ?? unedited;
    relay({ from: client, to: upstream, direction: 'to target', edit: editor.toTarget, mode: () => mode, losing });
    relay({ from: upstream, to: client, direction: 'to client', edit: editor.toClient, mode: () => mode, losing });
    for (const socket of [client, upstream]) {
      // Errors are passed on as a reset, which is their meaning for the other side.
      socket.on('error', () => {
        if (mode.kind === 'half-open') losing();
        else reset(connection);
      });
      socket.on('close', () => {
        if (client.destroyed && upstream.destroyed) open.delete(connection);
      });
    }
    if (mode.kind === 'pause') connection.apply();
  };

  const server = createServer({ noDelay: true, allowHalfOpen: true }, accept);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    get mode() {
      return mode;
    },
    get connections() {
      return { open: open.size, made };
    },
    setMode(next) {
      mode = next;
      for (const connection of open) connection.apply();
    },
    setTarget(next) {
      target = next;
    },
    async close() {
      for (const connection of open) reset(connection);
      server.close();
      await once(server, 'close');
    },
  };
}

const unedited: Editor = { toTarget: (bytes) => bytes, toClient: (bytes) => bytes };

interface RelayOptions {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: 'to target' | 'to client';
  readonly edit: (bytes: Buffer) => Buffer;
  readonly mode: () => ProxyMode;
  /** Called when bytes are swallowed. */
  readonly losing: () => void;
}

/** Carries one direction of a connection. */
function relay({ from, to, direction, edit, mode, losing }: RelayOptions): void {
  let waiting: Promise<void> | undefined;
  const inOrder = (step: () => void): void => {
    const now = mode();
    const isLate = now.kind === 'delay' && (now.direction ?? direction) === direction;
    if (!isLate && waiting === undefined) return step();
    const before = waiting ?? Promise.resolve();
    // Every piece is delayed by the same time, counted from its arrival: a delay does not limit the rate.
    const due = isLate ? sleep(now.milliseconds) : Promise.resolve();
    const mine = Promise.all([before, due]).then(() => {
      if (waiting === mine) waiting = undefined;
      step();
    });
    waiting = mine;
  };
  from.on('data', (bytes: Buffer) => {
    if (mode().kind === 'half-open') return losing();
    const edited = edit(bytes);
    if (edited.length === 0) return;
    inOrder(() => {
      if (to.destroyed || to.write(edited)) return;
      from.pause();
      to.once('drain', () => {
        if (mode().kind !== 'pause') from.resume();
      });
    });
  });
  from.on('end', () => {
    if (mode().kind === 'half-open') return losing();
    inOrder(() => to.end());
  });
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
