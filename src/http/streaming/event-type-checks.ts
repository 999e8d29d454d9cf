import { Router, type Request } from 'express';
import { writtenValueAt } from '../../broker/publishing/json-as-written.ts';
import { checkDefinition, checkEvent } from '../../broker/publishing/dry-run.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import { readEventType, type EventTypeDefinition } from '../../broker/event-types/requested-event-type.ts';
import { readBoundedSchema } from '../../broker/schemas/admin-schema.ts';
import { nextSchemaVersion } from '../../broker/schemas/schema-evolution.ts';
import { toTimestamp, type Clock } from '../../clock.ts';
import type { Responses, Requests, Schemas, Unread } from '../../contract.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import { parseJsonObject, readBody, readJsonObject } from '../edge/request-body.ts';
import type { EventTypesServices } from './partitions.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { comparedSchemaTextOf } from './schema-text.ts';

export interface EventTypeChecksServices extends EventTypesServices {
  readonly clock: Clock;
}

/**
 * Verdicts before anything is saved: POST /registry/event-type-checks about a definition, an event or both, and
 * POST /event-types/{name}/schemas/{version}/compatibility-check about a schema alone.
 */
export function createEventTypeChecksRouter(services: EventTypeChecksServices): Router {
  const { eventTypes, clock } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/registry/event-type-checks')
    .post(async (request, response) => {
      const body = await readBody(request);
      const { event_type: subject }: Unread<Requests['checkEventType']> = parseJsonObject(body);
      const event = writtenValueAt(body, body.indexOf('{'), ['event']);
      const now = toTimestamp(clock.now());
      if (typeof subject === 'string') {
        const record = await eventTypes.get(subject);
        const { version } = record.eventType.schema;
        const unchanged = { ...existingTypeOutcome, current_version: version, version };
        response.json({ ...unchanged, event: await eventVerdict(record, event) } satisfies Responses['checkEventType']);
        return;
      }
      if (typeof subject !== 'object' || subject === null || Array.isArray(subject)) {
        const detail = 'Field "event_type" must be a definition of an event type, or the name of one';
        throw new LendstreamError('MALFORMED_REQUEST', detail);
      }
      const definition = subject as Record<string, unknown>;
      const name = typeof definition['name'] === 'string' ? definition['name'] : '';
      const current = name === '' ? undefined : await eventTypes.find(name);
      const read = (): EventTypeDefinition => {
        const requested = readEventType(definition, eventTypes.limits);
        if (current === undefined) eventTypes.refuseSimilarName(requested.name);
        return requested;
      };
      const { outcome, record } = checkDefinition(current, read, now, eventTypes.limits);
      const eventOutcome = record === undefined ? null : await eventVerdict(record, event);
      response.json({ ...outcome, event: eventOutcome } satisfies Responses['checkEventType']);
    })
    .all(methodNotAllowed('POST'));
  router
    .route('/event-types/:name/schemas/:version/compatibility-check')
    .post(async (request, response) => {
      response.json(await compatibilityOf(services, request));
    })
    .all(methodNotAllowed('POST'));
  return router;
}

/** The verdict on an event type that is checked by its name: it exists and does not change. */
const existingTypeOutcome = { valid: true, detail: null, violations: [], changes: [] };

/**
 * @param event The JSON text of the event to check against the schema; undefined when only the definition is checked.
 */
async function eventVerdict(
  record: EventTypeRecord,
  event: string | undefined,
): Promise<Schemas['EventTypeCheck']['event']> {
  if (event === undefined) return null;
  const violations = await checkEvent(record, event);
  return { valid: violations.length === 0, violations };
}

/** Whether a schema may follow the one of this version, and why not when it may not. */
async function compatibilityOf(
  { eventTypes }: EventTypeChecksServices,
  request: Request<{ name: string; version: string }>,
): Promise<Responses['checkCompatibility']> {
  const { name, version } = request.params;
  const { compatibility_mode: mode } = (await eventTypes.get(name)).eventType;
  const base = await eventTypes.schema(name, version);
  const next = readBoundedSchema(comparedSchemaTextOf(await readJsonObject<'checkCompatibility'>(request)));
  const commonFields = { compatibility_mode: mode, version: base.version };
  try {
    nextSchemaVersion(readBoundedSchema(base.schema), next, mode, base.version);
    return { compatible: true, ...commonFields, error: null };
  } catch (error) {
    if (!isLendstreamError(error, 'UNPROCESSABLE')) throw error;
    return { compatible: false, ...commonFields, error: error.message };
  }
}
