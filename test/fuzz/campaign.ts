import { eventually } from '../support/eventually.ts';
import { call } from '../support/http/client.ts';
import { Canary } from './canary.ts';
import type { FuzzRequest } from './generator/drafts.ts';
import { memoryOf, type FuzzedService } from './fuzzed-service.ts';
import { generate } from './generator/generator.ts';
import { harvest, harvestCursor } from './harvest.ts';
import { classOf, faultsOf } from './judging.ts';
import { LiveIds } from './live-ids.ts';
import type { Measurement } from './measuring-preload.ts';
import { findingsIn } from './service-log.ts';
import { clearStage, fillMemory, setStage } from './stage.ts';
import { StateReader, acknowledgedEvents, differencesOf } from './state.ts';
import { keptEventTypes } from './generator/valid-requests.ts';
import { exchange, type Exchange } from './wire-client.ts';

/** A run: single and concurrent requests, and between them checks of what must be true after any response. */

export interface CampaignOptions {
  readonly service: FuzzedService;
  readonly requests: number;
  readonly seed: number;
  /** Called with the progress, line by line. */
  readonly printLine: (line: string) => void;
}

/** A broken rule. */
export interface Failure {
  /** Undefined when no single request caused it. */
  readonly request: FuzzRequest | undefined;
  readonly result: Exchange | undefined;
  readonly faults: readonly string[];
}

export interface Outcome {
  readonly seed: number;
  readonly requests: number;
  readonly failures: readonly Failure[];
  /** How often each mutation was sent, by the status of the response. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The same by operation. */
  readonly operations: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly statuses: ReadonlyMap<number, number>;
  /** Refused requests after which the state was compared. */
  readonly comparisons: number;
  readonly canaryMilliseconds: readonly number[];
  readonly worstStall: Stall;
  readonly memory: { readonly warm: Measurement; readonly end: Measurement; readonly stayingThings: number };
  /** The warnings of the service, and how often they were logged. */
  readonly warnings: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export interface Stall {
  readonly milliseconds: number;
  /** Numbers of the requests during which it happened. */
  readonly from: number;
  readonly to: number;
}

/** Requests in progress at the same time. */
const concurrency = 24;
/** Requests between two checks of the service. */
const segmentRequests = 200;
/** Requests of a segment that are sent alone; the state is read before and after each one that is refused. */
const soloRequests = 5;
/** How often the canary runs, and how often the whole state is compared. Segments. */
const canarySegments = 2;
/** How often the canary pauses in reading, which takes some seconds. Segments. */
const canaryPauseSegments = 50;
const wholeStateSegments = 5;
/** How long the service may be blocked. Milliseconds. */
export const stallMillisecondsMaximum = 2_000;
/** The share of the requests after which the service counts as warm. */
const warmShare = 0.3;
/** Streams that are still open when requests are over end by themselves within this time. Milliseconds. */
const streamMillisecondsMaximum = 15_000;
/** Runs with fewer requests do not fill what the service keeps of the log in memory. */
const fillingRequestsMinimum = 20_000;
/** After this many faults a run stops. */
const failuresMaximum = 40;

/**
 * How much more memory may be in use at the end than when the service was warm, with everything deletable deleted. The
 * outcomes of twenty thousand commands, the commands of a day that posted nothing and five thousand loans are
 * remembered, which fills up over a long run; the memory of a loan or a product stays in use. The cache of the log is
 * full when the service is warm. Bytes.
 */
const growthBytesMaximum = 64 * 1024 * 1024;
const bytesPerStayingThing = 8 * 1024;

export async function runCampaign(options: CampaignOptions): Promise<Outcome> {
  const campaign = new Campaign(options);
  return campaign.run();
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #url: string;
  readonly #ids = new LiveIds();
  readonly #state: StateReader;
  readonly #failures: Failure[] = [];
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #operations = new Map<string, Map<string, number>>();
  readonly #statuses = new Map<number, number>();
  readonly #canaryMilliseconds: number[] = [];
  /** Acknowledged events of each kept event type, and those with an unknown outcome. */
  readonly #acknowledged = new Map<string, { known: number; unknown: number }>();
  #comparisons = 0;
  #worstStall: Stall = { milliseconds: 0, from: 0, to: 0 };

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#url = `http://127.0.0.1:${options.service.port}`;
    this.#state = new StateReader(this.#url);
  }

  async run(): Promise<Outcome> {
    const { service, requests, seed, printLine } = this.#options;
    const startedAt = performance.now();
    await setStage(this.#url, this.#ids);
    const canary = await Canary.open(this.#url);
    // The work of the start is not caused by requests.
    await service.measure(false);
    let warm: Measurement | undefined;
    let sent = 0;
    for (let segment = 0; sent < requests && this.#failures.length < failuresMaximum; segment += 1) {
      const first = sent;
      sent = Math.min(requests, sent + segmentRequests);
      await this.#sendSegment(first, sent, segment);
      await this.#checkService(first, sent);
      if (service.ending() !== undefined) break;
      if (segment % canarySegments === 0) await this.#checkCanary(canary);
      if (segment % canaryPauseSegments === 0) await this.#pauseCanary(canary);
      if (warm === undefined && sent >= requests * warmShare) {
        if (requests >= fillingRequestsMinimum) await fillMemory(this.#url);
        warm = await this.#measureAtRest();
      }
      if (segment % 25 === 24) {
        const { heapBytes, externalBytes } = await service.measure(true);
        const seconds = Math.round((performance.now() - startedAt) / 1_000);
        printLine(`${sent} requests in ${seconds} s, ${heapBytes} bytes in the heap, ${externalBytes} outside of it`);
      }
    }
    const isRunning = service.ending() === undefined;
    if (isRunning) await this.#checkTheEnd(canary);
    const staying = isRunning ? await clearStage(this.#url) : 0;
    const end = isRunning ? await this.#measureAtRest() : undefined;
    const memory = { warm: warm ?? nothing, end: end ?? warm ?? nothing, stayingThings: staying };
    this.#judgeMemory(memory);
    const { findings, warnings } = findingsIn(service.logLines);
    if (findings.length > 0) this.#fail(undefined, undefined, findings.slice(0, 10));
    return {
      seed,
      requests: sent,
      failures: this.#failures,
      counts: this.#counts,
      operations: this.#operations,
      statuses: this.#statuses,
      comparisons: this.#comparisons,
      canaryMilliseconds: this.#canaryMilliseconds,
      worstStall: this.#worstStall,
      memory,
      warnings,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  }

  async #sendSegment(first: number, end: number, segment: number): Promise<void> {
    const firstAlone = Math.max(first, end - soloRequests);
    let next = first;
    const workers = Array.from({ length: concurrency }, async () => {
      while (next < firstAlone) {
        const index = next;
        next += 1;
        await this.#send(this.#generate(index));
      }
    });
    await Promise.all(workers);
    for (let index = firstAlone; index < end; index += 1)
      await this.#sendAlone(index, segment % wholeStateSegments === 0);
  }

  #generate(index: number): FuzzRequest {
    return generate(this.#options.seed, index, this.#ids);
  }

  async #send(request: FuzzRequest): Promise<Exchange> {
    const subscription = /^\/subscriptions\/([^/?]+)/.exec(request.url)?.[1] ?? '';
    let stream: string | undefined;
    const result = await exchange({
      port: this.#options.service.port,
      bytes: request.bytes,
      delivery: request.delivery,
      isHead: request.bytes.subarray(0, 5).toString() === 'HEAD ',
      ...(request.operation.isStream && request.delivery === 'whole'
        ? { onStreamLine: (line: string) => harvestCursor(this.#ids, stream, line) }
        : {}),
    });
    stream = harvest(this.#ids, request, subscription, result);
    this.#count(request, result);
    this.#countAcknowledged(request, result);
    const faults = faultsOf(request, result);
    if (faults.length > 0) this.#fail(request, result, faults);
    return result;
  }

  /** Sends a request while nothing else is in progress, and checks that the state matches its response. */
  async #sendAlone(index: number, isWhole: boolean): Promise<void> {
    const request = this.#generate(index);
    if (request.delivery !== 'whole' || ['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
      await this.#send(request);
      return;
    }
    const eventType = publishedType(request);
    const before = await this.#stableState(request, isWhole);
    const storedBefore = eventType === undefined ? undefined : await this.#state.storedEvents(eventType);
    const { response } = await this.#send(request);
    if (response === undefined) return;
    if (eventType !== undefined && storedBefore !== undefined) {
      const acknowledged = acknowledgedEvents(request, response);
      const stored = ((await this.#state.storedEvents(eventType)) ?? 0) - storedBefore;
      this.#comparisons += 1;
      if (acknowledged !== undefined && acknowledged !== stored) {
        this.#fail(request, { response, milliseconds: 0, wasEnded: true }, [
          `${acknowledged} events were acknowledged and ${stored} stored`,
        ]);
      }
    }
    if (response.status < 400) return;
    const after = await this.#state.read(request, isWhole);
    this.#comparisons += 1;
    const differences = differencesOf(before, after);
    if (differences.length > 0) {
      const faults = differences.map((difference) => `it was refused, and yet ${difference}`);
      this.#fail(request, { response, milliseconds: 0, wasEnded: true }, faults);
    }
  }

  /** The state after the work that others began and did not wait for. */
  async #stableState(request: FuzzRequest, isWhole: boolean): Promise<ReadonlyMap<string, string>> {
    let found = await this.#state.read(request, isWhole);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const again = await this.#state.read(request, isWhole);
      if (differencesOf(found, again).length === 0) return again;
      found = again;
    }
    return found;
  }

  async #checkService(from: number, to: number): Promise<void> {
    const { service } = this.#options;
    const ending = service.ending();
    if (ending !== undefined) {
      this.#fail(undefined, undefined, [
        `the service ended with ${ending} between requests ${from} and ${to}: ${service.logLines.slice(-20).join('\n')}`,
      ]);
      return;
    }
    const { stallMilliseconds: milliseconds } = await service.measure(false);
    if (milliseconds > this.#worstStall.milliseconds) this.#worstStall = { milliseconds, from, to };
    if (milliseconds > stallMillisecondsMaximum) {
      this.#fail(undefined, undefined, [
        `it did nothing else for ${Math.round(milliseconds)} ms between requests ${from} and ${to}`,
      ]);
    }
  }

  async #checkCanary(canary: Canary): Promise<void> {
    try {
      this.#canaryMilliseconds.push(await canary.check());
    } catch (error) {
      this.#fail(undefined, undefined, [`the canary: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  /** Finally: the acknowledged events are stored and nothing else, and everything can be read. */
  async #pauseCanary(canary: Canary): Promise<void> {
    try {
      await canary.pause();
    } catch (error) {
      this.#fail(undefined, undefined, [
        `the canary after a pause: ${error instanceof Error ? error.message : String(error)}`,
      ]);
    }
  }

  async #checkTheEnd(canary: Canary): Promise<void> {
    await this.#checkCanary(canary);
    for (const [eventType, { known, unknown }] of this.#acknowledged) {
      const stored = (await this.#state.storedEvents(eventType)) ?? 0;
      if (stored >= known && stored <= known + unknown) continue;
      this.#fail(undefined, undefined, [
        `${eventType} holds ${stored} events; ${known} were acknowledged and ${unknown} more may have been stored`,
      ]);
    }
  }

  async #measureAtRest(): Promise<Measurement> {
    await eventually(async () => (await this.#openStreams()) === 0, streamMillisecondsMaximum);
    return this.#options.service.measure(true);
  }

  async #openStreams(): Promise<number> {
    const { text } = await call(`${this.#url}/metrics`, 'GET');
    const counts = text.matchAll(/^lendstream_open_streams(?:\{.*\})? (\d+)$/gm);
    return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
  }

  #judgeMemory({ warm, end, stayingThings }: Outcome['memory']): void {
    const growth = memoryOf(end) - memoryOf(warm);
    const allowed = growthBytesMaximum + stayingThings * bytesPerStayingThing;
    if (growth <= allowed) return;
    this.#fail(undefined, undefined, [`its memory grew by ${growth} bytes, of which ${allowed} are allowed`]);
  }

  #countAcknowledged(request: FuzzRequest, { response }: Exchange): void {
    const eventType = publishedType(request);
    if (eventType === undefined || !keptEventTypes.some((name) => name === eventType)) return;
    const sum = this.#acknowledged.get(eventType) ?? { known: 0, unknown: 0 };
    this.#acknowledged.set(eventType, sum);
    const count = response === undefined ? undefined : acknowledgedEvents(request, response);
    if (count !== undefined) sum.known += count;
    // In a format that is not read here, or without a response: no more events than bytes.
    else if (response === undefined || response.status < 400) sum.unknown += request.bytes.length;
  }

  #count(request: FuzzRequest, result: Exchange): void {
    for (const mutation of request.mutations) count(this.#counts, mutation, classOf(result));
    count(this.#operations, request.operation.operationId, classOf(result));
    const status = result.response?.status ?? 0;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }

  #fail(request: FuzzRequest | undefined, result: Exchange | undefined, faults: readonly string[]): void {
    this.#failures.push({ request, result, faults });
    this.#options.printLine(
      `${request === undefined ? 'The run' : `Request ${request.index} (${request.operation.operationId}, ${request.mutations.join(', ')})`}: ${faults.join('; ').slice(0, 600)}`,
    );
  }
}

function count(counts: Map<string, Map<string, number>>, name: string, kind: string): void {
  const ofName = counts.get(name) ?? new Map<string, number>();
  ofName.set(kind, (ofName.get(kind) ?? 0) + 1);
  counts.set(name, ofName);
}

const nothing: Measurement = { stallMilliseconds: 0, residentBytes: 0, heapBytes: 0, externalBytes: 0, cacheBytes: 0 };

/** The event type that a request publishes to; undefined when it does something else. */
function publishedType({ method, url }: FuzzRequest): string | undefined {
  const name = /^\/event-types\/([\w.-]+)\/events(?:\?|$)/i.exec(url)?.[1];
  return method === 'POST' ? name : undefined;
}
