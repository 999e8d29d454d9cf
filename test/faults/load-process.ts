import { setMaxListeners } from 'node:events';
import { request, Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../src/errors.ts';
import { openHistory, type HistoryWriter } from './history.ts';

/**
 * The common parts of the processes that generate load. The harness starts them. They send HTTP requests to the service
 * as a client would, write their actions and observations to the history, and exit when they are told to.
 */

/** The options of every load process at its start. */
export interface LoadSettings {
  /** The name of its file in the history. */
  readonly name: string;
  readonly historyFolder: string;
  /** The processes of the service by their addresses, which stay when a process is restarted. */
  readonly nodes: readonly ServiceNode[];
  readonly seed: number;
}

export interface ServiceNode {
  readonly name: string;
  /** Of the proxy in front of it. */
  readonly url: string;
  /** Without the proxy, which would buffer megabytes for a client that does not read. */
  readonly directUrl: string;
}

/** The messages of the harness to a load process. */
export type LoadOrder =
  /** Until `resume`, consumers read nothing, and producers publish enough to fill their connections. */
  | 'stall'
  | 'resume'
  /** Stop new work, and finish what was begun. */
  | 'drain'
  /** Exit. */
  | 'stop';

/** A load process as its own program sees it. */
export interface LoadProcess<Settings extends LoadSettings> {
  readonly settings: Settings;
  readonly history: HistoryWriter;
  readonly isDraining: () => boolean;
  readonly isStopping: () => boolean;
  readonly isStalled: () => boolean;
  /** Calls back when a stall begins or ends, until the returned function is called. */
  onStall(changed: () => void): () => void;
  /** Sleeps, but no longer than until the process has to exit. */
  pause(milliseconds: number): Promise<void>;
}

/**
 * Runs a load process to its end.
 * @param body resolves when the process has nothing more to do; it reads `isDraining` and `isStopping` itself
 */
export async function runLoad<Settings extends LoadSettings>(
  body: (load: LoadProcess<Settings>) => Promise<void>,
): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
  const history = openHistory(settings.historyFolder, settings.name);
  const stopping = new AbortController();
  // Everything that sleeps listens.
  setMaxListeners(0, stopping.signal);
  let isDraining = false;
  let isStalled = false;
  const stallListeners = new Set<() => void>();
  process.on('message', (order: LoadOrder) => {
    isStalled = order === 'stall';
    for (const changed of stallListeners) changed();
    if (order === 'drain' || order === 'stop') isDraining = true;
    if (order === 'stop') stopping.abort();
  });
  // The harness is gone, so the results are lost anyway.
  const abandoned = (): never => process.exit(1);
  process.on('disconnect', abandoned);
  process.on('exit', () => history.flush());
  await body({
    settings,
    history,
    isDraining: () => isDraining,
    isStopping: () => stopping.signal.aborted,
    isStalled: () => isStalled,
    onStall(changed) {
      stallListeners.add(changed);
      return () => void stallListeners.delete(changed);
    },
    async pause(milliseconds) {
      // Only the message to exit interrupts a sleep.
      await sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
    },
  });
  history.flush();
  process.off('disconnect', abandoned);
  process.disconnect();
}

export interface TextResponse {
  readonly status: number;
  readonly text: string;
}

/** The timeout of a response. Milliseconds. */
const responseMillisecondsMaximum = 5_000;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * Sends a request once. A missing response is returned as the reason: the request may have been carried out, or may be
 * carried out later.
 */
export function send(
  node: ServiceNode,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TextResponse | { readonly noAnswer: string }> {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise((resolve) => {
    const failed = (error: unknown): void => resolve({ noAnswer: describeError(error) });
    const sent = request(
      `${node.url}${path}`,
      {
        method,
        agent,
        headers: {
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          'Content-Length': Buffer.byteLength(text),
          ...headers,
        },
        signal: AbortSignal.timeout(responseMillisecondsMaximum),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', failed);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    sent.on('error', failed);
    sent.end(text);
  });
}

/** The JSON of a response, or undefined when it has none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The text about a response in the history. */
export function detailOf(response: TextResponse | { readonly noAnswer: string }): string {
  return 'noAnswer' in response ? response.noAnswer : `${response.status} ${response.text.slice(0, 200)}`;
}
