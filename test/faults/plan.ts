import { randomNumbers } from '../support/random-numbers.ts';

/** The faults to inject, with targets and times: data, the same for the same seed. */

/** What the plan knows of the system under test. */
export interface SystemShape {
  /** Processes of the service. A process with both roles is in both lists. */
  readonly serve: readonly string[];
  readonly work: readonly string[];
  /** `kafka-1`, ...; none for the embedded backend. */
  readonly brokers: readonly string[];
  readonly hasRedis: boolean;
}

export type FaultKind =
  /** SIGKILL; healed by starting it again. */
  | 'kill'
  /** SIGSTOP; healed by SIGCONT: its state is out of date by then. */
  | 'pause'
  /** Connections to the target are reset, new ones too. */
  | 'cut'
  /** Data to and from the target is late. */
  | 'delay'
  /** Data to the target is swallowed; nothing is closed. */
  | 'half-open'
  /** Redis loses all data. */
  | 'flush'
  /** Events that a subscription has not received are deleted. */
  | 'truncate'
  /** Consumers read nothing of their streams; healed by reading again. */
  | 'stall';

export interface PlannedFault {
  /** From 1. */
  readonly number: number;
  readonly kind: FaultKind;
  /** A process of the service, `redis`, `kafka-N`; for `truncate` the log, for `stall` the consumers. */
  readonly target: string;
  /** From the beginning of the run. Milliseconds. */
  readonly beginsAt: number;
  /** Until it is healed. Milliseconds; 0 for an instant fault. */
  readonly lasts: number;
  /** The delay of each piece, in each direction. Milliseconds. */
  readonly delay?: number;
}

export interface Plan {
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
  /** How long the load runs. Milliseconds. */
  readonly lasts: number;
}

/** Durations in milliseconds. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** How long a fault of each kind lasts. */
const durations: Readonly<Record<FaultKind, Range>> = {
  kill: { least: 500, most: 8_000 },
  pause: { least: 3_000, most: 25_000 },
  cut: { least: 1_000, most: 12_000 },
  delay: { least: 5_000, most: 15_000 },
  'half-open': { least: 5_000, most: 20_000 },
  flush: { least: 0, most: 0 },
  truncate: { least: 0, most: 0 },
  stall: { least: 5_000, most: 20_000 },
};

/** Between the end of a fault and the next one: mostly enough to recover, sometimes not. */
const calm: Range = { least: 3_000, most: 20_000 };

/** Load before the first fault, so that there is something to lose. Milliseconds. */
const warmUpMilliseconds = 5_000;

/** The times of a run that is to have every kind of fault once. Milliseconds. */
export interface Pace {
  readonly warmUp: number;
  readonly durations: Readonly<Record<FaultKind, number>>;
  readonly calm: number;
}

/** Leaves time to recover after each fault. */
export const calmPace: Pace = {
  warmUp: warmUpMilliseconds,
  durations: {
    kill: 1_000,
    pause: 8_000,
    cut: 3_000,
    delay: 4_000,
    'half-open': 6_000,
    flush: 0,
    truncate: 0,
    stall: 12_000,
  },
  calm: 6_000,
};

/**
 * Begins the next fault while the last one is being recovered from. Connections without a response still time out,
 * after two seconds, and what is published during a stall still fills the connections.
 */
export const quickPace: Pace = {
  warmUp: 2_000,
  durations: {
    kill: 500,
    pause: 3_000,
    cut: 1_000,
    delay: 1_500,
    'half-open': 3_000,
    flush: 0,
    truncate: 0,
    stall: 6_000,
  },
  calm: 1_200,
};

const delays: Range = { least: 50, most: 500 };

/** Every kind of fault with every meaningful target. */
export function possibleFaults({ serve, work, brokers, hasRedis }: SystemShape): { kind: FaultKind; target: string }[] {
  const redis = hasRedis ? ['redis'] : [];
  const processes = [...new Set([...serve, ...work])];
  const on = (kind: FaultKind, targets: readonly string[]) => targets.map((target) => ({ kind, target }));
  return [
    ...on('kill', [...processes, ...redis, ...brokers]),
    ...on('pause', [...processes, ...redis, ...brokers]),
    ...on('cut', [...serve, ...redis, ...brokers]),
    ...on('delay', [...serve, ...redis, ...brokers]),
    ...on('half-open', [...serve, ...redis, ...brokers]),
    ...on('flush', redis),
    ...on('truncate', brokers.length === 0 ? [] : ['log']),
    ...on('stall', ['consumers']),
  ];
}

/** One fault after another for the whole run, each kind with the same probability. */
export function randomPlan(shape: SystemShape, seed: number, milliseconds: number): Plan {
  const random = randomNumbers(seed);
  const within = ({ least, most }: Range): number => Math.round(least + random() * (most - least));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from');
    return item;
  };
  const possible = possibleFaults(shape);
  const kinds = [...new Set(possible.map(({ kind }) => kind))];
  const faults: PlannedFault[] = [];
  for (let at = warmUpMilliseconds; ;) {
    const kind = pick(kinds);
    const { target } = pick(possible.filter((fault) => fault.kind === kind));
    const lasts = within(durations[kind]);
    const delay = kind === 'delay' ? { delay: within(delays) } : {};
    if (at + lasts > milliseconds) break;
    faults.push({ number: faults.length + 1, kind, target, beginsAt: at, lasts, ...delay });
    at += lasts + within(calm);
  }
  return { seed, faults, lasts: milliseconds };
}

/** Every kind of fault once for every sort of target. The seed determines the order and the target among equals. */
export function smokePlan(shape: SystemShape, seed: number, pace: Pace = calmPace): Plan {
  const random = randomNumbers(seed);
  const shuffled = possibleFaults(shape)
    .map((fault) => ({ ...fault, order: random() }))
    .sort((a, b) => a.order - b.order);
  const chosen = new Map(shuffled.map((fault) => [`${fault.kind} ${sortOf(fault.target)}`, fault]));
  return inOrder([...chosen.values()], seed, pace);
}

/** One fault after another, at a pace. */
function inOrder(chosen: readonly { kind: FaultKind; target: string }[], seed: number, pace: Pace): Plan {
  const faults: PlannedFault[] = [];
  let at = pace.warmUp;
  for (const { kind, target } of chosen) {
    const lasts = pace.durations[kind];
    const delay = kind === 'delay' ? { delay: 300 } : {};
    faults.push({ number: faults.length + 1, kind, target, beginsAt: at, lasts, ...delay });
    at += lasts + pace.calm;
  }
  return { seed, faults, lasts: at };
}

/**
 * What each kind is applied to when it is there once: together they are every sort of target. A paused Kafka leaves
 * appends without an answer, which a killed one refuses, and a killed process has to be replaced. A new Kafka takes the
 * processor for longer than all the other faults.
 */
const shortSorts: Readonly<Record<FaultKind, string>> = {
  kill: 'work',
  pause: 'kafka',
  cut: 'redis',
  delay: 'kafka',
  'half-open': 'serve',
  flush: 'redis',
  truncate: 'log',
  stall: 'consumers',
};

/** Every kind of fault once, on something of every sort: the plan of a test that has half a minute. */
export function shortPlan(shape: SystemShape, seed: number, pace: Pace): Plan {
  const possible = possibleFaults(shape);
  const chosen = (Object.keys(shortSorts) as FaultKind[]).flatMap((kind) => {
    const ofKind = possible.filter((fault) => fault.kind === kind);
    const sort = shortSorts[kind];
    // A process that works may serve, too.
    const isOfSort = ({ target }: { readonly target: string }): boolean =>
      sort === 'work' ? shape.work.includes(target) : sortOf(target) === sort;
    // One process alone has no sorts.
    const ofSort = ofKind.filter(isOfSort);
    const candidates = ofSort.length > 0 ? ofSort : ofKind;
    return candidates.slice(seed % candidates.length).slice(0, 1);
  });
  return inOrder(chosen, seed, pace);
}

/** The sort of a target: `serve-2` is a `serve`. */
function sortOf(target: string): string {
  return target.replace(/-\d+$/, '');
}

export function describeFault({ number, kind, target, lasts, delay }: PlannedFault): string {
  const late = delay === undefined ? '' : ` by ${delay} ms`;
  const time = lasts === 0 ? '' : ` for ${(lasts / 1_000).toFixed(1)} s`;
  return `${number}. ${kind} ${target}${late}${time}`;
}
