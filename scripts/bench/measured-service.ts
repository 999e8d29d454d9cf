import { eventSchema } from './events.ts';
import { startProgram, type Running } from './processes.ts';

/** The measured service, in a process of its own. */
export interface MeasuredService {
  readonly url: string;
  readonly processId: number;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>>;
  /** Defines an event type with {@link partitionCount} partitions, partitioned by account. */
  defineEventType(name: string): Promise<void>;
  /** Returns the ids of the new subscriptions. */
  subscribe(count: number, eventType: string, readFrom?: 'begin' | 'end'): Promise<string[]>;
  unsubscribe(subscriptions: readonly string[]): Promise<void>;
  /** Whether the first integrity check of the log, which takes a quarter of a core, has ended. */
  isChecked(): Promise<boolean>;
  stop(): Promise<void>;
  /** Ends the process by SIGKILL. */
  kill(): Promise<void>;
}

export const partitionCount = 4;

/** How many requests are under way at a time when many subscriptions are created. */
const requestsAtOnce = 50;

/** The Node arguments with which scripts/start sets the memory of the service. */
export const serviceMemory = ['--initial-old-space-size=384', '--max-semi-space-size=32'];

/** All of its Node arguments, and those with which it collects garbage on demand. */
const serviceArguments = [
  '--enable-source-maps',
  ...serviceMemory,
  '--expose-gc',
  `--import=${new URL('collect-on-signal.js', import.meta.url).href}`,
];

let groups = 0;

/**
 * Starts the service and returns when it is ready.
 * @param environment Settings of the service, DATA_DIR among them, without PORT.
 * @param profileFolder Where the service writes a CPU profile when it ends.
 */
export async function startMeasuredService(
  environment: Record<string, string>,
  profileFolder?: string,
): Promise<MeasuredService> {
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  const settings = { PORT: '0', LOG_LEVEL: 'warn', ...environment };
  const running = startProgram('src/main.js', [], settings, [...serviceArguments, ...profiling]);
  let url = '';
  while (url === '') {
    const line = await running.nextLine();
    url = /ready at (http:\S+)/.exec(line)?.[1] ?? '';
    if (url === '') process.stderr.write(`${line}\n`);
  }
  void passOn(running);

  const call: MeasuredService['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  const subscribeOnce = async (eventType: string, readFrom: 'begin' | 'end'): Promise<string> => {
    groups += 1;
    const { id } = await call('POST', '/subscriptions', {
      owning_application: 'bench',
      event_types: [eventType],
      consumer_group: `group-${groups}`,
      read_from: readFrom,
    });
    return String(id);
  };
  return {
    url,
    processId: running.child.pid ?? 0,
    call,
    async defineEventType(name) {
      await call('POST', '/event-types', {
        name,
        owning_application: 'bench',
        category: 'business',
        enrichment_strategies: ['metadata_enrichment'],
        partition_strategy: 'hash',
        partition_key_fields: ['account'],
        schema: { type: 'json_schema', schema: JSON.stringify(eventSchema) },
        default_statistic: {
          messages_per_minute: 1,
          message_size: 1,
          read_parallelism: partitionCount,
          write_parallelism: partitionCount,
        },
      });
    },
    async subscribe(count, eventType, readFrom = 'begin') {
      const subscriptions: string[] = [];
      while (subscriptions.length < count) {
        const size = Math.min(requestsAtOnce, count - subscriptions.length);
        const ids = await Promise.all(Array.from({ length: size }, () => subscribeOnce(eventType, readFrom)));
        subscriptions.push(...ids);
      }
      return subscriptions;
    },
    async unsubscribe(subscriptions) {
      for (const id of subscriptions) await call('DELETE', `/subscriptions/${id}`);
    },
    async isChecked() {
      const { gauges } = await call('GET', '/metrics');
      return 'lendstream_integrity_check_finished_timestamp_seconds{file="log.db"}' in (gauges as object);
    },
    stop: () => running.stop(),
    kill: () => running.stop('SIGKILL'),
  };
}

/** Prints what the service prints once it is ready, which are warnings, until its output ends. */
async function passOn(running: Running): Promise<void> {
  for (;;) {
    const line = await running.nextLine().catch(() => undefined);
    if (line === undefined) return;
    if (line.startsWith('{')) process.stderr.write(`${line}\n`);
  }
}
