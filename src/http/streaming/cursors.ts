import { Router, type Request, type RequestHandler, type Response } from 'express';
import { commitCursors, type CommitOutcome, type CommitServices } from '../../broker/subscriptions/commits.ts';
import { listCursors } from '../../broker/subscriptions/committed-cursors.ts';
import { resetCursors } from '../../broker/subscriptions/cursor-reset.ts';
import type { HistoryRecorder } from '../../broker/subscriptions/history-recorder.ts';
import { EndOffsetCache } from '../../broker/subscriptions/end-offsets.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import { usageOf } from '../access/limits/usage-of-response.ts';
import { compress } from '../edge/compression/response-compression.ts';
import { inOrder } from '../edge/handlers-in-order.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

export interface CursorsServices extends CommitServices {
  readonly metrics: Metrics;
  readonly activity?: HistoryRecorder;
}

/**
 * Commits what a request asks for, which is measured and recorded.
 * @param readBody Reads the request, whose `items` are the cursors.
 * @throws What it throws, and as {@link commitCursors}
 */
export type Commit = (
  subscriptionId: string,
  streamId: string,
  readBody: () => Promise<{ readonly items?: unknown }>,
) => Promise<CommitOutcome>;

/** One for all APIs of a process, which share what is known of the ends of partitions. */
export function createCommit(services: CursorsServices): Commit {
  const { metrics, activity, clock } = services;
  const committing = { ...services, ends: new EndOffsetCache(services) };
  return async (subscriptionId, streamId, readBody) => {
    const beganAt = clock.monotonic();
    const { items } = await readBody();
    const outcome = await commitCursors(committing, subscriptionId, streamId, items);
    metrics.commitSeconds.observe((clock.monotonic() - beganAt) / 1_000);
    activity?.recordCommits(
      subscriptionId,
      outcome.items.map(({ cursor }) => cursor),
    );
    return outcome;
  };
}

/** The path of a commit as nearly every client writes it: a request for it passes no router. */
const commitPath = /^\/subscriptions\/([\w-]+)\/cursors$/;

/** `/subscriptions/{id}/cursors`: showing, committing and resetting the cursors of a subscription. */
export function createCursorsRouter(
  services: CursorsServices,
  commit: Commit = createCommit(services),
): RequestHandler {
  const commitFor = async (request: Request, response: Response, subscriptionId: string): Promise<void> => {
    usageOf(response)?.countCommit();
    const outcome = await commit(subscriptionId, streamIdOf(request), () => readJsonObject<'commitCursors'>(request));
    if (outcome.allCommitted) response.status(204).end();
    else response.json({ items: outcome.items } satisfies Responses['commitCursors']);
  };
  const router = Router({ caseSensitive: true });
  router
    .route('/subscriptions/:id/cursors')
    .get(compress, async (request, response) => {
      response.json({ items: await listCursors(services, request.params.id) } satisfies Responses['listCursors']);
    })
    .post((request, response) => commitFor(request, response, request.params.id))
    .patch(async (request, response) => {
      const { items } = await readJsonObject<'resetCursors'>(request);
      await resetCursors(services, request.params.id, items);
      response.status(204).end();
    })
    .all(methodNotAllowed('GET', 'POST', 'PATCH'));
  const commitAtOnce: RequestHandler = (request, response, next) => {
    const subscriptionId = request.method === 'POST' ? commitPath.exec(request.path)?.[1] : undefined;
    return subscriptionId === undefined ? next() : commitFor(request, response, subscriptionId);
  };
  return inOrder([commitAtOnce, router]);
}

/** @throws MALFORMED_REQUEST when the header, which has two names, is missing */
function streamIdOf(request: Request): string {
  const streamId = request.get('X-Nakadi-StreamId') ?? request.get('X-Mambu-StreamId');
  if (streamId === undefined) {
    throw new LendstreamError('MALFORMED_REQUEST', "Required request header 'X-Nakadi-StreamId' is not present.");
  }
  return streamId;
}
