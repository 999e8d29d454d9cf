import { randomUUID } from 'node:crypto';
import type { EventLog } from '../../src/ports/event-log.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { atEndOfTestFile } from './end-of-file.ts';
import { NamespacedLog } from './namespaced-log.ts';
import { removeFolder, temporaryFolder } from './processes/service.ts';

/** One embedded log for all tests of a file, because opening one takes much longer than most tests. */
interface SharedLog {
  readonly dataFolder: string;
  whole: EmbeddedLog;
  /** The parts that have been opened. */
  readonly known: Set<string>;
  openParts: number;
}

let shared: Promise<SharedLog> | undefined;
const wholes = new WeakMap<EventLog, EmbeddedLog>();

/**
 * Opens the part of the shared log with that name, for one test. A part that was opened before has the same data when
 * it is opened again. If no other part is open then, the whole log is closed and opened from its file.
 */
export async function openPartOfEmbeddedLog(namespace: string = randomUUID()): Promise<EventLog> {
  // One after another, so that two tests neither create two logs nor reopen one during the start of the other.
  shared = (shared ?? openShared()).then(async (log) => {
    if (log.known.has(namespace) && log.openParts === 0) {
      await log.whole.close();
      log.whole = await openWhole(log.dataFolder);
    }
    log.known.add(namespace);
    log.openParts += 1;
    return log;
  });
  const log = await shared;
  const part = new ClosablePart(log, namespace);
  wholes.set(part, log.whole);
  return part;
}

/** The embedded log of a part; the log itself when it is one; undefined for a log of a cluster. */
export function wholeOf(log: EventLog): EmbeddedLog | undefined {
  return log instanceof EmbeddedLog ? log : wholes.get(log);
}

async function openShared(): Promise<SharedLog> {
  const dataFolder = await temporaryFolder();
  const log: SharedLog = { dataFolder, whole: await openWhole(dataFolder), known: new Set(), openParts: 0 };
  atEndOfTestFile(async () => {
    shared = undefined;
    await log.whole.close();
    await removeFolder(dataFolder);
    if (log.openParts > 0) throw new Error(`${log.openParts} logs were not closed by the tests that opened them`);
  });
  return log;
}

function openWhole(dataFolder: string): Promise<EmbeddedLog> {
  const logger = silentLogger;
  // What a file writes may stay in the write-ahead log: the thread that copies it costs as much as several tests.
  return EmbeddedLog.open({ dataFolder, logger, syncsToDisk: false, checkpointMilliseconds: 60_000 });
}

/** A part that can be closed separately: later calls and pending waits fail as in a closed log. */
class ClosablePart extends NamespacedLog {
  readonly #close: () => void;

  constructor(log: SharedLog, namespace: string) {
    let isClosed = false;
    let end: (error: Error) => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = reject;
    });
    ended.catch(() => undefined);
    super(
      new Proxy(log.whole, {
        get: (whole, name) => {
          const method: unknown = Reflect.get(whole, name);
          if (typeof method !== 'function') return method;
          return (...parameters: unknown[]) =>
            isClosed ? ended : Promise.race([Reflect.apply(method, whole, parameters), ended]);
        },
      }),
      namespace,
    );
    this.#close = () => {
      if (!isClosed) log.openParts -= 1;
      isClosed = true;
      end(new LendstreamError('LOG_CLOSED', 'The log is closed.'));
    };
  }

  override close(): Promise<void> {
    this.#close();
    return Promise.resolve();
  }
}
