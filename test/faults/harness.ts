import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { describeError } from '../../src/errors.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { judge, type CheckOutcome } from './checkers/checkers.ts';
import type { CommanderSettings } from './commander.ts';
import type { ConsumedSubscription, ConsumerSettings } from './consumer.ts';
import { evidenceOf } from './checkers/evidence.ts';
import { machineTime, ofKind, openHistory, readHistory, type HistoryWriter } from './history.ts';
import type { LoadOrder, LoadSettings, ServiceNode } from './load-process.ts';
import { readLoans, readLog } from './log-reading.ts';
import { describeFault, type Plan } from './plan.ts';
import type { ProducerSettings } from './producer.ts';
import { reportOf, type Report } from './report.ts';
import { beginFault, untilSilenceIsNoticed, type SystemUnderTest } from './system.ts';

/** Runs a plan against a system under load, and checks the result. */

export interface RunOptions {
  /** The folder of the history, the output of every process and the report. */
  readonly folder: string;
  readonly plan: Plan;
  /** Called with every step, line by line. */
  readonly printLine: (line: string) => void;
  /** How many send requests, and how often. Default 1, which two cores can handle beside a cluster. */
  readonly load?: number;
}

const ledger = { name: 'faults.ledger', partitions: 4 };
/** Its events may be deleted before they are received. */
const expiring = { name: 'faults.expiring', partitions: 2 };
/** Its events are long, and are published while consumers do not read. */
const bulky = { name: 'faults.bulky', partitions: 1 };
const product = 'faults-product';

/** How long the system may take after the last fault until everything is delivered. Milliseconds. */
const livenessMillisecondsMaximum = 60_000;
/** How long producers and commander may take to finish the work that they have begun. Milliseconds. */
const drainMillisecondsMaximum = 30_000;
/** How long the system may take to respond to a request of the harness. Milliseconds. */
const responseMillisecondsMaximum = 60_000;
const pollMilliseconds = 500;

/** Runs the plan. The system must be running; it is stopped at the end. */
export async function runPlan(system: SystemUnderTest, options: RunOptions): Promise<Report> {
  const { folder, plan, printLine, load = 1 } = options;
  const historyFolder = join(folder, 'history');
  const history = openHistory(historyFolder, 'harness');
  const children: LoadChild[] = [];
  const problems: string[] = [];
  try {
    const { nodes } = system;
    const subscriptions = await prepare(nodes, history);
    const common = { historyFolder, nodes, seed: plan.seed };
    // One alone would wait while the node that it asked does not respond.
    const atWork = Math.max(2, Math.ceil(3 * load));
    const consumers = startLoad<ConsumerSettings>(folder, 'consumer', { ...common, name: 'consumer', subscriptions });
    const producers = startLoad<ProducerSettings>(folder, 'producer', {
      ...common,
      name: 'producer',
      producers: atWork,
      eventTypes: [ledger, ledger, ledger, expiring],
      bulkyEventType: bulky,
      pauseMilliseconds: 25 / load,
    });
    const commanders = startLoad<CommanderSettings>(folder, 'commander', {
      ...common,
      name: 'commander',
      product,
      borrowers: atWork,
      pauseMilliseconds: 50 / load,
    });
    children.push(consumers, producers, commanders);
    const sendToLoad = (order: LoadOrder): void => {
      for (const child of children) child.send(order);
    };
    await followPlan(system, plan, history, printLine, sendToLoad);

    printLine('The faults are over. What is under way is finished, and everything has to arrive.');
    const isDrained = await within(Promise.all([producers.ended, commanders.ended]), drainMillisecondsMaximum);
    if (!isDrained) problems.push('Producers and commander did not get their last answers');
    for (const child of [producers, commanders]) child.send('stop');
    const subscriptionIds = subscriptions.map(({ id }) => id);
    if (!(await everythingConsumed(nodes, subscriptionIds))) problems.push('The subscriptions did not catch up');
    consumers.send('stop');
    for (const child of children) await child.ended;
    problems.push(...children.flatMap((child) => child.failure() ?? []));

    printLine('The whole log and every loan are read.');
    await readEverything(history, historyFolder, nodes);
  } catch (error) {
    problems.push(
      `The run could not be finished: ${error instanceof Error ? (error.stack ?? '') : describeError(error)}`,
    );
  } finally {
    for (const child of children) child.kill();
    problems.push(...(await system.stop()));
    history.flush();
  }
  const evidence = evidenceOf(readHistory(historyFolder));
  const outcomes: CheckOutcome[] = judge(evidence);
  const report = reportOf({ plan, description: system.description, folder, evidence, outcomes, problems });
  writeFileSync(join(folder, 'report.txt'), `${report.lines.join('\n')}\n`);
  return report;
}

/** Defines the resources of the load. Returns the subscriptions for the consumers. */
async function prepare(nodes: readonly ServiceNode[], history: HistoryWriter): Promise<ConsumedSubscription[]> {
  const [node] = nodes;
  if (node === undefined) throw new Error('There is no node to ask');
  for (const { name, partitions } of [ledger, expiring, bulky]) {
    await postUntilAccepted(node, '/event-types', {
      name,
      owning_application: 'faults',
      category: 'business',
      enrichment_strategies: ['metadata_enrichment'],
      partition_strategy: 'user_defined',
      schema: {
        type: 'json_schema',
        schema: JSON.stringify({
          type: 'object',
          properties: { producer: { type: 'string' }, number: { type: 'integer' }, padding: { type: 'string' } },
          required: ['producer', 'number'],
        }),
      },
      default_statistic: {
        messages_per_minute: 1,
        message_size: 1,
        read_parallelism: partitions,
        write_parallelism: partitions,
      },
    });
  }
  const base = annuityProduct(product);
  const interestSettings = { ...(base['interestSettings'] as object), interestRate: { defaultValue: 0 } };
  await postUntilAccepted(node, '/loanproducts', { ...base, interestSettings });

  const subscribe = async (group: string, eventTypes: readonly string[], isPrompt = true): Promise<string> => {
    const { body } = await postUntilAccepted(node, '/subscriptions', {
      owning_application: 'faults',
      consumer_group: group,
      event_types: eventTypes,
      read_from: 'begin',
    });
    const subscription = String(body['id']);
    history.record({ kind: 'subscription created', subscription, eventTypes, isPrompt });
    return subscription;
  };
  /** Streams through the proxies, of events that are committed as they arrive. */
  const short = { workMilliseconds: 0, commitTimeoutSeconds: 10, streamSecondsLeast: 20, isDirect: false };
  const single = { ...short, streams: 2, batchLimit: 1, uncommittedEventsMaximum: 10 };
  const batches = { ...short, streams: 3, batchLimit: 20, uncommittedEventsMaximum: 100 };
  const lending = { ...short, streams: 2, batchLimit: 5, uncommittedEventsMaximum: 50 };
  /** So slow that there are always events that it has not received. */
  const lagging = { ...short, streams: 2, batchLimit: 1, uncommittedEventsMaximum: 5, workMilliseconds: 300 };
  /** Its window never closes and only reading ends a pause: a paused reader fills its connection. */
  const bulkyStream = {
    ...short,
    streams: 1,
    batchLimit: 10,
    uncommittedEventsMaximum: 1_000_000,
    commitTimeoutSeconds: 60,
    streamSecondsLeast: 300,
    isDirect: true,
  };
  return [
    { id: await subscribe('single', [ledger.name]), ...single },
    { id: await subscribe('batches', [ledger.name]), ...batches },
    { id: await subscribe('lending', lendingEventTypeNames), ...lending },
    { id: await subscribe('lagging', [expiring.name], false), ...lagging },
    { id: await subscribe('bulky', [bulky.name], false), ...bulkyStream },
  ];
}

/** Posts until the request succeeds; the service may not know everything immediately. */
async function postUntilAccepted(node: ServiceNode, path: string, body: object): Promise<HttpResponse> {
  const deadline = machineTime() + responseMillisecondsMaximum;
  for (;;) {
    const response = await call(`${node.url}${path}`, 'POST', body);
    if (response.status === 200 || response.status === 201) return response;
    if (response.status < 500 || machineTime() > deadline) {
      throw new Error(`${path} was answered ${response.status}: ${response.text}`);
    }
    await sleep(pollMilliseconds);
  }
}

/**
 * Begins and heals every fault at its time, and drains the load at the end. A fault that took longer to heal delays the
 * later ones.
 */
async function followPlan(
  system: SystemUnderTest,
  plan: Plan,
  history: HistoryWriter,
  printLine: (line: string) => void,
  sendToLoad: (order: LoadOrder) => void,
): Promise<void> {
  const beginning = machineTime();
  let late = 0;
  const until = async (time: number): Promise<void> => {
    const left = beginning + late + time - machineTime();
    if (left > 0) await sleep(left);
  };
  for (const fault of plan.faults) {
    await until(fault.beginsAt);
    printLine(`${((machineTime() - beginning) / 1_000).toFixed(0).padStart(5)} s  ${describeFault(fault)}`);
    const { number, kind, target } = fault;
    const name = `${kind} ${target}`;
    const losesCoordination = kind === 'flush' || (kind === 'kill' && target === 'redis');
    history.record({ kind: 'fault begun', fault: name, number, losesCoordination });
    const heal = await beginFault(system, fault, {
      expiringEventType: expiring.name,
      truncated: (position) => history.record({ kind: 'log truncated', position }),
      sendToLoad,
    });
    await until(fault.beginsAt + fault.lasts);
    const healingSince = machineTime();
    await heal();
    const isLastStall = kind === 'stall' && fault === plan.faults.at(-1);
    if (isLastStall) {
      await until(plan.lasts);
      // Streams send something without new events, too, so publishing would only cost while silence is waited for.
      sendToLoad('drain');
    }
    if (kind === 'stall') await untilSilenceIsNoticed();
    history.record({ kind: 'fault healed', fault: name, number });
    if (!isLastStall) late += machineTime() - healingSince;
  }
  await until(plan.lasts);
  sendToLoad('drain');
}

/** Waits until no subscription has anything to receive or to commit. Returns whether that happened in time. */
async function everythingConsumed(nodes: readonly ServiceNode[], subscriptions: readonly string[]): Promise<boolean> {
  const deadline = machineTime() + livenessMillisecondsMaximum;
  let rounds = 0;
  while (machineTime() < deadline) {
    const open = await Promise.all(
      nodes.flatMap((node) => subscriptions.map((subscription) => unconsumedEvents(node, subscription))),
    );
    // Twice, because an event that was just written may not be counted yet.
    rounds = open.every((count) => count === 0) ? rounds + 1 : 0;
    if (rounds === 2) return true;
    await sleep(pollMilliseconds);
  }
  return false;
}

async function unconsumedEvents(node: ServiceNode, subscription: string): Promise<number> {
  const response = await call(`${node.url}/subscriptions/${subscription}/stats`, 'GET').catch(() => undefined);
  if (response?.status !== 200) return Infinity;
  const { items } = response.body as { items: { partitions: { unconsumed_events?: number }[] }[] };
  return items
    .flatMap(({ partitions }) => partitions)
    .reduce((sum, { unconsumed_events: count = Infinity }) => sum + count, 0);
}

async function readEverything(
  history: HistoryWriter,
  historyFolder: string,
  nodes: readonly ServiceNode[],
): Promise<void> {
  const [node] = nodes;
  if (node === undefined) throw new Error('There is no node to ask');
  await readLog(
    history,
    node,
    [ledger.name, expiring.name, bulky.name, ...lendingEventTypeNames],
    'reading-everything',
  );
  const loans = new Set(ofKind(readHistory(historyFolder), 'command posted').map(({ loan }) => loan));
  await readLoans(history, nodes, [...loans]);
}

interface LoadChild {
  readonly ended: Promise<unknown>;
  send(order: LoadOrder): void;
  kill(): void;
  /** The failures of processes that did not exit by themselves. */
  failure(): string | undefined;
}

function startLoad<Settings extends LoadSettings>(folder: string, program: string, settings: Settings): LoadChild {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, `${settings.name}.log`), 'a');
  const child: ChildProcess = fork(
    fileURLToPath(new URL(`./${program}.js`, import.meta.url)),
    [JSON.stringify(settings)],
    { execArgv: ['--enable-source-maps'], stdio: ['ignore', log, log, 'ipc'] },
  );
  closeSync(log);
  return {
    ended: once(child, 'exit'),
    send(order) {
      if (child.connected) child.send(order);
    },
    kill: () => void child.kill('SIGKILL'),
    failure: () =>
      child.exitCode === 0
        ? undefined
        : `${settings.name} ended with ${child.exitCode ?? child.signalCode}, see ${folder}/${settings.name}.log`,
  };
}

/** Whether the promise was fulfilled in time. */
async function within(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const giveUp = new AbortController();
  const time = sleep(milliseconds, false, { signal: giveUp.signal }).catch(() => false);
  const isInTime = await Promise.race([promise.then(() => true), time]);
  giveUp.abort();
  return isInTime;
}
