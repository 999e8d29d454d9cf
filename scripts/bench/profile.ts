import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MeasuredTime } from './report.ts';

/**
 * What the threads of the service did during the measured rounds, by the profiles that the engine writes with
 * `--cpu-prof`: shares of the time that a thread was not idle.
 */

/** The content of a `.cpuprofile`, as far as it is read. Times are microseconds of the monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly startTime: number;
  readonly endTime: number;
  /** The node that was on top of the stack, at each of the times. */
  readonly samples: readonly number[];
  /** The time since the sample before, of the first since the start. */
  readonly timeDeltas: readonly number[];
}

/** Of one thread. Microseconds. */
interface ThreadTimes {
  readonly name: string;
  /** All of the measured time that the profile covers. */
  total: number;
  /** Without what the thread was idle. */
  busy: number;
  /** In functions of src. */
  inProduct: number;
  readonly byGroup: Map<string, number>;
}

/** One more line says what all others took. */
const groupsPerThread = 9;
/** Below this, shares would be of a few samples. Microseconds. */
const busyMinimum = 50_000;

/** The engine's functions that write to a connection or a pipe, each with one call of the kernel. */
const writes = new Set(['writev', 'writeBuffer', 'writeUtf8String', 'writeLatin1String', 'writeAsciiString']);

/** Modules of Node.js that belong together. */
const partsOfNode = [
  ['Node.js: HTTP', /^node:_http_/],
  ['Node.js: connections and streams', /^node:(net$|_stream|(internal\/)?stream)/],
] as const;

/**
 * The lines of all profiles in a folder, one block for each measurement. Threads that do the same work in several
 * processes are added up.
 */
export function describeProfiles(folder: string, measured: readonly MeasuredTime[]): string[] {
  const profiles = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .toSorted()
    .map((name) => {
      // The name is CPU.<day>.<time>.<process>.<thread>.<number>.cpuprofile, and the main thread has the number 0.
      const isMain = name.split('.')[4] === '0';
      return { isMain, profile: JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile };
    });
  const titles = [...new Set(measured.map(({ title }) => title))];
  return titles.flatMap((title) => {
    const times = measured.filter((each) => each.title === title);
    const threads = profiles.map(({ profile, isMain }) => threadTimes(profile, isMain, times));
    return [`Profile of the service. ${title}`, ...linesOf(threads)];
  });
}

/** Where a thread spent the given times. */
export function threadTimes(
  profile: CpuProfile,
  isMain: boolean,
  times: readonly Pick<MeasuredTime, 'begin' | 'end'>[],
): ThreadTimes {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfTimes = new Map<number, number>();
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0;
    const until = index + 1 < profile.samples.length ? at + (profile.timeDeltas[index + 1] ?? 0) : profile.endTime;
    for (const { begin, end } of times) {
      const time = Math.min(until, end) - Math.max(at, begin);
      if (time > 0) selfTimes.set(id, (selfTimes.get(id) ?? 0) + time);
    }
  });
  const byGroup = new Map<string, number>();
  const bySource = new Map<string, number>();
  let [total, busy, inProduct] = [0, 0, 0];
  for (const [id, time] of selfTimes) {
    const node = nodes.get(id);
    if (node === undefined) continue;
    total += time;
    if (node.callFrame.functionName === '(idle)') continue;
    busy += time;
    add(byGroup, groupOf(node.callFrame), time);
    const source = sourceOf(node.callFrame.url);
    if (source === undefined) continue;
    inProduct += time;
    add(bySource, source, time);
  }
  // A profile does not say which thread it is of.
  const [source = 'no file of the product'] = largestFirst(bySource)[0] ?? [];
  const name = isMain ? 'main thread' : `thread that is mostly in ${source}`;
  return { name, total, busy, inProduct, byGroup };
}

function add(sums: Map<string, number>, name: string, time: number): void {
  sums.set(name, (sums.get(name) ?? 0) + time);
}

function largestFirst(sums: ReadonlyMap<string, number>): [string, number][] {
  return [...sums].toSorted(([, a], [, b]) => b - a);
}

/** Functions of the product by themselves, those of libraries and of Node.js by package and module. */
function groupOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') {
    if (writes.has(functionName)) return 'kernel: writes to connections';
    if (functionName === '(garbage collector)') return 'garbage collector';
    if (functionName === '(program)' || functionName === '(root)') return 'kernel: reads, and the engine itself';
    return `native function ${functionName}`;
  }
  const [, library] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (library !== undefined) return `library ${library}`;
  if (url.startsWith('node:')) return partsOfNode.find(([, modules]) => modules.test(url))?.[0] ?? 'Node.js: others';
  const source = sourceOf(url);
  if (source === undefined) return 'compiled routines';
  return `${source}: ${functionName === '' ? 'unnamed functions' : functionName}`;
}

/** The path of a file of the product from its folder; undefined for all other addresses. */
function sourceOf(url: string): string | undefined {
  const [, path] = /\/dist\/(src\/.+)\.js$/.exec(url) ?? [];
  return path === undefined ? undefined : `${path}.ts`;
}

function linesOf(threads: readonly ThreadTimes[]): string[] {
  const merged = new Map<string, ThreadTimes & { count: number }>();
  for (const { name, total, busy, inProduct, byGroup } of threads) {
    if (busy < busyMinimum) continue;
    const nothing = { total: 0, busy: 0, inProduct: 0, byGroup: new Map<string, number>() };
    const sum = merged.get(name) ?? { name, count: 0, ...nothing };
    merged.set(name, sum);
    sum.count += 1;
    sum.total += total;
    sum.busy += busy;
    sum.inProduct += inProduct;
    for (const [group, time] of byGroup) add(sum.byGroup, group, time);
  }
  return [...merged.values()]
    .toSorted((a, b) => b.busy - a.busy)
    .flatMap(({ name, count, total, busy, inProduct, byGroup }) => {
      const groups = largestFirst(byGroup);
      const others = groups.splice(groupsPerThread);
      if (others.length > 0) {
        groups.push([`${others.length} others`, others.reduce((sum, [, time]) => sum + time, 0)]);
      }
      return [
        `  ${name}${count === 1 ? '' : ` (${count} together)`}: busy for ${percent(busy, total)} of the time, ` +
          `of which ${percent(inProduct, busy)} in src`,
        ...groups.map(([group, time]) => `    ${percent(time, busy).padStart(6)}  ${group}`),
      ];
    });
}

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`;
}
