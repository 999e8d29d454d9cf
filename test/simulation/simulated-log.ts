import type { Clock } from '../../src/clock.ts';
import { LendstreamError, describeError } from '../../src/errors.ts';
import type {
  AppendResult,
  CommittedPartition,
  EventLog,
  FencedWriter,
  LogRecord,
  Offset,
  PartitionBounds,
  PartitionEnd,
  PartitionRecords,
  ReadOptions,
  ReadResult,
  TopicAlteration,
  TopicConfiguration,
  TopicPartition,
} from '../../src/ports/event-log.ts';
import type { LogData } from './log-data.ts';

/**
 * Carries out a call to the log and returns its result. It may fail instead with LOG_UNAVAILABLE or, for an append,
 * OUTCOME_UNKNOWN.
 */
export type LogTransport = <Result>(name: string, work: () => Result | Promise<Result>) => Promise<Result>;

export interface SimulatedLogOptions {
  readonly data: LogData;
  readonly clock: Clock;
  readonly transport?: LogTransport;
  /** How much the next read returns at most, at the end of a batch. Bytes; otherwise what it was asked for. */
  readonly readBytesMaximum?: () => number;
}

const direct: LogTransport = async (_name, work) => work();

/** The event log as one process sees it: in memory, and deterministic. */
export class SimulatedLog implements EventLog {
  readonly #data: LogData;
  readonly #clock: Clock;
  readonly #transport: LogTransport;
  readonly #readBytesMaximum: () => number;
  /** Waiting reads. Calling one ends it with an error. */
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor({ data, clock, transport = direct, readBytesMaximum = () => Infinity }: SimulatedLogOptions) {
    this.#readBytesMaximum = readBytesMaximum;
    this.#data = data;
    this.#clock = clock;
    this.#transport = transport;
  }

  createTopic(configuration: TopicConfiguration): Promise<void> {
    return this.#call('create topic', () => this.#data.createTopic(configuration));
  }

  alterTopic(name: string, alteration: TopicAlteration): Promise<void> {
    return this.#call('alter topic', () => this.#data.alterTopic(name, alteration));
  }

  deleteTopic(name: string): Promise<void> {
    return this.#call('delete topic', () => this.#data.deleteTopic(name));
  }

  listTopics(names?: readonly string[]): Promise<TopicConfiguration[]> {
    return this.#call('list topics', () => this.#data.listTopics(names));
  }

  bounds(partitions: readonly TopicPartition[]): Promise<PartitionBounds[]> {
    return this.#call('bounds', () => partitions.map((partition) => this.#data.bounds(partition)));
  }

  endOffsets(partitions: readonly TopicPartition[]): Promise<PartitionEnd[]> {
    return this.#call('bounds', () =>
      partitions.map((partition) => ({ ...partition, latest: this.#data.bounds(partition).latest })),
    );
  }

  offsetsAt(
    partitions: readonly TopicPartition[],
    time: number,
  ): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    return this.#call('bounds', () => partitions.map((partition) => this.#data.offsetAt(partition, time)));
  }

  async append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    const requests = partitions.map(({ topic, partition, records }) => ({ topic, partition, records }));
    try {
      return await this.#call('append', () => requests.map((request) => this.#appendOne(request)));
    } catch (error) {
      if (!(error instanceof LendstreamError) || error.code === 'LOG_CLOSED') throw error;
      return requests.map(({ topic, partition }) => ({ topic, partition, outcome: 'failed', error }));
    }
  }

  deleteRecords(before: TopicPartition & { readonly offset: Offset }, appendedBefore: number): Promise<void> {
    return this.#call('delete records', () => this.#data.deleteRecords(before, before.offset, appendedBefore));
  }

  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult> {
    return this.#call('read', () => this.#read(from, options));
  }

  openWriter(writerId: string): Promise<FencedWriter> {
    return this.#call('open writer', () => {
      const epoch = this.#data.openWriter(writerId);
      return new SimulatedWriter(writerId, this.#data, this.#clock, (name, work) =>
        this.#call(name, () => {
          if (this.#data.writerEpoch(writerId) === epoch) return work();
          throw new LendstreamError('WRITER_FENCED', `Another ${writerId} is open.`);
        }),
      );
    });
  }

  exportGroupOffsets(
    group: string,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
  ): Promise<void> {
    return this.#call('export', () => this.#data.exportGroupOffsets(group, positions));
  }

  groupOffsets(group: string): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    return this.#call('group offsets', () => this.#data.groupOffsets(group));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const fail of this.#waiting) fail();
    this.#waiting.clear();
  }

  async #call<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw closed();
    return this.#transport(name, work);
  }

  #appendOne({ topic, partition, records }: PartitionRecords): AppendResult {
    try {
      const baseOffset = this.#data.append({ topic, partition }, records, this.#clock.now());
      return { topic, partition, outcome: 'appended', baseOffset };
    } catch (error) {
      if (error instanceof LendstreamError) return { topic, partition, outcome: 'failed', error };
      throw error;
    }
  }

  #read(
    { topic, partition, offset }: TopicPartition & { readonly offset: Offset },
    { bytesMaximum: requestedBytes, waitMilliseconds, signal }: ReadOptions,
  ): ReadResult | Promise<ReadResult> {
    const bytesMaximum = Math.min(requestedBytes, this.#readBytesMaximum());
    const nothing = { batches: [], nextOffset: offset };
    const found = this.#data.read({ topic, partition }, offset, bytesMaximum);
    if (found !== undefined) return found;
    if (waitMilliseconds === 0 || signal?.aborted === true) return nothing;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        end();
        resolve(nothing);
      };
      const end = (): void => {
        this.#waiting.delete(fail);
        stopWaiting();
        timer?.cancel();
        signal?.removeEventListener('abort', abort);
      };
      const fail = (): void => {
        end();
        reject(closed());
      };
      const timer =
        waitMilliseconds === Infinity
          ? undefined
          : this.#clock.at(this.#clock.monotonic() + waitMilliseconds, () => {
              end();
              resolve(nothing);
            });
      const look = (): void => {
        try {
          const result = this.#data.read({ topic, partition }, offset, bytesMaximum);
          if (result === undefined) {
            stopWaiting = this.#data.onChange({ topic, partition }, look);
            return;
          }
          end();
          resolve(result);
        } catch (error) {
          end();
          reject(error instanceof Error ? error : new Error(describeError(error)));
        }
      };
      let stopWaiting = this.#data.onChange({ topic, partition }, look);
      this.#waiting.add(fail);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** Keeps the records of its transaction until the commit, which stores them with a gap after them. */
class SimulatedWriter implements FencedWriter {
  readonly writerId: string;
  readonly #data: LogData;
  readonly #clock: Clock;
  readonly #transport: LogTransport;
  #pending: PartitionRecords[] = [];
  /** The error that made it unusable. */
  #failure: unknown;

  constructor(writerId: string, data: LogData, clock: Clock, transport: LogTransport) {
    this.writerId = writerId;
    this.#data = data;
    this.#clock = clock;
    this.#transport = transport;
  }

  append(partitions: readonly PartitionRecords[]): Promise<void> {
    return this.#step('append', () => {
      for (const request of partitions) this.#data.checkAppend(request, request.records);
      this.#pending.push(...partitions);
    });
  }

  commit(): Promise<readonly CommittedPartition[]> {
    const committed: CommittedPartition[] = [];
    return this.#step('commit', () => {
      this.#end(({ topic, partition }, records) => {
        const baseOffset = this.#data.append({ topic, partition }, records, this.#clock.now());
        if (records.length > 0) committed.push({ topic, partition, nextOffset: baseOffset + records.length });
      });
      return committed;
    });
  }

  abort(): Promise<void> {
    return this.#step('abort', () => this.#end((where, records) => this.#data.addHole(where, records.length)));
  }

  async close(): Promise<void> {
    this.#failure ??= new LendstreamError('OUTCOME_UNKNOWN', 'The writer is closed.');
  }

  #end(store: (where: TopicPartition, records: readonly LogRecord[]) => void): void {
    const ended = new Map<string, TopicPartition & { readonly records: LogRecord[] }>();
    for (const { topic, partition, records } of this.#pending) {
      const key = `${topic}:${partition}`;
      const earlier = ended.get(key);
      if (earlier === undefined) ended.set(key, { topic, partition, records: [...records] });
      else earlier.records.push(...records);
    }
    this.#pending = [];
    for (const { records, ...where } of ended.values()) {
      store(where, records);
      this.#data.addHole(where, 1);
    }
  }

  async #step<Result>(name: string, work: () => Result): Promise<Result> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await this.#transport(name, work);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}

function closed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}
