import { anyAnnotations } from './unprocessable-events.ts';
import { calmWeather, type Weather } from './network.ts';
import type { SimulatedNode } from './node.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { World } from './world.ts';

/** Causes faults from time to time, until it is stopped. */
export interface Adversary {
  /** Whether it causes any. */
  readonly isHarmful: boolean;
  stop(): void;
}

type Harm = (world: World) => void | Promise<void>;

/** Each run has some of these. A fault lasts for a while and ends by itself. */
const harms: Readonly<Record<string, Harm>> = {
  pauseNode(world) {
    const node = anyNode(world);
    if (node !== undefined) pause(world, node.process, world.chance.between(100, 25_000));
  },
  killNode(world) {
    const node = anyNode(world);
    if (node === undefined) return;
    world.note(() => `${node.process.name} dies`);
    world.removeNode(node);
    restartLater(world);
  },
  stopNode(world) {
    const node = anyNode(world);
    if (node === undefined) return;
    const milliseconds = world.chance.between(10, 3_000);
    world.note(() => `${node.process.name} stops within ${milliseconds} ms`);
    node.closeStreams();
    later(world, milliseconds, () => {
      if (!world.nodes.includes(node)) return;
      world.removeNode(node);
      restartLater(world);
    });
  },
  cutNodeOff(world) {
    const { network, chance } = world;
    const name = anyNode(world)?.process.name;
    if (name === undefined) return;
    const milliseconds = chance.between(100, 20_000);
    world.note(() => `${name} is cut off for ${milliseconds} ms`);
    network.cutOff.add(name);
    later(world, milliseconds, () => network.cutOff.delete(name));
  },
  pauseStore(world) {
    pause(world, world.store.process, world.chance.between(100, 8_000));
  },
  async forget(world) {
    world.note(() => 'the store forgets everything');
    await world.store.forget();
  },
  pauseLog(world) {
    pause(world, world.logProcess, world.chance.between(100, 8_000));
  },
  /** What the store has acknowledged meanwhile must be in the log, or it is lost. */
  async forgetBehindCut(world) {
    const { network, store, chance } = world;
    const { name } = store.process;
    const milliseconds = chance.between(100, 8_000);
    world.note(() => `${name} is cut off from the log for ${milliseconds} ms, and then forgets everything`);
    network.cutOff.add(name);
    later(world, milliseconds, () => {
      network.cutOff.delete(name);
      if (!world.isQuiet) void store.forget();
    });
  },
  expire(world) {
    world.expire(world.anyPartition());
  },
  async resetCursors(world) {
    const subscription = world.chance.pick(world.subscriptions);
    if (subscription !== undefined) await world.resetCursors(subscription.id);
  },
  async addPartition(world) {
    const eventType = world.chance.pick(world.eventTypes) ?? '';
    if (world.partitionCount(eventType) >= 5) return;
    world.note(() => `${eventType} grows`);
    await world.addPartition(eventType);
  },
  async changePolicy(world) {
    if (!world.hasPolicies) return;
    const subscription = world.chance.pick(world.subscriptions);
    const annotations = world.chance.happens(0.2) ? {} : anyAnnotations(world.chance);
    if (subscription !== undefined) await world.annotate(subscription.id, annotations);
  },
  loseCalls: (world) =>
    change(world, { lostRequests: 0.2 * world.chance.next(), lostResponses: 0.2 * world.chance.next() }),
  slowCalls: (world) => change(world, { slowMessages: 0.3 * world.chance.next() }),
  loseNotifications: (world) => change(world, { lostNotifications: world.chance.next() }),
  doubleNotifications: (world) => change(world, { doubledNotifications: world.chance.next() }),
  delayNotifications: (world) => change(world, { lateNotifications: world.chance.next() }),
};

/** Begins some of the faults at random. */
export function beginAdversary(world: World): Adversary {
  const { chance, time } = world;
  let isStopped = false;
  const share = chance.next() * 0.7;
  const chosen = Object.entries(harms).filter(() => chance.happens(share));
  const pauseMillisecondsMaximum = chance.between(1_000, 10_000);
  world.note(() => `harms: ${chosen.map(([name]) => name).join(' ')}`);
  const act = async (): Promise<void> => {
    while (chosen.length > 0) {
      await time.sleep(chance.between(100, pauseMillisecondsMaximum));
      if (isStopped) return;
      const [, harm] = chance.pick(chosen) ?? [];
      // A reset may take a minute; meanwhile other faults continue.
      void harm?.(world);
    }
  };
  void act();
  return {
    isHarmful: chosen.length > 0,
    stop: () => {
      isStopped = true;
    },
  };
}

function anyNode(world: World): SimulatedNode | undefined {
  return world.chance.pick(world.nodes.filter(({ process }) => process.isRunning));
}

function restartLater(world: World): void {
  later(world, world.chance.between(10, 5_000), () => {
    const node = world.addNode();
    world.note(() => `${node.process.name} starts`);
  });
}

function pause(world: World, process: SimulatedProcess, milliseconds: number): void {
  world.note(() => `${process.name} is paused for ${milliseconds} ms`);
  process.pause();
  later(world, milliseconds, () => {
    world.note(() => `${process.name} goes on`);
    process.resume();
  });
}

/** Changes the state of the network for a while. */
function change(world: World, changes: Partial<Weather>): void {
  const { network, chance } = world;
  const milliseconds = chance.between(500, 15_000);
  world.note(() => `for ${milliseconds} ms ${JSON.stringify(changes)}`);
  Object.assign(network.weather, changes);
  later(world, milliseconds, () => {
    for (const key of Object.keys(changes) as (keyof Weather)[]) network.weather[key] = calmWeather[key];
  });
}

function later(world: World, milliseconds: number, work: () => void): void {
  world.time.at(world.time.monotonic() + milliseconds, work);
}
