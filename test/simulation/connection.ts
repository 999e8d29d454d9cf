import type { Network } from './network.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** What a reader of a connection gets: text, its end, or nothing in time. */
export type ReadOutcome = { readonly text: string } | 'ended' | 'silent';

/** How many chunks fit between a node and a client that does not read, as in the buffers of their sockets. */
const bufferedChunksMaximum = 2;

export interface ConnectionOptions {
  readonly network: Network;
  readonly node: SimulatedProcess;
  readonly client: SimulatedProcess;
  readonly name: string;
  /** Called with each chunk that the node writes, before it is sent. */
  readonly onWritten: (streamId: string, text: string) => void;
}

/** The response of one stream: chunks from a node to a client, in order, with space for a few. */
export class Connection {
  /** On the node: called when it detects that the client has closed the connection. */
  onClosedByClient: (() => void) | undefined;
  isClosedByClient = false;
  readonly #options: ConnectionOptions;
  /** On the client: chunks that have arrived. */
  readonly #arrived: string[] = [];
  #hasEnded = false;
  #isClosed = false;
  #reader: ((outcome: ReadOutcome) => void) | undefined;
  /** On the node: chunks that were written and are not read. */
  #unread = 0;
  #writer: (() => void) | undefined;
  readonly #stopWatching: () => void;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    // The client is notified immediately, or finds out when nothing arrives any more.
    this.#stopWatching = options.node.whenDead(() => this.#toClient(() => this.#endForClient()));
  }

  /** On the node: writes a chunk, and resolves when there is space for another one. Never, once the client is gone. */
  async write(streamId: string, text: string): Promise<void> {
    this.#options.onWritten(streamId, text);
    this.#unread += 1;
    this.#toClient(() => {
      this.#arrived.push(text);
      this.#wakeReader();
    });
    if (this.#unread < bufferedChunksMaximum) return;
    await new Promise<void>((resolve) => {
      this.#writer = resolve;
    });
  }

  /** On the node: no more chunks will be written. */
  end(): void {
    this.#stopWatching();
    this.#toClient(() => this.#endForClient());
  }

  /** On the client: the next chunk, or the end. @param milliseconds How long to wait. */
  read(milliseconds: number): Promise<ReadOutcome> {
    const { clock } = this.#options.client;
    return new Promise((resolve) => {
      const timer = clock.at(clock.monotonic() + milliseconds, () => {
        this.#reader = undefined;
        resolve('silent');
      });
      this.#reader = (outcome) => {
        timer.cancel();
        resolve(outcome);
      };
      this.#wakeReader();
    });
  }

  /** On the client: closes the connection. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWatching();
    this.#toNode(() => {
      this.isClosedByClient = true;
      this.onClosedByClient?.();
    });
  }

  #wakeReader(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const text = this.#arrived.shift();
    if (text === undefined && !this.#hasEnded) return;
    this.#reader = undefined;
    if (text === undefined) {
      reader('ended');
      return;
    }
    this.#toNode(() => {
      this.#unread -= 1;
      const writer = this.#writer;
      this.#writer = undefined;
      writer?.();
    });
    reader({ text });
  }

  #endForClient(): void {
    this.#hasEnded = true;
    this.#wakeReader();
  }

  #toClient(work: () => void): void {
    const { network, client, name } = this.#options;
    network.send(`${name}>`, (receive) => client.receive(receive), work);
  }

  #toNode(work: () => void): void {
    const { network, node, name } = this.#options;
    network.send(`${name}<`, (receive) => node.receive(receive), work);
  }
}
