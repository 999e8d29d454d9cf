import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';

/** A fault that is planted in the compiled code, to show that the simulation finds it. */
interface Mutant {
  readonly fault: string;
  /** Below dist/src; a script in Lua below src. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The store of the runs that find it; the one in memory by default. */
  readonly store?: 'redis';
}

const state = 'embedded/subscription-state.js';
const coordination = 'embedded/coordination.js';
const rebalance = 'broker/subscriptions/rebalance.js';
const lease = 'broker/streaming/node-lease.js';
const assigned = 'broker/streaming/assigned-partitions.js';
const mirror = 'broker/log/cursors-topic.js';
const buffer = 'broker/streaming/partition-buffer.js';
const search = 'broker/streaming/event-search.js';
const failures = 'ports/failed-deliveries.js';
const unprocessable = 'broker/streaming/unprocessable-events.js';

const mutants: readonly Mutant[] = [
  {
    fault: 'A new owner gets the fence of the one before',
    file: state,
    text: 'if (partition.streamId !== change.streamId)\n                partition.fence += 1;',
    replacement: '',
  },
  {
    fault: 'A partition that is handed over keeps its fence',
    file: state,
    text: 'partition.streamId = next;\n            partition.fence += 1;',
    replacement: 'partition.streamId = next;',
  },
  {
    fault: 'A change of ownership for an older generation is applied',
    file: state,
    text: 'if (generation !== this.#generation || this.#isFrozen)',
    replacement: 'if (this.#isFrozen)',
  },
  {
    fault: 'A partition goes to a session that has ended',
    file: state,
    text: 'if (next !== null && this.#sessions.has(next)) {',
    replacement: 'if (next !== null) {',
  },
  {
    fault: 'Any session that is open may commit',
    file: state,
    text: 'return partition?.streamId === streamId && (cursor.fence ?? partition.fence) === partition.fence;',
    replacement: 'return partition !== undefined;',
  },
  {
    fault: 'A strict session may commit what it was not sent',
    file: state,
    text: 'return cursor.offset > Math.max(sent, committed);',
    replacement: 'return false;',
  },
  {
    fault: 'Events leave before the store has learned that a strict session is sent them',
    file: 'broker/streaming/subscription-stream.js',
    text: 'const isOpen = await sentOffsets.record();',
    replacement: 'const isOpen = true; void sentOffsets.record().catch(() => {});',
  },
  {
    fault: 'A session that has ended may commit for ever',
    file: state,
    text: 'return now < lastOwner.commitsUntil && (cursor.fence ?? partition.fence) === partition.fence;',
    replacement: 'return true;',
  },
  {
    fault: 'A session that has ended may not commit at all',
    file: state,
    text: 'return now < lastOwner.commitsUntil && (cursor.fence ?? partition.fence) === partition.fence;',
    replacement: 'return false;',
  },
  {
    fault: 'The last owner may commit although there is a new one',
    file: state,
    text: 'partition.lastOwner = undefined;\n            partition.nextStreamId',
    replacement: 'partition.nextStreamId',
  },
  {
    fault: 'A commit moves the offset back',
    file: state,
    text: 'if (cursor.offset > (highestOffsets.get(partition) ?? reached)) {',
    replacement: 'if (true) {',
  },
  {
    fault: 'One offset less than what was committed is stored',
    file: state,
    text: 'partition.committed = Math.max(partition.committed, offset);',
    replacement: 'partition.committed = offset - 1;',
  },
  {
    fault: 'Streams open during a reset',
    file: state,
    text: "if (this.#isResetting)\n            return { outcome: 'resetting' };",
    replacement: '',
  },
  {
    fault: 'A commit is acknowledged that was not written to the mirror',
    file: coordination,
    text: 'state.completeCommits(pendingCommits, false);\n                throw error;',
    replacement: 'state.completeCommits(pendingCommits, true);',
  },
  {
    fault: 'Sessions of nodes that live are closed',
    file: coordination,
    text: 'closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now',
    replacement: 'closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now + 5_000',
  },
  {
    fault: 'Sessions of dead nodes are never closed',
    file: coordination,
    text: 'closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now',
    replacement: 'closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now - 1e9',
  },
  {
    fault: 'The first offset in the mirror counts, and not the last',
    file: mirror,
    text: 'if (current !== undefined && isOlder({ offset, epoch }, current))',
    replacement: 'if (current !== undefined)',
  },
  {
    fault: 'The mirror gives back one offset too many',
    file: mirror,
    text: 'offsets.push(mirrored);',
    replacement: 'offsets.push({ ...mirrored, offset: mirrored.offset + 1 });',
  },
  {
    fault: 'A node sends although its lease has ended',
    file: lease,
    text: 'return now < this.#validUntil;',
    replacement: 'return true;',
  },
  {
    fault: 'No lease epoch begins when a node wakes up',
    file: lease,
    text: 'if (this.#isUnreachable || !this.isValid(this.#respondedAt))',
    replacement: 'if (this.#epoch === 0)',
  },
  {
    fault: 'A stream releases a partition with events that are not committed',
    file: assigned,
    text: 'handOverUntil !== undefined && uncommittedEvents === 0',
    replacement: 'handOverUntil !== undefined',
  },
  {
    fault: 'A stream begins one event too late',
    file: assigned,
    text: 'this.partitionOf(ownership, start, now)',
    replacement: 'this.partitionOf(ownership, start + 1, now)',
  },
  {
    fault: 'A stream begins one event too early',
    file: assigned,
    text: 'const start = Math.max(position, (bounds[index]?.earliest ?? 0) - 1);',
    replacement: 'const start = Math.max(position - 1, (bounds[index]?.earliest ?? 0) - 1);',
  },
  {
    fault: 'Partitions of closed streams go to nobody',
    file: rebalance,
    text: '((owner === undefined ? undefined : assigned.get(owner)) ?? unassigned).push(ownership);',
    replacement: '(owner === undefined ? [] : (assigned.get(owner) ?? unassigned)).push(ownership);',
  },
  {
    fault: 'A partition whose owner is open is given away at once',
    file: rebalance,
    text: 'if (!ownerIsOpen || streamId === target) {',
    replacement: 'if (true) {',
  },
  {
    fault: 'Two streams take partitions from each other in turns',
    file: rebalance,
    text: 'base + (index < remainder ? 1 : 0)',
    replacement: 'base',
  },
  {
    fault: 'The window of uncommitted events is one event too wide',
    file: 'broker/streaming/batch-rules.js',
    text: 'rules.uncommittedEventsMaximum - uncommittedEvents;',
    replacement: 'rules.uncommittedEventsMaximum - uncommittedEvents + 1;',
  },
  {
    fault: 'A read that failed is not tried again',
    file: 'broker/streaming/read-ahead.js',
    text: "retrying');\n            this.retryAt = this.#startedAt + retryMilliseconds;",
    replacement: "retrying');\n            this.retryAt = Infinity;",
  },
  {
    fault: 'A filter lets an event through that does not meet it',
    file: 'broker/streaming/filters/event-filter.js',
    text: 'return value === text.text || (isNumber && decimalText(value) === literal);',
    replacement: 'return true;',
  },
  {
    fault: 'A cursor moves with what a filter passed over, although an event waits before it',
    file: buffer,
    text: 'this.#filteredAppendedAt = appendedAt;\n        this.skipHolesThrough(offset);',
    replacement: 'this.#filteredAppendedAt = appendedAt;\n        this.passedThrough = offset;',
  },
  {
    fault: 'The service commits what a filter passed over',
    file: 'broker/streaming/stream-partition.js',
    text: 'passed > committedThrough && filteredThrough <= committedThrough;',
    replacement: 'passed > committedThrough;',
  },
  {
    fault: 'A cursor never moves behind what a filter passed over, so that it is never committed',
    file: 'broker/streaming/stream-partition.js',
    text: 'const isMoved = mayMove && this.isMovedByFilter;',
    replacement: 'const isMoved = false;',
  },
  {
    fault: 'An event is passed over after one failure less',
    file: search,
    text: 'record.failures >= sendsMaximum',
    replacement: 'record.failures >= sendsMaximum - 1',
  },
  {
    fault: 'An event is sent once more before it is passed over',
    file: search,
    text: 'record.failures >= sendsMaximum',
    replacement: 'record.failures > sendsMaximum',
  },
  {
    fault: 'The event after the one that failed is passed over',
    file: search,
    text: 'record.firstOffset === offset && ',
    replacement: '',
  },
  {
    fault: 'Several events are sent at once while the one that fails is searched',
    file: search,
    text: 'turn === partition ? Math.min(allowance, 1) : 0',
    replacement: 'turn === partition ? allowance : 0',
  },
  {
    fault: 'Other partitions go on while an event is searched',
    file: search,
    text: "if (searching.some(({ uncommittedEvents }) => uncommittedEvents > 0))\n        return 'none';",
    replacement: "if (searching.some(({ uncommittedEvents }) => uncommittedEvents > 0))\n        return 'others';",
  },
  {
    fault: 'The end of a search is one event early',
    file: search,
    text: 'committedThrough >= record.throughOffset)',
    replacement: 'committedThrough >= record.throughOffset - 1)',
  },
  {
    fault: 'Ends that the service brings about count as failures',
    file: search,
    text: 'return isCommitOverdue || !endsByTheService.has(code);',
    replacement: 'return true;',
  },
  {
    fault: 'A stream that its client closes does not count as failed',
    file: search,
    text: "'server_shutdown',",
    replacement: "'server_shutdown', 'client_closed',",
  },
  {
    fault: 'The count goes on with another event',
    file: failures,
    text: 'const isSame = before?.firstOffset === firstOffset;',
    replacement: 'const isSame = before !== undefined;',
  },
  {
    fault: 'The failures of a batch count as those of its first event',
    file: failures,
    text: 'return { failures: 0, firstOffset,',
    replacement: 'return { failures, firstOffset,',
  },
  {
    fault: 'The count begins again with each owner',
    file: state,
    text: 'partition.failureRecord = recordFailure(partition.failureRecord, delivery, failuresMaximum);',
    replacement: 'partition.failureRecord = recordFailure(undefined, delivery, failuresMaximum);',
  },
  {
    fault: 'The count survives a reset of the cursors',
    file: state,
    text: 'partition.failureRecord = undefined;',
    replacement: 'partition.failureRecord = partition.failureRecord;',
  },
  {
    fault: 'A session that is closed later reports nothing',
    file: 'redis/session-close-retries.js',
    text: 'await this.#close(subscriptionId, streamId, ...details);',
    replacement: 'await this.#close(subscriptionId, streamId, details[0]);',
  },
  {
    fault: 'An event is passed over before its letter is written',
    file: unprocessable,
    text: 'await this.#write({ subscriptionId, eventType, partition: number, offset, reason, value, isJson: true });',
    replacement:
      'void this.#write({ subscriptionId, eventType, partition: number, offset, reason, value, isJson: true }).catch(() => {});',
  },
  {
    fault: 'A letter is written although the policy is to skip',
    file: unprocessable,
    text: 'if (policy.keepsDeadLetters && !search.hasLetter) {\n',
    replacement: 'if (!search.hasLetter) {\n',
  },
  {
    fault: 'One event more is passed over',
    file: unprocessable,
    text: 'const cursor = { eventType, partition: number, offset, fence };',
    replacement: 'const cursor = { eventType, partition: number, offset: offset + 1, fence };',
  },
  {
    fault: 'A partition goes to its next stream before its search is known there',
    file: assigned,
    text: 'partition.search = searchFrom(ownership.failureRecord, start);',
    replacement: '',
  },
  {
    fault: 'What waits for the store counts as sent',
    file: 'broker/streaming/sent-offsets.js',
    text: 'return this.#left.get(partitionKey(partition)) ?? -1;',
    replacement: 'return Infinity;',
  },
  {
    fault: 'A stream that comes later gets a free slot first',
    file: state,
    text: 'const taken = autoStreams + this.#placesBefore(session.streamId, opening);',
    replacement: 'const taken = autoStreams;',
  },
  {
    fault: 'A stream that asks again has to wait behind those that came later',
    file: state,
    text: 'this.#places.set(streamId, { nodeId, until: now + placeMilliseconds });',
    replacement:
      'this.#places.delete(streamId); this.#places.set(streamId, { nodeId, until: now + placeMilliseconds });',
  },
  {
    fault: 'A stream that gives up keeps its place',
    file: state,
    text: 'const hadPlace = this.#places.delete(streamId);',
    replacement: 'const hadPlace = this.#places.has(streamId);',
  },
  {
    fault: 'Streams that wait are not told of a free slot',
    file: 'broker/subscriptions/slot-queue.js',
    text: "if (change === 'removed' || !waiter.isOrdered || isFirst)",
    replacement: "if (change === 'removed' || !waiter.isOrdered)",
  },
  {
    fault: 'A stream waits for twice its flush timeout',
    file: 'broker/streaming/batch-rules.js',
    text: 'return lastSentAt + rules.flushMilliseconds;',
    replacement: 'return lastSentAt + 2 * rules.flushMilliseconds;',
  },
];

const recovery = 'redis/recovery.js';
const merge = 'redis/scripts/refill/merge.lua';

/** In what a cluster runs on. */
const mutantsOnRedis: readonly Mutant[] = [
  {
    fault: 'A Redis that lost its data does not get back what the log has',
    file: recovery,
    text: 'await this.#mergeAll(mirror, [...begun.keys()], unwritten);',
    replacement: 'await this.#mergeAll(new Map(), [...begun.keys()], unwritten);',
  },
  {
    fault: 'A node brings back nothing when another one has refilled Redis',
    file: recovery,
    text: 'const windowMilliseconds = await this.#mergeAll(new Map(), other);',
    replacement: 'const windowMilliseconds = 0;',
  },
  {
    fault: 'A node does not bring back the commits that the log lacks',
    file: recovery,
    text: 'offsets.delete(key);\n        else\n            keepNewer(key, stored);',
    replacement: 'offsets.delete(key);',
  },
  {
    fault: 'A node brings back its leases only where it knows a subscription',
    file: recovery,
    text: 'const count = hasLeases ? Math.max(all.length, 1) : all.length;',
    replacement: 'const count = all.length;',
  },
  {
    fault: 'A node does not bring back its streams',
    file: recovery,
    text: 'const sessions = [...(seen?.sessions.values() ?? [])];',
    replacement: 'const sessions = [];',
  },
  {
    fault: 'A partition is restored under the fence that it had',
    file: merge,
    text: 'math.max(initial_number(), known_fence + 1)',
    replacement: 'known_fence',
  },
  {
    fault: 'A stream that missed a reset comes back',
    file: merge,
    text: '(known_fence < epoch or not may_come_back(stream))',
    replacement: '(not may_come_back(stream))',
  },
  {
    fault: 'A stream does not get its partitions back',
    file: merge,
    text: "elseif stream ~= '' and owner.stream == '' and recovering then",
    replacement: 'elseif false then',
  },
  {
    fault: 'A stream that gets its partition back keeps the fence',
    file: merge,
    text: 'set_owner(partition, stream, owner.fence + 1)',
    replacement: 'set_owner(partition, stream, owner.fence)',
  },
  {
    fault: 'A place that has ended still counts',
    file: 'redis/scripts/open-session.lua',
    text: 'own = own and tonumber(own_until) > milliseconds() and tonumber(own)',
    replacement: 'own = tonumber(own)',
  },
  {
    fault: 'A partition that is handed over in Redis keeps its fence',
    file: 'redis/scripts/common.lua',
    text: "next_stream = '', fence = owner.fence + 1, record",
    replacement: "next_stream = '', fence = owner.fence, record",
  },
  {
    fault: 'Any open stream may commit in Redis',
    file: 'redis/scripts/commit.lua',
    text: 'if owner ~= stream then',
    replacement: 'if not owner then',
  },
];

const allMutants = [...mutants, ...mutantsOnRedis.map((mutant): Mutant => ({ ...mutant, store: 'redis' }))];

/** The maximum number of seeds until a fault is found. */
const seeds = 1_000;

/**
 * Plants each fault in a copy of the compiled code and runs the simulation on it.
 * @param say Gets a line for each fault.
 * @param named Only the faults with this text in their description.
 * @returns how many were not found
 */
export async function runMutants(say: (line: string) => void, named = ''): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'lendstream-simulation-'));
  try {
    for (const name of ['dist/src', 'dist/test', 'dist/scripts', 'src/redis/scripts']) {
      cpSync(join(packageRoot, name), join(folder, name), { recursive: true });
    }
    for (const name of ['node_modules', 'package.json', 'schemas', 'scripts']) {
      symlinkSync(join(packageRoot, name), join(folder, name));
    }
    let survivors = 0;
    const chosen = allMutants.filter(({ fault }) => fault.includes(named));
    for (const mutant of chosen) {
      const found = await findMutant(folder, mutant);
      say(`${found ?? 'NOT FOUND'}: ${mutant.fault}`);
      if (found === undefined) survivors += 1;
    }
    say(`${chosen.length - survivors} of ${chosen.length} faults found, each within ${seeds} seeds`);
    return survivors;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The faults that cannot be planted any more, because the code has changed. */
export function staleMutants(): string[] {
  const stale = allMutants.filter(({ file, text }) => {
    const path = pathIn(packageRoot, file);
    return !existsSync(path) || !isOnceIn(readFileSync(path, 'utf8'), text);
  });
  return stale.map(({ fault }) => fault);
}

function pathIn(root: string, file: string): string {
  return join(root, file.endsWith('.lua') ? 'src' : 'dist/src', file);
}

function isOnceIn(code: string, text: string): boolean {
  return code.split(text).length === 2;
}

/** @returns the first line of the simulation's output; undefined when it finds nothing */
async function findMutant(
  folder: string,
  { fault, file, text, replacement, store }: Mutant,
): Promise<string | undefined> {
  const path = pathIn(folder, file);
  const original = readFileSync(path, 'utf8');
  if (!isOnceIn(original, text)) throw new Error(`${file} must have the text of "${fault}" once.`);
  writeFileSync(
    path,
    original.replace(text, () => replacement),
  );
  try {
    const program = join(folder, 'dist/test/simulation/run.js');
    const output = await outputOf(program, store === undefined ? [] : ['--store', store]);
    return output.split('\n').find((line) => line.startsWith('Seed '));
  } finally {
    writeFileSync(path, original);
  }
}

/** @throws when the simulation did not run to its end */
function outputOf(program: string, further: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, '--seeds', String(seeds), '--until-failure', ...further], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      errors += part;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      // 1 means that an invariant was broken.
      if (code === 0 || code === 1) resolve(output);
      else reject(new Error(`The simulation ended with ${code}: ${errors}`));
    });
  });
}
