import { Agent, request as sendRequest } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { overloadRetrySeconds } from '../../../src/http/edge/overload/overload.ts';
import { operations, type Operation } from '../../support/http/api-description.ts';
import { SeededRandom } from '../../fuzz/generator/seeded-random.ts';
import { memoryOf, startFuzzedService, type FuzzedService } from '../../fuzz/fuzzed-service.ts';
import { administrator, createWorld, type World } from './world.ts';
import { expectedOf, faultOf, permissionOf, type Expected, type Sender, type Target } from './oracle.ts';

/** Requests with keys of every kind, compared with what the documents allow them. */

export interface KeyCampaignOptions {
  /** The folder of the service's data. */
  readonly folder: string;
  readonly requests: number;
  readonly seed: number;
}

export interface KeyCampaignOutcome {
  readonly seed: number;
  readonly requests: number;
  readonly seconds: number;
  /** By what was expected and the status that came. */
  readonly answers: ReadonlyMap<string, number>;
  /** How often each operation was requested. */
  readonly operations: ReadonlyMap<string, number>;
  readonly senderCount: number;
  /** In lines for people, at most {@link shownFaultsMaximum}. */
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** How often a stream was refused by a process that was overloaded, and asked for again. */
  readonly overloadedCount: number;
  /**
   * The memory that a garbage collection leaves, without the cache of the log: when it was warm, and then regularly up
   * to the end. Bytes.
   */
  readonly memory: readonly number[];
}

const shownFaultsMaximum = 50;

/** How many requests are sent before each measurement of the memory, as a share of all. */
const measurementShare = 0.1;

/** How often a refusal of an overloaded process may follow another one. */
const overloadedTriesMaximum = 30;

/** How much the memory may grow after the first of them. Bytes. */
export const memoryGrowthMaximum = 48 * 1024 * 1024;

/** Requests at the same time. */
const concurrency = 8;

/** What takes the place of other parameters in a path. */
const pathValues = ['x', '0', '1.0.0', 'subscriptions', 'a b', 'é', "';--", '../api-keys', '%2e%2e', 'y'.repeat(200)];

/** Bodies that change nothing, so that each request meets the same definitions. */
const bodies = ['{}', '[]', 'null', '{"a":1}', '[{}]', '{"items":[]}', '{', '', '"x"', '\u0000'];

interface Drawn {
  readonly text: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly expected: Expected;
}

/** Starts a service, sends it the requests, and stops it. */
export async function runKeyCampaign({ folder, requests, seed }: KeyCampaignOptions): Promise<KeyCampaignOutcome> {
  const unlimited = {
    KEY_REQUESTS_PER_SECOND: '0',
    KEY_COMMITS_PER_SECOND: '0',
    FAILED_LOGINS_PER_MINUTE: '0',
    ADDRESS_REQUESTS_PER_SECOND: '0',
  };
  const environment = { API_KEYS: administrator, ROLES: 'serve', LOG_LEVEL: 'error', ...unlimited };
  const service = await startFuzzedService(folder, environment);
  try {
    return await send(service, requests, seed);
  } finally {
    await service.stop();
  }
}

async function send(service: FuzzedService, requests: number, seed: number): Promise<KeyCampaignOutcome> {
  const world = await createWorld(`http://127.0.0.1:${service.port}`);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const [answers, counts] = [new Map<string, number>(), new Map<string, number>()];
  const faults: string[] = [];
  let [faultCount, overloadedCount] = [0, 0];
  const report = (fault: string): void => {
    faultCount += 1;
    if (faults.length < shownFaultsMaximum) faults.push(fault);
  };
  const beginning = performance.now();
  const sendUpTo = async (from: number, to: number): Promise<void> => {
    let next = from;
    const sendNext = async (): Promise<void> => {
      while (next < to) {
        const index = next;
        next += 1;
        const random = SeededRandom.of(seed, index);
        const operation = chosenOperation(random, index);
        const drawn = draw(random, operation, world);
        let answer = await answerTo(agent, service.port, drawn);
        // As documented, an overloaded process refuses new streams of all senders. It must serve them later.
        for (let tries = 0; isOverloaded(operation, answer) && tries < overloadedTriesMaximum; tries += 1) {
          overloadedCount += 1;
          await setTimeout(Number(answer.retryAfter) * 1_000);
          answer = await answerTo(agent, service.port, drawn);
        }
        const { status } = answer;
        count(answers, `${drawn.expected}: ${status}`);
        count(counts, operation.operationId);
        const fault = faultOf(drawn.expected, status);
        if (fault !== undefined) report(`request ${index}: ${drawn.text} ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, sendNext));
  };
  const memory: number[] = [];
  for (let sent = 0; sent < requests;) {
    const next = Math.min(requests, sent + Math.ceil(requests * measurementShare));
    await sendUpTo(sent, next);
    sent = next;
    if (sent < requests) memory.push(memoryOf(await service.measure(true)));
  }
  agent.destroy();
  // Streams whose clients have gone end first.
  await setTimeout(500);
  memory.push(memoryOf(await service.measure(true)));
  const growth = tooMuchGrowth(memory);
  if (growth !== undefined) report(growth);
  if (service.ending() !== undefined) report(`the service ended: ${service.ending()}`);
  const seconds = (performance.now() - beginning) / 1_000;
  const senderCount = world.senders.length;
  const described = { seed, requests, seconds, answers, operations: counts, senderCount };
  return { ...described, faults, faultCount, overloadedCount, memory };
}

/** Operations on one event type or subscription: ownership decides about them as well. */
const owned = operations.filter(({ path }) => /\/(event-types\/\{name\}|subscriptions\/\{id\})/.test(path));

/** Each operation once, then any of them, half of the time one on which ownership decides. */
function chosenOperation(random: SeededRandom, index: number): Operation {
  return operations[index] ?? random.pick(random.chance(0.5) ? owned : operations);
}

function draw(random: SeededRandom, operation: Operation, world: World): Drawn {
  const { sender, headers } = random.pick(world.senders);
  const { path, isStream } = operation;
  const describedMethod = operation.method.toUpperCase();
  const permission = permissionOf(describedMethod, path);
  const kind = path.startsWith('/event-types/{name}')
    ? 'event-type'
    : path.includes('/subscriptions/{id}')
      ? 'subscription'
      : undefined;
  const target =
    kind === undefined ? undefined : chosenTarget(random, world, sender, permission, describedMethod, kind);
  const method = describedMethod === 'GET' && !isStream && random.chance(0.1) ? 'HEAD' : describedMethod;
  const values = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      target !== undefined && (name === 'name' || name === 'id') ? target.name : random.pick(pathValues),
    ),
  );
  const query = isStream ? '?stream_timeout=1&batch_flush_timeout=1' : '';
  const expected = expectedOf(sender, permission, target);
  const body = operation.requestBody === undefined ? undefined : random.pick(bodies);
  const text = `${sender.name}: ${method} ${values}${query} (${operation.operationId}, ${permission})`;
  const sent = { Prefer: 'wait=0', ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  return { text, method, path: values + query, headers: sent, body, expected };
}

/** A target. What a request would really delete is replaced by what does not exist. */
function chosenTarget(
  random: SeededRandom,
  world: World,
  sender: Sender,
  permission: string,
  method: string,
  kind: 'event-type' | 'subscription',
): Target {
  const targets = kind === 'event-type' ? world.eventTypes : world.subscriptions;
  const target = random.pick(targets);
  const isDeletion = method === 'DELETE' && expectedOf(sender, permission, target) === 'served';
  return isDeletion ? { name: world.missing, owner: undefined, isUnguarded: false } : target;
}

interface Answer {
  /** 0 without a response. */
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: string | undefined;
}

/** Whether a stream was refused as documented for an overloaded process. */
function isOverloaded({ isStream }: Operation, { status, retryAfter }: Answer): boolean {
  return isStream && status === 503 && retryAfter === String(overloadRetrySeconds);
}

/** Sends a request. Streams are left as soon as the status is known. */
function answerTo(agent: Agent, port: number, { method, path, headers, body }: Drawn): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const options = { agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } };
    const request = sendRequest(options, (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      if (path.includes('?stream_timeout') && response.statusCode === 200) request.destroy();
      else response.resume();
    });
    request.on('error', () => resolve({ status: 0, retryAfter: undefined }));
    request.end(body);
  });
}

/** How much the memory grew, in words, when that is more than it may. */
export function tooMuchGrowth(memory: readonly number[]): string | undefined {
  const [warm = 0, end = warm] = [memory[0], memory.at(-1)];
  return end - warm > memoryGrowthMaximum ? `the memory grew from ${warm} to ${end} bytes` : undefined;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The summary of a campaign, in lines for people. */
export function keyReportOf(outcome: KeyCampaignOutcome): string[] {
  const sorted = (counts: ReadonlyMap<string, number>): [string, number][] =>
    [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
  const { seed, requests, seconds, senderCount, answers, memory, overloadedCount, faults, faultCount } = outcome;
  return [
    `Seed ${seed}: ${requests} requests of ${senderCount} senders in ${seconds.toFixed(0)} s`,
    `  operations:   ${outcome.operations.size} of ${operations.length}`,
    `  memory:       ${memory.map(mebibytes).join(', ')} MiB`,
    `  overloaded:   ${overloadedCount} streams, asked for again`,
    '  by expected and given status:',
    ...sorted(answers).map(([answer, times]) => `    ${answer.padEnd(14)} ${times}`),
    ...faults.map((fault) => `FAILED: ${fault}`),
    faultCount === 0 ? 'Nothing was found.' : `${faultCount} failures.`,
  ];
}
