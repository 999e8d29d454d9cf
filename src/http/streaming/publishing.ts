import { Router, type Request } from 'express';
import { isAnythingBlocked, isPublishingBlocked } from '../../broker/definitions/blacklist.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { LettersOfDeletedKeys } from '../../broker/dead-letters/letters-of-deleted-keys.ts';
import type { LetterKey } from '../../broker/definitions/deleted-letter-keys.ts';
import type { EventType } from '../../broker/definitions/event-type.ts';
import type { EventTypes } from '../../broker/event-types/event-types.ts';
import { isRetryable, type PublishedItem } from '../../broker/publishing/response-items.ts';
import type { Publisher, PublishOutcome } from '../../broker/publishing/publisher.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { usageOf } from '../access/limits/usage-of-response.ts';
import { publishedTypes, refuseCommands } from '../access/published-commands.ts';
import { principalOf } from '../access/principal-of-request.ts';
import { textParameters } from '../edge/query-parameters.ts';
import { readBody } from '../edge/request-body.ts';
import { traceparentOf } from '../edge/trace-context.ts';
import { isAvroBody } from './not-supported.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

export interface PublishingServices {
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly eventTypes: EventTypes;
  /** Absent where there are no dead letters. */
  readonly lettersOfDeletedKeys?: Pick<LettersOfDeletedKeys, 'hide'>;
}

/** Nakadi shows events with this header to one subscription alone. Ignoring it would show them to all. */
const consumerTagRefusal =
  'X-CONSUMER-TAG is not supported: every subscription of an event type gets all of its events. Nothing was stored.';

const avroEventsRefusal = 'Avro is not supported: events are JSON. Nothing was stored.';

const avroDeletionsRefusal = 'Avro is not supported: keys to delete are named in JSON. Nothing was deleted.';

/**
 * POST /event-types/{name}/events and POST /event-types/{name}/deleted-events. Reading events is in
 * event-type-events.ts.
 */
export function createPublishingRouter(services: PublishingServices): Router {
  const { publisher, registry } = services;
  const router = Router({ caseSensitive: true });
  const events = router.route('/event-types/:name/events');
  events.post(async (request, response) => {
    refuseUnsupported(request, avroEventsRefusal);
    if (isAnythingBlocked(registry)) await refuseBlockedProducer(services, request.params.name);
    const shown = itemForm(request);
    const principal = principalOf(response);
    const body = await readBody(request);
    const turn = usageOf(response)?.takeTurn(body.length);
    if (turn !== undefined) await turn;
    const isCommands = request.params.name === loanCommandsTopic;
    if (isCommands) refuseCommands(principal, body);
    const flowId = request.headers['x-flow-id'];
    const outcome = await publisher.publish(request.params.name, body, {
      flowId: typeof flowId === 'string' ? flowId : '',
      traceparent: traceparentOf(request),
      publishedBy: principal.name,
    });
    // The audit records them.
    if (isCommands) response.locals.commandTypes = publishedTypes(body, outcome.items);
    if (outcome.status === 200) response.status(200).end();
    else response.status(outcome.status).json(outcome.items.map(shown) satisfies Responses['publishEvents']);
  });
  events.all(methodNotAllowed('POST'));
  const deletions = router.route('/event-types/:name/deleted-events');
  deletions.post(async (request, response) => {
    refuseUnsupported(request, avroDeletionsRefusal);
    if (isAnythingBlocked(registry)) await refuseBlockedProducer(services, request.params.name);
    const shown = itemForm(request);
    const { name } = request.params;
    const body = await readBody(request);
    const outcome = await publisher.deleteKeys(name, body);
    const { lettersOfDeletedKeys } = services;
    if (lettersOfDeletedKeys !== undefined && outcome.status !== 422) {
      const { eventType } = await services.eventTypes.get(name);
      await lettersOfDeletedKeys.hide(deletedKeys(eventType, body, outcome));
    }
    if (outcome.status === 200) response.status(200).end();
    else response.status(outcome.status).json(outcome.items.map(shown) satisfies Responses['deleteEvents']);
  });
  deletions.all(methodNotAllowed('POST'));
  return router;
}

/** The keys of a request whose deletions are stored. */
function deletedKeys(
  { name: eventType, partition_strategy: strategy }: EventType,
  body: Buffer,
  { status, items }: PublishOutcome,
): LetterKey[] {
  type Deletion = { readonly metadata: { readonly partition_compaction_key: string; readonly partition?: string } };
  const deletions = JSON.parse(body.toString()) as readonly Deletion[];
  const stored = deletions.filter((_, index) => status === 200 || items[index]?.publishing_status === 'submitted');
  return stored.map(({ metadata: { partition_compaction_key: key, partition } }) => {
    return { eventType, key, partition: strategy === 'user_defined' ? (partition ?? null) : null };
  });
}

/** @throws UNPROCESSABLE for what would otherwise be accepted and ignored */
function refuseUnsupported(request: Request, avroRefusal: string): void {
  if (isAvroBody(request)) throw new LendstreamError('UNPROCESSABLE', avroRefusal);
  if (request.headers['x-consumer-tag'] !== undefined) throw new LendstreamError('UNPROCESSABLE', consumerTagRefusal);
}

/**
 * Refuses events that operators have blocked, by event type or by its owner.
 * @throws FORBIDDEN, NOT_FOUND for an unknown event type
 */
async function refuseBlockedProducer({ registry, eventTypes }: PublishingServices, name: string): Promise<void> {
  const { eventType } = await eventTypes.get(name);
  if (isPublishingBlocked(registry, name, eventType.owning_application)) {
    throw new LendstreamError('FORBIDDEN', 'Application or event type is blocked');
  }
}

type ShownItem = Omit<PublishedItem, 'offset' | 'retryable'> & { readonly retryable?: boolean };

/**
 * How items are shown: as by the API's origin, and with the fields that `item_details` names.
 * @throws MALFORMED_REQUEST for a name that is not one of them
 */
function itemForm(request: Request): (item: PublishedItem) => ShownItem {
  const details = textParameters(request, 'item_details');
  if (details.length === 0) return plainItem;
  const unknown = details.find((name) => name !== 'retryable');
  if (unknown !== undefined) {
    throw new LendstreamError('MALFORMED_REQUEST', `'item_details' parameter may name retryable, but was '${unknown}'`);
  }
  return (item) => ({ ...plainItem(item), retryable: isRetryable(item) });
}

/** The offset of an event is for callers within the process; clients read it from their streams. */
function plainItem({ publishing_status, detail, step, eid, partition }: PublishedItem): ShownItem {
  return { publishing_status, detail, step, eid, partition };
}
