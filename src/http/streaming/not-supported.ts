import { Router, type Request } from 'express';
import { LendstreamError } from '../../errors.ts';
import { mediaTypeIn, mediaTypesAccepted } from '../edge/bodies/media-types.ts';

const timelines =
  'There are no timelines: the events of an event type stay in one topic. Kafka moves partitions between its brokers by itself.';

const storages =
  'There are no storages: a service has one log, the embedded store or the Kafka of KAFKA_BROKERS, set when it starts.';

const avro =
  'There is no Avro: events are JSON, and the schema of an event type is a JSON Schema, at /event-types/{name}/schemas.';

const admins =
  'There is no list of administrators: who has the role admin is decided by the scopes of API keys, at /api-keys.';

/** What Nakadi's clients call the form of Avro that they send and accept. */
const avroType = 'application/avro-binary';

/** Whether the body of a request is declared as Avro. */
export function isAvroBody({ headers }: Request): boolean {
  const { 'content-type': contentType } = headers;
  return contentType !== undefined && mediaTypeIn(contentType) === avroType;
}

/**
 * Refuses a stream of Avro: a client that accepts nothing else could not read JSON.
 * @throws UNPROCESSABLE
 */
export function refuseAvroStream({ headers }: Request): void {
  const accepted = mediaTypesAccepted(headers.accept ?? '');
  if (accepted.length > 0 && accepted.every((type) => type === avroType))
    throw new LendstreamError('UNPROCESSABLE', 'Avro is not supported: streams are JSON.');
}

/** The paths of Nakadi's API that this one does not have, and why. */
export const unsupportedPaths: readonly (readonly [path: string, reason: string])[] = [
  ['/event-types/:name/timelines', timelines],
  ['/storages', storages],
  ['/storages/:id', storages],
  ['/storages/default/:id', storages],
  ['/avro-schemas/:name/versions', avro],
  ['/avro-schemas/:name/versions/:version', avro],
  ['/settings/admins', admins],
];

/** Answers what this API leaves out of Nakadi's with 501 and the reason: a 404 would look like a wrong address. */
export function createNotSupportedRouter(): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, reason] of unsupportedPaths) {
    router.route(path).all((request) => {
      request.resume();
      throw new LendstreamError('NOT_IMPLEMENTED', reason);
    });
  }
  return router;
}
