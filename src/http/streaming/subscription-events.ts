/**
 * The streaming API: one router for each resource.
 * In: requests about event types, events, subscriptions, cursors and streams. Out: the broker's results as JSON.
 * Start with the stream of a subscription below; each other file has the name of its resource.
 */

import { after, systemRandom } from '../../clock.ts';
import { Router, type Request, type Response } from 'express';
import { isDeepStrictEqual } from 'node:util';
import { partitionCounts, partitionCountsWith } from '../../broker/subscriptions/subscription-partitions.ts';
import { type CloseCode, closeCodes } from '../../broker/streaming/close-codes.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import type { HistoryRecorder } from '../../broker/subscriptions/history-recorder.ts';
import { isConsumptionBlocked } from '../../broker/definitions/blacklist.ts';
import type { Registry, RegistryChange } from '../../broker/definitions/registry.ts';
import { partitionsIn, readStreamParameters } from '../../broker/streaming/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../broker/streaming/subscription-stream.ts';
import type { Subscription } from '../../broker/definitions/subscription.ts';
import { findSubscription, knownSubscription } from '../../broker/definitions/subscription-lookup.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { WaitingStream } from '../../broker/streaming/stream-session.ts';
import { commitTimeoutSecondsMaximum } from '../../broker/subscriptions/commit-timeout-maximum.ts';
import { SlotQueue } from '../../broker/subscriptions/slot-queue.ts';
import { initialisePartitions } from '../../broker/subscriptions/starting-offsets.ts';
import { countStream, turnsOf } from '../access/limits/usage-of-response.ts';
import { rightsOf } from '../access/rights.ts';
import { parseJsonObject, readBodyAndRelease } from '../edge/request-body.ts';
import { destroyAfterGracePeriod, forgetRoute, writeJsonStream } from '../edge/json-stream.ts';
import { refuseAvroStream } from './not-supported.ts';
import { OpenStreams } from './open-streams.ts';
import {
  sendStreamHeaders,
  startOfSubscriptionStream,
  streamFormOf,
  withOpening,
  type StreamForm,
} from './stream-form.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

/** How one of the APIs shows a stream. The same engine serves all. */
export interface StreamView {
  formOf(request: Request, subscription: Subscription): StreamForm;
  /** The headers by which a client learns the id of its stream. */
  headersOf(streamId: string): Readonly<Record<string, string>>;
}

/** A request for the stream of the subscription in its path. */
export type StreamRequest = Request<{ id: string }>;

export interface SubscriptionEventsRouter {
  readonly router: Router;
  /** Serves a stream over another API. @param parameters As the client sent them. */
  serve(
    view: StreamView,
    parameters: Readonly<Record<string, unknown>>,
    request: StreamRequest,
    response: Response,
  ): Promise<void>;
  /** The streams that are open on this process. */
  readonly openStreams: OpenStreams;
  /** Why a stream of this process ended, for the response to a commit that comes too late. */
  endedStreamReason(streamId: string): string | undefined;
  /** Ends every stream with its last line, accepts no more, and resolves when all responses are finished. */
  closeAll(code?: CloseCode): Promise<void>;
}

/**
 * How long before the first chunk the headers are sent, for clients that read the headers in one piece. Milliseconds.
 */
const headersAheadMilliseconds = 1;

/** `GET` and `POST /subscriptions/{id}/events`: the events of a subscription, one batch a line, as they come. */
export function createSubscriptionEventsRouter(
  services: StreamServices,
  activity?: HistoryRecorder,
): SubscriptionEventsRouter {
  const { registry, metrics } = services;
  // Each series begins at 0: an alert sees no increase in a series that begins with its first stream.
  for (const reason of closeCodes) metrics.closedStreams.inc({ reason }, 0);
  const openStreams = new OpenStreams(metrics, activity);
  const slots = new SlotQueue(services);
  registry.onChange((change) => {
    closeStreamsOf(registry, change, openStreams);
    offerAddedPartitions(services, change, slots);
  });
  const serve: SubscriptionEventsRouter['serve'] = (view, parameters, request, response) =>
    serveStream({ services, openStreams, slots, view }, parameters, request, response);
  const router = Router({ caseSensitive: true });
  router
    .route('/subscriptions/:id/events')
    .head(methodNotAllowed('GET', 'POST'))
    .get((request, response) => {
      request.resume();
      return serve(ownView, request.query, request, response);
    })
    .post(async (request, response) => {
      const parameters = { ...request.query, ...(await readParameters(request)) };
      return serve(ownView, parameters, request, response);
    })
    .all(methodNotAllowed('GET', 'POST'));
  return {
    router,
    serve,
    openStreams,
    endedStreamReason: (streamId) => openStreams.endedReason(streamId),
    closeAll: (code) => openStreams.closeAll(code),
  };
}

/**
 * Closes the streams of a deleted subscription, of one that was blocked, and of an event type whose number of
 * partitions changed. Their clients open new ones, which see the new state.
 */
function closeStreamsOf(registry: Registry, { kind, name, value }: RegistryChange, openStreams: OpenStreams): void {
  if (kind === 'blacklist-entry' && value !== null) {
    openStreams.closeWhere(({ subscription }) => isConsumptionBlocked(registry, subscription), 'consumption_blocked');
  }
  if (kind === 'subscription' && value === null) {
    openStreams.closeWhere(({ subscription }) => subscription.id === name, 'subscription_deleted');
  }
  if (kind === 'event-type' && value !== null) {
    const { partitionCount } = value as EventTypeRecord;
    openStreams.closeWhere(
      ({ eventTypes }) => (eventTypes.get(name) ?? partitionCount) !== partitionCount,
      'repartitioned',
    );
  }
}

/**
 * Registers the partitions of an event type for the subscriptions whose streams wait for a slot on this process: added
 * ones are free slots, and the coordination store tells those that wait.
 */
function offerAddedPartitions(services: StreamServices, { kind, name, value }: RegistryChange, slots: SlotQueue): void {
  if (kind !== 'event-type' || value === null) return;
  const { registry, log, coordination, logger } = services;
  const register = async (subscription: Subscription): Promise<void> => {
    await initialisePartitions(log, coordination, subscription, partitionCounts(registry, subscription));
  };
  for (const subscriptionId of slots.subscriptionIds()) {
    const subscription = registry.get<Subscription>('subscription', subscriptionId);
    if (subscription?.event_types.includes(name) !== true) continue;
    register(subscription).catch((error: unknown) => {
      // The next stream that opens registers them.
      logger.debug({ subscriptionId, error: describeError(error) }, 'Added partitions could not be registered');
    });
  }
}

/** The response to a consumer that operators have blocked. */
export function consumptionBlocked(): LendstreamError {
  return new LendstreamError('FORBIDDEN', 'Application or event type is blocked');
}

/** The parameters of a POST; an empty body means none. */
async function readParameters(request: Request): Promise<Record<string, unknown>> {
  const body = await readBodyAndRelease(request);
  return body.length === 0 ? {} : parseJsonObject(body);
}

const ownView: StreamView = {
  formOf: streamFormOf,
  headersOf: (streamId) => ({ 'X-Nakadi-StreamId': streamId, 'X-Mambu-StreamId': streamId }),
};

/** What serves the streams of a process over one of the APIs. */
interface Serving {
  readonly services: StreamServices;
  readonly openStreams: OpenStreams;
  readonly slots: SlotQueue;
  readonly view: StreamView;
}

async function serveStream(
  { services, openStreams, slots, view }: Serving,
  source: Readonly<Record<string, unknown>>,
  request: StreamRequest,
  response: Response,
): Promise<void> {
  const { registry } = services;
  const { id } = request.params;
  countStream(response);
  openStreams.checkAccepting();
  refuseAvroStream(request);
  const subscription = await findSubscription(registry, id);
  if (isConsumptionBlocked(registry, subscription)) throw consumptionBlocked();
  const eventTypes = await partitionCountsWith(registry, subscription, partitionsIn(source));
  const { limits } = services;
  const longest = commitTimeoutSecondsMaximum(subscription, limits);
  const parameters = readStreamParameters(source, eventTypes, systemRandom(), limits, longest);
  const form = view.formOf(request, subscription);
  const open = (waiting?: WaitingStream): Promise<SubscriptionStream> =>
    SubscriptionStream.open(services, subscription, eventTypes, parameters, form.format, waiting);
  const stream = await (parameters.slotWaitMilliseconds === undefined
    ? open()
    : openStreams.whileWaiting(response, (signal) =>
        open({ queue: slots, signal, eventTypes: () => partitionCounts(registry, subscription) }),
      ));
  // Its client went while it waited.
  if (stream === undefined) return;
  try {
    // The subscription may have been deleted by now. If it is deleted later, the stream ends when this process is
    // notified.
    if (registry.get('subscription', id) === undefined) stream.close('subscription_deleted');
    knownSubscription(registry, id);
    // The same holds for a blacklist that names it, and for partitions that were added.
    if (isConsumptionBlocked(registry, subscription)) stream.close('consumption_blocked');
    if (!isDeepStrictEqual(partitionCounts(registry, subscription), stream.eventTypes)) stream.close('repartitioned');
    if (response.destroyed) {
      stream.clientClosed();
      return;
    }
    const watch = rightsOf(response).watch({ kind: 'subscription', name: id }, () => stream.close('access_revoked'));
    response.on('close', () => watch.cancel());
    const { streamId } = stream;
    sendStreamHeaders(response, form, view.headersOf(streamId));
    deliver(stream, response, form, openStreams, services);
    forgetRoute(request);
  } catch (error) {
    // Nothing reads the stream, so its partitions go to others.
    stream.clientClosed();
    throw error;
  }
}

/**
 * Writes an open stream, whose headers are sent, until the stream or the connection ends. This is no async function,
 * whose frame would be kept as long as the stream is open.
 */
function deliver(
  stream: SubscriptionStream,
  response: Response,
  { encoding, isEventStream }: StreamForm,
  openStreams: OpenStreams,
  { clock, logger }: Pick<StreamServices, 'clock' | 'logger'>,
): void {
  openStreams.add(stream);
  // A write may fail because the connection has just closed. Only the close itself matters.
  response.on('error', (error) => {
    logger.debug(
      { streamId: stream.streamId, error: describeError(error) },
      'The connection closed before the last line was written',
    );
  });
  response.on('close', () => {
    stream.clientClosed();
    openStreams.delete(stream);
  });
  stream.onEnded = () => destroyAfterGracePeriod(response, clock);
  stream.start();
  const source = isEventStream ? withOpening(startOfSubscriptionStream(stream.streamId), stream) : stream;
  const write = (): void =>
    writeJsonStream(
      response,
      source,
      encoding,
      clock,
      (error) => {
        logger.error({ streamId: stream.streamId, error: describeError(error) }, 'A stream was cut off by an error');
        response.destroy();
      },
      turnsOf(response),
    );
  after(clock, headersAheadMilliseconds, () => void stream.untilStored().then(write));
}
