import { appendFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What was done to the system and what happened: each process of a fault run writes its own file, with one JSON object
 * per line, appended and never changed. The checkers read nothing else.
 */

/** Why a consumer closed a stream that did not even send keep-alives. */
export const silence = 'silence';

/**
 * A stream that has sent nothing for this time is closed, because its connection may be dead without notice.
 * Milliseconds.
 */
export const silenceMillisecondsMaximum = 8_000;

/** The position of an event. */
export interface EventPosition {
  readonly eventType: string;
  readonly partition: number;
  readonly offset: number;
}

/** The fields of the worker's events that the lending checkers need. Amounts in the currency's smallest unit. */
export interface LendingFacts {
  readonly loan?: string;
  readonly sequence?: number;
  readonly command?: string;
  readonly transaction?: { readonly key: string; readonly type: string; readonly amount: number };
  readonly balances?: Readonly<Record<string, number>>;
}

/** The entries, by kind. `stream` and `subscription` are the ids given by the service. */
export type HistoryEntry =
  /** A producer sends its own numbered events to one partition. It sends each event once, whatever the response. */
  | {
      readonly kind: 'publish attempted';
      readonly producer: string;
      readonly eventType: string;
      readonly partition: number;
      readonly events: readonly { readonly eid: string; readonly number: number }[];
    }
  /**
   * `refused`: the response says that nothing was stored. `unknown`: the events may be stored, now or later, or not.
   */
  | {
      readonly kind: 'publish answered';
      readonly outcome: 'acknowledged' | 'refused' | 'unknown';
      readonly eids: readonly string[];
      readonly detail?: string;
    }
  | {
      readonly kind: 'subscription created';
      readonly subscription: string;
      readonly eventTypes: readonly string[];
      /** Whether its consumers read events as fast as they arrive. */
      readonly isPrompt: boolean;
    }
  | {
      readonly kind: 'stream opened';
      readonly subscription: string;
      readonly stream: string;
      readonly node: string;
      readonly batchLimit: number;
      readonly uncommittedEventsMaximum: number;
    }
  | { readonly kind: 'stream refused'; readonly subscription: string; readonly node: string; readonly detail: string }
  /** One batch with events, of which only the offset of the last one is known. */
  | {
      readonly kind: 'delivered';
      readonly subscription: string;
      readonly stream: string;
      readonly position: EventPosition;
      readonly eids: readonly string[];
    }
  | {
      readonly kind: 'stream closed';
      readonly subscription: string;
      readonly stream: string;
      /** The reason in its last line, or how the connection ended. */
      readonly reason: string;
    }
  | {
      readonly kind: 'commit attempted';
      readonly subscription: string;
      readonly stream: string;
      readonly cursors: readonly EventPosition[];
    }
  /** `advanced`: whether each cursor of the attempt moved its partition forward; only when `committed`. */
  | {
      readonly kind: 'commit answered';
      readonly subscription: string;
      readonly stream: string;
      readonly outcome: 'committed' | 'refused' | 'unknown';
      /** When this attempt was sent, in the time of `at`. */
      readonly attemptedAt: number;
      readonly cursors: readonly EventPosition[];
      readonly advanced: readonly boolean[];
      readonly detail?: string;
    }
  /** Committed offsets as a node returns them. */
  | {
      readonly kind: 'cursors seen';
      readonly subscription: string;
      readonly node: string;
      /** When the node was asked, in the time of `at`. */
      readonly askedAt: number;
      readonly cursors: readonly EventPosition[];
    }
  | {
      readonly kind: 'command posted';
      readonly command: string;
      readonly loan: string;
      readonly type: string;
      readonly attempt: number;
    }
  /** `unknown`: no response, or an undecided one; the same command may be posted again. */
  | {
      readonly kind: 'command answered';
      readonly command: string;
      readonly outcome: 'committed' | 'refused' | 'unknown';
      /** encodedKey of the transaction in the response. */
      readonly transaction?: string;
      readonly detail?: string;
    }
  /** A loan as a node returns it at the end. Amounts in the currency's smallest unit. */
  | {
      readonly kind: 'loan seen';
      readonly loan: string;
      readonly node: string;
      readonly balances: Readonly<Record<string, number>>;
      readonly transactions: readonly string[];
    }
  | {
      readonly kind: 'fault begun';
      readonly fault: string;
      readonly number: number;
      /** Whether it may remove committed offsets that were not mirrored to the log yet. */
      readonly losesCoordination: boolean;
    }
  | { readonly kind: 'fault healed'; readonly fault: string; readonly number: number }
  /** A deletion on purpose: events of the partition below the offset may be missing from now on. */
  | { readonly kind: 'log truncated'; readonly position: EventPosition }
  /** An event of the whole log, as read after the last fault. */
  | { readonly kind: 'log read'; readonly position: EventPosition; readonly eid: string; readonly facts?: LendingFacts }
  /** From here on the event types have been read completely. */
  | { readonly kind: 'log complete'; readonly eventTypes: readonly string[] };

/**
 * An entry with its time. `at` is monotonic and the same for every process of one machine since its start (Linux);
 * `wall` is for people. Both in milliseconds.
 */
export type HistoryRecord = HistoryEntry & {
  readonly at: number;
  readonly wall: number;
  readonly process: string;
};

export type HistoryRecordOf<Kind extends HistoryEntry['kind']> = Extract<HistoryRecord, { kind: Kind }>;

/** Writes the history of one process. */
export interface HistoryWriter {
  record(entry: HistoryEntry): void;
  /** Writes the pending records. */
  flush(): void;
}

/** How long a record may stay in memory. Milliseconds. */
const flushMilliseconds = 100;

/** Monotonic time of this machine. Milliseconds. */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Appends to `<folder>/<process>.ndjson`. */
export function openHistory(folder: string, processName: string): HistoryWriter {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${processName}.ndjson`);
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0) return;
    const text = lines.join('');
    lines = [];
    appendFileSync(file, text);
  };
  return {
    record(entry) {
      const record = { at: machineTime(), wall: Date.now(), process: processName, ...entry };
      lines.push(`${JSON.stringify(record)}\n`);
      timer ??= setTimeout(flush, flushMilliseconds);
    },
    flush,
  };
}

/**
 * The histories of all processes in one, ordered by time. A last line that was cut off with its process is left out.
 */
export function readHistory(folder: string): HistoryRecord[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  const records = files.flatMap((name) => {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    // After the last line end there is nothing, or a line that was never finished.
    lines.pop();
    return lines.map((line) => JSON.parse(line) as HistoryRecord);
  });
  return records.sort((a, b) => a.at - b.at);
}

export function ofKind<Kind extends HistoryEntry['kind']>(
  records: readonly HistoryRecord[],
  kind: Kind,
): HistoryRecordOf<Kind>[] {
  return records.filter((record): record is HistoryRecordOf<Kind> => record.kind === kind);
}
