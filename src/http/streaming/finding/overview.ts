import { Router } from 'express';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { Subscription } from '../../../broker/definitions/subscription.ts';
import {
  intervalMilliseconds,
  type ActivityHistory,
  type ActivityPoint,
} from '../../../broker/overview/activity-history.ts';
import { diskOf } from '../../../broker/overview/disk.ts';
import { seenNodes } from '../../../broker/overview/nodes.ts';
import type { RecentLags } from '../../../broker/subscriptions/recent-lags.ts';
import { toTimestamp, type Clock } from '../../../clock.ts';
import type { Responses } from '../../../contract.ts';
import { isLendstreamError } from '../../../errors.ts';
import type { Health } from '../../../health.ts';
import type { Coordination } from '../../../ports/coordination.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';

/** How many subscriptions are named with their lags. */
export const largestLagsShown = 5;

export interface OverviewServices {
  readonly log: EventLog;
  readonly registry: Registry;
  readonly coordination: Pick<Coordination, 'reportedNodes'>;
  readonly clock: Clock;
  readonly health: Health;
  readonly lags: RecentLags;
  readonly history: ActivityHistory;
  readonly process: {
    readonly nodeId: string;
    readonly version: string;
    readonly roles: readonly ('serve' | 'work')[];
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
    /** Where it keeps its files. */
    readonly dataFolder: string;
    /** How long a node may be silent before it counts as lost. */
    readonly leaseMilliseconds: number;
  };
  /** The topics of dead letters, with their numbers of partitions. */
  readonly deadLetterTopics: { readonly commands: Topic; readonly subscriptions: Topic };
}

interface Topic {
  readonly name: string;
  readonly partitionCount: number;
}

/**
 * GET /overview: what this process does now and did in the last hour, and what waits on all processes. What cannot be
 * read, because the log or the coordination store is unavailable, is null: the rest is needed then.
 */
export function createOverviewRouter(services: OverviewServices): Router {
  const { clock, health, history, process } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/overview')
    .get(async (_request, response) => {
      const [disk, nodes, lags, commands, subscriptions] = await Promise.all([
        diskOf(process.dataFolder),
        unlessUnavailable(nodesOf(services)),
        unlessUnavailable(lagsOf(services)),
        unlessUnavailable(countOf(services.log, services.deadLetterTopics.commands)),
        unlessUnavailable(countOf(services.log, services.deadLetterTopics.subscriptions)),
      ]);
      response.json({
        at: toTimestamp(clock.now()),
        process: {
          node_id: process.nodeId,
          version: process.version,
          roles: process.roles,
          started_at: toTimestamp(process.startedAt),
          ready: health.notReadyReasons().length === 0,
          parts: health.parts().map(({ name, ready, reason }) => ({ name, ready, reason })),
          disk: disk === null ? null : { free_bytes: disk.freeBytes, total_bytes: disk.totalBytes },
        },
        nodes,
        history: historyView(history),
        lags,
        dead_letters: { commands, subscriptions },
      } satisfies Responses['getOverview']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

async function nodesOf({ coordination, clock, process }: OverviewServices): Promise<Responses['getOverview']['nodes']> {
  const nodes = seenNodes(await coordination.reportedNodes(), process.leaseMilliseconds);
  const now = clock.now();
  return nodes.map(({ report, state, silentMilliseconds }) => ({
    node_id: report.nodeId,
    host: report.host,
    address: report.address,
    version: report.version,
    roles: report.roles,
    started_at: toTimestamp(report.startedAt),
    state,
    last_heard_at: toTimestamp(now - silentMilliseconds),
    loan_partitions: report.loanPartitions,
    subscription_streams: report.subscriptionStreams,
    stream_partitions: report.streamPartitions,
    event_type_streams: report.eventTypeStreams,
  }));
}

function historyView({ points, lastPointAt }: ActivityHistory): Responses['getOverview']['history'] {
  const series = <Value>(of: (point: ActivityPoint) => Value): Value[] => points.map(of);
  return {
    interval_seconds: intervalMilliseconds / 1_000,
    last_at: points.length === 0 ? null : toTimestamp(lastPointAt),
    published_per_second: series(({ published }) => rounded(published)),
    delivered_per_second: series(({ delivered }) => rounded(delivered)),
    commands_decided_per_second: series(({ commandsDecided }) => rounded(commandsDecided)),
    publish_p99_seconds: series(({ publishP99 }) => publishP99),
    commit_p99_seconds: series(({ commitP99 }) => commitP99),
    open_streams: series(({ openStreams }) => openStreams),
    commands_waiting: series(({ commandsWaiting }) => commandsWaiting),
    unconsumed_events: series(({ unconsumedEvents }) => unconsumedEvents),
    disk_used_bytes: series(({ diskUsedBytes }) => diskUsedBytes),
  };
}

function rounded(rate: number): number {
  return Math.round(rate * 10) / 10;
}

async function lagsOf({ registry, lags }: OverviewServices): Promise<Responses['getOverview']['lags']> {
  const bySubscription = new Map<string, number>();
  for (const { subscriptionId, unconsumedEvents } of await lags.get()) {
    bySubscription.set(subscriptionId, (bySubscription.get(subscriptionId) ?? 0) + unconsumedEvents);
  }
  let total = 0;
  for (const events of bySubscription.values()) total += events;
  const largest = [...bySubscription]
    .filter(([, events]) => events > 0)
    .toSorted(([, left], [, right]) => right - left)
    .flatMap(([id, events]) => {
      const subscription = registry.get<Subscription>('subscription', id);
      if (subscription === undefined) return [];
      const { owning_application, consumer_group } = subscription;
      return [{ subscription_id: id, owning_application, consumer_group, unconsumed_events: events }];
    })
    .slice(0, largestLagsShown);
  return { unconsumed_events: total, subscriptions: bySubscription.size, largest };
}

/** How many records a topic holds. */
async function countOf(log: EventLog, { name, partitionCount }: Topic): Promise<number> {
  const partitions = Array.from({ length: partitionCount }, (_, partition) => ({ topic: name, partition }));
  return (await log.bounds(partitions)).reduce((sum, { earliest, latest }) => sum + latest - earliest, 0);
}

async function unlessUnavailable<Value>(value: Promise<Value>): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (isLendstreamError(error) && error.retriable) return null;
    throw error;
  }
}
