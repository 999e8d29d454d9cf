/**
 * The streaming API: one router for each resource.
 * In: requests about event types, events, subscriptions, cursors and streams. Out: what the broker says, as JSON.
 * Start with the stream of a subscription below; each other file has the name of its resource.
 */

import { Router, type Request, type Response } from 'express';
import type { ServerResponse } from 'node:http';
import { partitionCounts } from '../../broker/subscriptions/assignment.ts';
import { type CloseCode, closeCodes } from '../../broker/streaming/close-reasons.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import type { HistoryNotes } from '../../broker/subscriptions/activity.ts';
import type { RegistryChange } from '../../broker/definitions/registry.ts';
import { readStreamParameters } from '../../broker/streaming/parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../broker/streaming/subscription-stream.ts';
import { findSubscription } from '../../broker/definitions/subscription.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { parseJsonObject, readPassingBody } from '../edge/body.ts';
import { catchUpOnMiss } from '../edge/catch-up.ts';
import { acceptsGzip, cutOffLater, writeJsonStream } from '../edge/json-stream.ts';
import { OpenStreams } from './open-streams.ts';
import { methodNotAllowed } from '../edge/problem.ts';
import { letGoOfHeads } from '../edge/sent-head.ts';

export interface StreamsRouter {
  readonly router: Router;
  /** The streams that are open on this process. */
  readonly openStreams: OpenStreams;
  /** Why a stream of this process ended, for the answer to a commit that comes too late. */
  endedStreamReason(streamId: string): string | undefined;
  /** Ends every stream with its last line, takes no more, and resolves when their answers are finished. */
  closeAll(code?: CloseCode): Promise<void>;
}

/** How long the headers are ahead of the first chunk, for clients that read them in one piece. Milliseconds. */
const headersAheadMilliseconds = 5;

/** `GET` and `POST /subscriptions/{id}/events`: the events of a subscription, one batch a line, as they come. */
export function createStreamsRouter(services: StreamServices, history?: HistoryNotes): StreamsRouter {
  const { registry, metrics } = services;
  // A series that began with its first stream would have no increase that an alert could see.
  for (const reason of closeCodes) metrics.closedStreams.inc({ reason }, 0);
  const openStreams = new OpenStreams(history);
  registry.onChange((change) => closeStreamsOf(change, openStreams));
  const router = Router({ caseSensitive: true });
  router.param('id', catchUpOnMiss(registry, 'subscription'));
  router
    .route('/subscriptions/:id/events')
    .head(methodNotAllowed('GET', 'POST'))
    .get((request, response) => {
      request.resume();
      return serveStream(services, openStreams, request.query, request, response);
    })
    .post(async (request, response) => {
      const parameters = { ...request.query, ...(await readParameters(request)) };
      return serveStream(services, openStreams, parameters, request, response);
    })
    .all(methodNotAllowed('GET', 'POST'));
  return {
    router,
    openStreams,
    endedStreamReason: (streamId) => openStreams.endedReason(streamId),
    closeAll: (code) => openStreams.closeAll(code),
  };
}

/** Streams end when what they stream from is redefined: their clients open new ones and see it as it is. */
function closeStreamsOf({ kind, name, value }: RegistryChange, openStreams: OpenStreams): void {
  if (kind === 'subscription' && value === null) {
    openStreams.closeWhere(({ subscription }) => subscription.id === name, 'subscription_deleted');
  }
  if (kind === 'event-type' && value !== null) {
    const { partitionCount } = value as EventTypeRecord;
    openStreams.closeWhere(
      ({ eventTypes }) => (eventTypes.get(name) ?? partitionCount) !== partitionCount,
      'cursors_reset',
    );
  }
}

/** Parameters of a POST; no body is no parameters. */
async function readParameters(request: Request): Promise<Record<string, unknown>> {
  const body = await readPassingBody(request);
  return body.length === 0 ? {} : parseJsonObject(body);
}

async function serveStream(
  services: StreamServices,
  openStreams: OpenStreams,
  source: Readonly<Record<string, unknown>>,
  request: Request<{ id: string }>,
  response: Response,
): Promise<void> {
  const { registry } = services;
  const { id } = request.params;
  openStreams.checkAccepting();
  const subscription = findSubscription(registry, id);
  const eventTypes = partitionCounts(registry, subscription);
  const parameters = readStreamParameters(source, eventTypes, Math.random());
  const stream = await SubscriptionStream.open(services, subscription, eventTypes, parameters);
  try {
    // It may be gone by now; one that is deleted from here on ends the stream when this process hears of it.
    if (registry.get('subscription', id) === undefined) stream.close('subscription_deleted');
    findSubscription(registry, id);
    if (response.destroyed) {
      stream.clientClosed();
      return;
    }
    const compressed = acceptsGzip(request);
    sendHeaders(response, stream.streamId, compressed);
    letGoOfHeads(request, response);
    deliver(stream, response, compressed, openStreams, services.logger);
  } catch (error) {
    // Nobody reads it: its partitions go to others.
    stream.clientClosed();
    throw error;
  }
}

/**
 * Writes a stream that is open and whose headers are sent, to its end or to that of the connection. No async function,
 * whose frame would be kept as long as the stream is open.
 */
function deliver(
  stream: SubscriptionStream,
  response: ServerResponse,
  compressed: boolean,
  openStreams: OpenStreams,
  logger: Logger,
): void {
  openStreams.add(stream);
  // A write that comes too late for a connection just closed; the close itself is what counts.
  response.on('error', (error) => {
    logger.debug({ streamId: stream.streamId, error: describeError(error) }, 'A line came too late for its connection');
  });
  response.on('close', () => {
    stream.clientClosed();
    openStreams.delete(stream);
  });
  stream.onEnded = () => cutOffLater(response);
  stream.start();
  setTimeout(() => {
    writeJsonStream(response, stream, compressed, (error) => {
      logger.error({ streamId: stream.streamId, error: describeError(error) }, 'A stream was cut off by an error');
      response.destroy();
    });
  }, headersAheadMilliseconds);
}

function sendHeaders(response: Response, streamId: string, compressed: boolean): void {
  response.writeHead(200, {
    'Content-Type': 'application/x-json-stream',
    'X-Nakadi-StreamId': streamId,
    'X-Mambu-StreamId': streamId,
    Vary: 'Accept-Encoding',
    ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.flushHeaders();
}
