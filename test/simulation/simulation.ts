import { goodManners, type Manners } from './client.ts';
import { beginAdversary } from './adversary.ts';
import { anyAnnotations } from './unprocessable-events.ts';
import { calmWeather, slowMillisecondsMaximum } from './network.ts';
import type { RedisForRuns } from './redis/redis-server.ts';
import { eventKinds, World } from './world.ts';

/** The result of one run. */
export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly simulatedMilliseconds: number;
  /** The broken invariant; undefined when there was none. */
  readonly violation: string | undefined;
  /** The history, line by line, if it was recorded. */
  readonly history: readonly string[];
}

/** How long after the last fault everything must have been delivered. Simulated milliseconds. */
const drainMillisecondsMaximum = 240_000;

/** How often is checked whether everything has been delivered. Simulated milliseconds. */
const drainCheckMilliseconds = 1_000;

export interface RunOptions {
  /** Whether the run has a history. */
  readonly isRecording?: boolean;
  /** Whether the adversary has less of the time. Such a run finds most faults in half of the processor time. */
  readonly isShort?: boolean;
  /** What executes the scripts, when the store is the one of a cluster; otherwise the store is in memory. */
  readonly redis?: RedisForRuns | undefined;
}

/** Runs the simulation of a seed to its end: first with faults, then without, until everything is delivered. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const { isRecording = false, isShort = false, redis } = options;
  const world = new World(seed, isRecording, redis);
  await world.start();
  await populate(world);
  const { chance } = world;
  const activeUntil = Math.round(chance.between(10_000, 40_000) * (isShort ? shareOfShortRun(seed) : 1));
  const adversary = beginAdversary(world);
  world.isCalm = !adversary.isHarmful;
  void publishUntil(world, activeUntil);
  while (await world.runStep(activeUntil));
  if (world.violation === undefined) {
    adversary.stop();
    await drain(world);
    await publishBesideStuckClients(world);
    if (!adversary.isHarmful) world.observe(() => world.invariants.unprocessable.checkLettersOnce());
  }
  await world.stop();
  return {
    seed,
    steps: world.step,
    simulatedMilliseconds: world.time.monotonic(),
    violation: world.violation,
    history: world.history,
  };
}

/** The adversary's share of the time in a short run. Few faults need a third of it, and those in any of many seeds. */
function shareOfShortRun(seed: number): number {
  return seed % 3 === 0 ? 1 / 3 : 1 / 6;
}

/** How long clients stall that read in the end. Simulated milliseconds. */
const stallMillisecondsMaximum = 20_000;

/** Of a client that hardly ever reads. */
const stuckManners: Manners = { ...goodManners, stalls: 1, stallMillisecondsMaximum: 1_000_000 };

async function populate(world: World): Promise<void> {
  const { chance } = world;
  const eventTypes = chance.between(1, 2);
  for (let index = 1; index <= eventTypes; index += 1) {
    await world.defineEventType(`loans.${index}`, chance.between(1, 3));
  }
  world.hasPolicies = chance.happens(0.5);
  if (world.hasPolicies && chance.happens(0.7)) world.failing = 0.1 * chance.next();
  const subscriptions = chance.between(1, 2);
  for (let index = 1; index <= subscriptions; index += 1) {
    // The first subscription is read to its end, whatever happens to the second.
    const readFrom = chance.happens(0.7) ? 'begin' : 'end';
    const annotations = world.hasPolicies && chance.happens(0.8) ? anyAnnotations(chance) : {};
    await world.subscribe(`group ${index}`, readFrom, index > 1 && chance.happens(0.2), annotations);
  }
  const nodes = chance.between(1, 3);
  for (let index = 0; index < nodes; index += 1) world.addNode();
  for (const { id, isStuck } of world.subscriptions) {
    const clients = isStuck ? 1 : chance.between(1, 3);
    for (let index = 0; index < clients; index += 1) {
      const client = world.addClient(id, isStuck ? stuckManners : randomManners(world), () => randomParameters(world));
      client.isStuck = isStuck;
    }
  }
}

function randomManners({ chance }: World): Manners {
  const sometimes = (most: number): number => (chance.happens(0.5) ? most * chance.next() : 0);
  return {
    stalls: sometimes(0.2),
    stallMillisecondsMaximum: chance.between(1_000, stallMillisecondsMaximum),
    leaves: sometimes(0.15),
    hurries: sometimes(0.5),
    skipsCommits: sometimes(0.5),
    delaysCommits: sometimes(0.4),
    repeatsCommits: sometimes(0.3),
    commitsForOthers: sometimes(0.3),
    givesUp: chance.next(),
    pauseMillisecondsMaximum: chance.between(100, 5_000),
  };
}

function randomParameters(world: World): Record<string, unknown> {
  const { chance } = world;
  const parameters: Record<string, unknown> = {
    batch_limit: chance.between(1, 10),
    batch_flush_timeout: chance.between(1, 4),
    max_uncommitted_events: chance.between(1, 20),
    commit_timeout: chance.between(1, 8),
  };
  if (chance.happens(0.3)) parameters['stream_timeout'] = chance.between(1, 30);
  if (chance.happens(0.2)) parameters['stream_limit'] = chance.between(1, 30);
  if (chance.happens(0.2)) parameters['stream_keep_alive_limit'] = chance.between(1, 5);
  if (chance.happens(0.2)) parameters['batch_timespan'] = chance.between(1, 3);
  if (chance.happens(0.3)) parameters['strict_commits'] = true;
  if (chance.happens(0.3)) parameters['commit_heartbeat'] = true;
  if (chance.happens(0.3)) parameters['wait_for_slot'] = chance.between(1, chance.happens(0.5) ? 3 : 20);
  if (chance.happens(0.3)) parameters['filter'] = `/kind=${chance.between(0, eventKinds)}`;
  if (chance.happens(0.15) && !world.isQuiet) {
    const { eventType, partition } = world.anyPartition();
    parameters['partitions'] = [{ event_type: eventType, partition: String(partition) }];
    // No other client uses it meanwhile.
    parameters['stream_timeout'] = chance.between(1, 20);
  }
  return parameters;
}

async function publishUntil(world: World, end: number): Promise<void> {
  const { chance, time } = world;
  const pauseMillisecondsMaximum = chance.between(200, 2_000);
  const deletions = chance.happens(0.3) ? 0.3 * chance.next() : 0;
  const transactions = chance.happens(0.3) ? chance.next() : 0;
  for (;;) {
    await time.sleep(chance.between(1, pauseMillisecondsMaximum));
    if (time.monotonic() >= end) return;
    world.publish(world.anyPartition(), chance.between(1, 6), deletions, chance.happens(transactions));
  }
}

/** Everything works again, and everything is finally delivered. */
async function drain(world: World): Promise<void> {
  world.network.weather = { ...calmWeather };
  world.network.cutOff.clear();
  for (const { process } of world.nodes) process.resume();
  world.store.process.resume();
  world.logProcess.resume();
  for (const client of world.clients) if (!client.isStuck) client.manners = goodManners;
  world.note(() => 'everything works again');
  world.isQuiet = true;
  world.invariants.beginQuiet();
  await untilFinished(world);
}

/**
 * While clients of one subscription do not read, events are published that those of the others could deliver at once:
 * one after another, each when there is nothing else to deliver.
 */
async function publishBesideStuckClients(world: World): Promise<void> {
  if (!world.subscriptions.some(({ isStuck }) => isStuck)) return;
  world.failing = 0;
  // The last messages of the bad weather may still be on their way, and hold up those behind them. Clients that have
  // good manners since may still stall.
  const allReadyAt = world.time.monotonic() + Math.max(slowMillisecondsMaximum, stallMillisecondsMaximum);
  while (await world.runStep(allReadyAt));
  for (const eventType of world.eventTypes) {
    for (let partition = 0; partition < world.partitionCount(eventType); partition += 1) {
      if (world.violation !== undefined) return;
      world.time.at(world.time.monotonic(), () => {
        world.publish({ eventType, partition }, 1, 0, false);
        world.invariants.publishedAlone({ eventType, partition });
      });
      await untilFinished(world);
    }
  }
}

async function untilFinished(world: World): Promise<void> {
  const end = world.time.monotonic() + drainMillisecondsMaximum;
  for (let checkAt = world.time.monotonic(); checkAt < end && world.violation === undefined;) {
    checkAt += drainCheckMilliseconds;
    while (await world.runStep(checkAt));
    await world.checkOwned();
    if (world.unfinished().length === 0) return;
  }
  const [first] = world.unfinished();
  if (first !== undefined) world.fail(`Not everything was delivered and committed at last: ${first}`);
}
