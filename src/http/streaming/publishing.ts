import { Router, type Request } from 'express';
import type { PublishedItem } from '../../broker/publishing/response-items.ts';
import type { Publisher } from '../../broker/publishing/publisher.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import { readBody } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

export interface PublishingServices {
  readonly publisher: Publisher;
}

/** The name of the publisher on every event, as callers are not distinguished. */
export const anonymousPublisher = 'unauthenticated';

/** Nakadi shows events with this header to one subscription alone. Ignoring it would show them to all. */
const consumerTagRefusal =
  'X-CONSUMER-TAG is not supported: every subscription of an event type gets all of its events. Nothing was stored.';

/**
 * POST /event-types/{name}/events and POST /event-types/{name}/deleted-events. Reading events is in
 * event-type-events.ts.
 */
export function createPublishingRouter({ publisher }: PublishingServices): Router {
  const router = Router({ caseSensitive: true });
  const events = router.route('/event-types/:name/events');
  events.post(async (request, response) => {
    refuseConsumerTag(request);
    const body = await readBody(request);
    const flowId = request.headers['x-flow-id'];
    const outcome = await publisher.publish(request.params.name, body, {
      flowId: typeof flowId === 'string' ? flowId : '',
      publishedBy: anonymousPublisher,
    });
    if (outcome.status === 200) response.status(200).end();
    else response.status(outcome.status).json(outcome.items.map(withoutOffset) satisfies Responses['publishEvents']);
  });
  events.all(methodNotAllowed('POST'));
  const deletions = router.route('/event-types/:name/deleted-events');
  deletions.post(async (request, response) => {
    refuseConsumerTag(request);
    const outcome = await publisher.deleteKeys(request.params.name, await readBody(request));
    if (outcome.status === 200) response.status(200).end();
    else response.status(outcome.status).json(outcome.items.map(withoutOffset) satisfies Responses['deleteEvents']);
  });
  deletions.all(methodNotAllowed('POST'));
  return router;
}

/** @throws UNPROCESSABLE */
function refuseConsumerTag({ headers }: Request): void {
  if (headers['x-consumer-tag'] !== undefined) throw new LendstreamError('UNPROCESSABLE', consumerTagRefusal);
}

/** The offset of an event is for callers within the process; clients read it from their streams. */
function withoutOffset({
  publishing_status,
  detail,
  step,
  eid,
  partition,
}: PublishedItem): Omit<PublishedItem, 'offset'> {
  return { publishing_status, detail, step, eid, partition };
}
