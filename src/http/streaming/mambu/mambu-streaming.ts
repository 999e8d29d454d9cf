/**
 * Mambu's streaming API, in its first and its second version: the same subscriptions, streams and commits as over
 * `/subscriptions`, under other paths and in another form.
 * In: requests below /api/v1/subscriptions and /api/subscriptions. Out: the broker's results as Mambu's clients read
 * them. Start with the routes below. `versions.ts` has what differs, `wrapped-events.ts` the form of an event.
 */

import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { OwnedDefinitions } from '../../../access/limits/owned-definitions.ts';
import { findSubscription } from '../../../broker/definitions/subscription-lookup.ts';
import { subscriptionStatistics } from '../../../broker/subscriptions/statistics.ts';
import { Subscriptions, type SubscriptionsOptions } from '../../../broker/subscriptions/subscriptions.ts';
import { partitionCountsWith } from '../../../broker/subscriptions/subscription-partitions.ts';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { Subscription } from '../../../broker/definitions/subscription.ts';
import type { Responses, Schemas } from '../../../contract.ts';
import { FieldViolations, LendstreamError, isLendstreamError } from '../../../errors.ts';
import { usageOf } from '../../access/limits/usage-of-response.ts';
import { rightsOf } from '../../access/rights.ts';
import { LendingErrors, lendingMethodNotAllowed, requestError } from '../../edge/lending-errors.ts';
import { mambuStreamingVersionOf } from '../../edge/mambu-versions.ts';
import { flagParameter } from '../../edge/query-parameters.ts';
import { readJsonObject } from '../../edge/request-body.ts';
import { compress } from '../../edge/compression/response-compression.ts';
import { streamEncodingOf } from '../../edge/compression/stream-encoding.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';
import type { Commit } from '../cursors.ts';
import type { StreamView, SubscriptionEventsRouter } from '../subscription-events.ts';
import { versionProfiles, type VersionProfile } from './versions.ts';

export interface MambuStreamingOptions extends SubscriptionsOptions {
  readonly streams: Pick<SubscriptionEventsRouter, 'serve'>;
  readonly commit: Commit;
}

const streamIdHeader = 'X-Mambu-StreamId';

/** Creating and deleting subscriptions, their streams, commits and statistics. Mount it before the lending API. */
export function createMambuStreamingRouter({ streams, commit, ...services }: MambuStreamingOptions): Router {
  const { registry } = services;
  const subscriptions = new Subscriptions(services);
  const owned = new OwnedDefinitions(registry);
  const router = Router({ caseSensitive: true });

  router
    .route(pathsOf(''))
    .post(async (request, response) => {
      const profile = profileOf(request);
      const body = await readJsonObject<'createMambuSubscriptionV1'>(request);
      const definition = profile.definitionOf(body);
      const rights = rightsOf(response);
      const owner = definition['owning_application'];
      rights.requireOwner(owner);
      await rights.requireReadableEvents(definition['event_types']);
      const { outcome, subscription } = await owned.whileCreating(
        usageOf(response),
        'subscription',
        owner,
        (refuseBeyondLimit) => subscriptions.create(definition, refuseBeyondLimit),
      );
      response.set('Location', `${profile.subscriptionsPath}/${subscription.id}`);
      response.status(outcome === 'created' ? 201 : 200).json(profile.subscriptionView(subscription));
    })
    .all(onlyMethods('POST'));

  router
    .route(pathsOf('/:id'))
    .delete(async (request: SubscriptionRequest, response: Response) => {
      await subscriptions.remove(request.params.id);
      response.status(204).end();
    })
    .all(onlyMethods('DELETE'));

  router
    .route(pathsOf('/:id/events'))
    .head(onlyMethods('GET'))
    .get((request: SubscriptionRequest, response: Response) => {
      request.resume();
      const profile = profileOf(request);
      return streams.serve(streamViewOf(profile), profile.streamParameters(request.query), request, response);
    })
    .all(onlyMethods('GET'));

  router
    .route(pathsOf('/:id/cursors'))
    .post(async (request: SubscriptionRequest, response: Response) => {
      usageOf(response)?.countCommit();
      const profile = profileOf(request);
      const { id } = request.params;
      let sent: unknown;
      const outcome = await commit(id, streamIdOf(request), async () => {
        sent = (await readJsonObject<'commitMambuCursorsV1'>(request)).items;
        const subscription = await findSubscription(registry, id);
        return { items: await withUnknownAsSent(registry, subscription, profile.cursorsOf(subscription, sent), sent) };
      });
      if (outcome.allCommitted) {
        response.status(204).end();
        return;
      }
      const items = outcome.items.map(({ result }, index) => ({ cursor: cursorAt(sent, index), result }));
      response.json({ items } satisfies Responses['commitMambuCursorsV2']);
    })
    .all(onlyMethods('POST'));

  router
    .route(pathsOf('/:id/stats'))
    .get(compress, async (request: SubscriptionRequest, response: Response) => {
      const profile = profileOf(request);
      const subscription = await subscriptions.get(request.params.id);
      const isLagShown = profile.showsTimeLag || flagParameter(request, 'show_time_lag');
      const statistics = await subscriptionStatistics(services, subscription, isLagShown);
      response.json(profile.statisticsView(subscription, statistics));
    })
    .all(onlyMethods('GET'));

  router.use(nameErrorsOfSecondVersion);
  return router;
}

type SubscriptionRequest = Request<{ id: string }>;

/** A path below both addresses. The second one is also that of requests that do not name a version. */
function pathsOf(rest: string): string[] {
  return Object.values(versionProfiles).map(({ subscriptionsPath }) => `${subscriptionsPath}${rest}`);
}

/** The routes have no other requests than those of one of the versions. */
function profileOf(request: Request<never> | Request): VersionProfile {
  return versionProfiles[mambuStreamingVersionOf(request) ?? 1];
}

function streamViewOf(profile: VersionProfile): StreamView {
  return {
    formOf: (request, subscription) => ({
      format: profile.linesOf(subscription),
      isEventStream: false,
      encoding: streamEncodingOf(request),
    }),
    headersOf: (streamId) => ({ [streamIdHeader]: streamId }),
  };
}

/** @throws MALFORMED_REQUEST when the header is missing */
function streamIdOf(request: SubscriptionRequest): string {
  const streamId = request.get(streamIdHeader);
  if (streamId !== undefined) return streamId;
  throw new LendstreamError('MALFORMED_REQUEST', `Required request header '${streamIdHeader}' is not present.`);
}

/**
 * The cursors of a commit. One that names no partition of the subscription has it as the client wrote it, so that the
 * refusal names it so.
 */
async function withUnknownAsSent(
  registry: Registry,
  subscription: Subscription,
  items: unknown,
  sent: unknown,
): Promise<unknown> {
  if (!Array.isArray(items)) return items;
  const counts = await partitionCountsWith(registry, subscription, items);
  return items.map((item: unknown, index) => {
    const { event_type: eventType, partition } = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (!(Number(partition) >= (counts.get(String(eventType)) ?? Infinity))) return item;
    return { ...(item as object), partition: cursorAt(sent, index).partition };
  });
}

type SentCursor = Schemas['MambuCommitResults']['items'][number]['cursor'];

/** The cursor of a commit as the client wrote it. */
function cursorAt(items: unknown, index: number): SentCursor {
  const cursor = (items as readonly Readonly<Record<string, unknown>>[])[index] ?? {};
  const { partition, offset, event_type: eventType = null, cursor_token: token = null } = cursor;
  return {
    partition: textOf(partition),
    offset: textOf(offset),
    ...(eventType === null ? {} : { event_type: textOf(eventType) }),
    ...(token === null ? {} : { cursor_token: textOf(token) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function onlyMethods(...allowed: string[]): RequestHandler {
  const [refuse, refuseInSecondVersion] = [methodNotAllowed(...allowed), lendingMethodNotAllowed(...allowed)];
  return (request, response, next) => {
    const respond = mambuStreamingVersionOf(request) === 2 ? refuseInSecondVersion : refuse;
    return respond(request, response, next);
  };
}

/** Errors of the second version have names, one for each field that breaks a rule. */
const nameErrorsOfSecondVersion: ErrorRequestHandler = (error: unknown, request, _response, next) => {
  next(mambuStreamingVersionOf(request) === 2 ? namedErrors(error) : error);
};

function namedErrors(error: unknown): unknown {
  const invalid = (source: string) => requestError('INVALID_PARAMETERS', source);
  if (error instanceof FieldViolations) {
    const errors = error.violations.map(({ field, message }) => invalid(`Field "${field}" ${message}`));
    return new LendingErrors(error.code, errors);
  }
  if (isLendstreamError(error, 'NOT_FOUND') || isLendstreamError(error, 'PRECONDITION_FAILED')) {
    return new LendingErrors(error.code, [invalid(error.message)]);
  }
  return error;
}
