import { firstIndex, grouped, type Checker, type Evidence } from './evidence.ts';
import { firstReceivedOf, indexFrom, hasOffset, readersPaused } from './deliveries.ts';
import { ofKind } from '../history.ts';
import { deliveryName, partitionNameOf, type Delivery } from './known-log.ts';

/** The promises about committed offsets, and about the events that are delivered again because of them. */

/**
 * How far the mirror of committed offsets in the log may be behind: a commit acknowledged within this time before the
 * coordination lost its data may be lost too. Milliseconds.
 */
export const mirrorLagMilliseconds = 2_000;

/** A cursor that was committed and moved its partition forward. */
interface CommittedCursor {
  readonly offset: number;
  readonly stream: string;
  readonly attemptedAt: number;
  readonly answeredAt: number;
  /** It may be lost, because the coordination lost its data before it had to be mirrored. */
  readonly isExcused: boolean;
}

/** The commits of one partition of a subscription, in the order of the responses. */
interface Commits {
  readonly cursors: readonly CommittedCursor[];
  /** By index: the largest offset up to it that may not be lost. */
  readonly safe: readonly number[];
}

const noCommits: Commits = { cursors: [], safe: [] };

/** By {@link deliveryName}. */
function commitsOf({ records }: Evidence): Map<string, Commits> {
  const healed = new Map(ofKind(records, 'fault healed').map(({ number, at }) => [number, at]));
  const losses = ofKind(records, 'fault begun')
    .filter(({ losesCoordination }) => losesCoordination)
    .map(({ at, number }) => ({ from: at - mirrorLagMilliseconds, to: healed.get(number) ?? Infinity }));
  const cursors = ofKind(records, 'commit answered').flatMap((response) =>
    response.outcome !== 'committed'
      ? []
      : response.cursors
          .filter((_, index) => response.advanced[index] === true)
          .map((position) => ({
            name: deliveryName(response.subscription, position),
            offset: position.offset,
            stream: response.stream,
            attemptedAt: response.attemptedAt,
            answeredAt: response.at,
            isExcused: losses.some(({ from, to }) => response.at >= from && response.attemptedAt <= to),
          })),
  );
  return new Map([...grouped(cursors, ({ name }) => name)].map(([name, list]) => [name, withSafe(list)]));
}

function withSafe(cursors: readonly CommittedCursor[]): Commits {
  let most = -1;
  return { cursors, safe: cursors.map(({ offset, isExcused }) => (most = isExcused ? most : Math.max(most, offset))) };
}

/** The largest offset whose commit was acknowledged before the time and may not be lost; -1 for none. */
function committedBefore({ cursors, safe }: Commits, time: number): number {
  return safe[firstIndex(cursors.length, (index) => (cursors[index]?.answeredAt ?? 0) >= time) - 1] ?? -1;
}

export const commitRegress: Checker = {
  name: 'commit regress',
  promise: 'What was committed stays committed: no node shows less, and no new stream brings it again.',
  check(evidence) {
    const committed = commitsOf(evidence);
    const findings: string[] = [];
    for (const { subscription, node, askedAt, cursors } of ofKind(evidence.records, 'cursors seen')) {
      for (const position of cursors) {
        const name = deliveryName(subscription, position);
        const least = committedBefore(committed.get(name) ?? noCommits, askedAt);
        if (position.offset < least)
          findings.push(`${name}: ${node} showed ${position.offset} when ${least} was committed`);
      }
    }
    for (const [name, list] of evidence.deliveries) {
      const leastOfStream = new Map<string, number>();
      for (const { stream, offset } of list.filter(hasOffset)) {
        let least = leastOfStream.get(stream);
        if (least === undefined) {
          least = committedBefore(committed.get(name) ?? noCommits, evidence.streams.get(stream)?.at ?? 0);
          leastOfStream.set(stream, least);
        }
        if (offset <= least) findings.push(`${name}: stream ${stream} brought ${offset} when ${least} was committed`);
      }
    }
    return findings;
  },
};

export const gapsBelowCommitted: Checker = {
  name: 'gap below committed',
  promise: 'Everything up to a committed offset was delivered before it was committed.',
  check(evidence) {
    const findings: string[] = [];
    for (const [name, { cursors }] of commitsOf(evidence)) {
      const log = evidence.log.partitions.get(partitionNameOf(name)) ?? [];
      const truncation = evidence.truncations.get(partitionNameOf(name));
      const firstReceived = firstReceivedOf(evidence.deliveries.get(name) ?? []);
      // By index into the log: the worst event up to it, which was delivered last or never.
      const worst: { readonly offset: number; readonly at: number }[] = [];
      for (const { eid, offset } of log) {
        const isExcused = truncation !== undefined && offset < truncation.offset;
        const at = isExcused ? 0 : (firstReceived.get(eid) ?? Infinity);
        const before = worst.at(-1);
        worst.push(before === undefined || at > before.at ? { offset, at } : before);
      }
      for (const { offset, stream, attemptedAt } of cursors) {
        const missing = worst[indexFrom(log, offset + 1) - 1];
        if (missing !== undefined && missing.at > attemptedAt) {
          findings.push(`${name}: stream ${stream} committed ${offset}, but ${missing.offset} had not been delivered`);
        }
      }
    }
    return findings;
  },
};

export const interleavedCommits: Checker = {
  name: 'two owners',
  promise: 'A stream commits nothing more of a partition once another stream has begun to receive it.',
  check(evidence) {
    const closedAt = new Map(ofKind(evidence.records, 'stream closed').map(({ stream, at }) => [stream, at]));
    const findings: string[] = [];
    for (const [name, { cursors }] of commitsOf(evidence)) {
      const list = evidence.deliveries.get(name) ?? [];
      const byStream = grouped(list, ({ stream }) => stream);
      for (const { stream, offset, attemptedAt, answeredAt } of cursors) {
        const received = byStream.get(stream) ?? [];
        const mine = received[indexAfter(received, attemptedAt) - 1];
        if (mine === undefined) {
          findings.push(`${name}: stream ${stream} committed ${offset}, but had received nothing of the partition`);
          continue;
        }
        const since = list.slice(indexAfter(list, mine.at), indexAfter(list, attemptedAt));
        const other = since.find(
          (delivery) =>
            delivery.stream !== stream &&
            (closedAt.get(delivery.stream) ?? Infinity) > answeredAt &&
            !readersPaused(evidence, delivery.at),
        );
        if (other !== undefined) {
          findings.push(`${name}: stream ${stream} committed ${offset} after stream ${other.stream} had taken over`);
        }
      }
    }
    return findings;
  },
};

export const boundedRedelivery: Checker = {
  name: 'bounded re-delivery',
  promise:
    'A new stream brings again at most what may be out uncommitted, and what a lost coordination had not copied.',
  check(evidence) {
    const committed = commitsOf(evidence);
    const findings: string[] = [];
    for (const [name, list] of evidence.deliveries) {
      let highest = -1;
      const counts = new Map<string, { again: number; readonly before: number }>();
      for (const { stream, offset } of list.filter(hasOffset)) {
        const count = counts.get(stream) ?? { again: 0, before: highest };
        counts.set(stream, count);
        if (offset <= count.before) count.again += 1;
        highest = Math.max(highest, offset);
      }
      for (const [stream, { again }] of counts) {
        const allowed = allowance(evidence, name, committed.get(name) ?? noCommits, stream);
        if (again > allowed)
          findings.push(`${name}: stream ${stream} brought ${again} events again, allowed are ${allowed}`);
      }
    }
    return findings;
  },
};

/**
 * The window and one batch of the subscription's largest stream, and the commits that may have been lost before it
 * opened.
 */
function allowance(evidence: Evidence, name: string, commits: Commits, stream: string): number {
  const opened = evidence.streams.get(stream);
  const windows = [...evidence.streams.values()]
    .filter(({ subscription }) => subscription === opened?.subscription)
    .map(({ batchLimit, uncommittedEventsMaximum }) => batchLimit + uncommittedEventsMaximum);
  const openedAt = opened?.at ?? Infinity;
  const safe = committedBefore(commits, openedAt);
  const lost = commits.cursors
    .filter(({ isExcused, answeredAt }) => isExcused && answeredAt < openedAt)
    .reduce((most, { offset }) => Math.max(most, offset), safe);
  const log = evidence.log.partitions.get(partitionNameOf(name)) ?? [];
  return Math.max(0, ...windows) + indexFrom(log, lost + 1) - indexFrom(log, safe + 1);
}

/** The index of the first delivery after the time, in a list ordered by time. */
function indexAfter(list: readonly Delivery[], time: number): number {
  return firstIndex(list.length, (index) => (list[index]?.at ?? Infinity) > time);
}
