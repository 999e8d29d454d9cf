import { Router } from 'express';
import {
  blacklistTypes,
  block,
  newestBlacklist,
  unblock,
  type BlacklistType,
} from '../../broker/definitions/blacklist.ts';
import { newestFeatures, switchFeature, switchableFeatures } from '../../broker/definitions/feature-switches.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

/** Features of Nakadi for whose parts there is nothing here that could be switched. */
const featuresWithoutParts: readonly string[] = [
  'access_log_enabled',
  'audit_log_collection',
  'dlq_redrive_event_type_attachment_job',
  'event_owner_selector_authz',
  'event_type_deletion_only_admins',
  'force_data_lake_annotations',
  'kpi_collection',
  'remote_tokeninfo',
  'repartitioning',
  'return_body_on_create_update_event_type',
  'skip_misplaced_events',
  'token_subscriptions_iteration',
  'validate_event_type_owning_app',
  'validate_subscription_owning_app',
];

/** `/settings`: whom operators have blocked, and the features that they have switched. */
export function createSettingsRouter({ registry }: { readonly registry: Registry }): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/settings/blacklist')
    .get(async (_request, response) => {
      const names = await newestBlacklist(registry);
      response.json({
        consumers: { event_types: names.CONSUMER_ET, apps: names.CONSUMER_APP },
        producers: { event_types: names.PRODUCER_ET, apps: names.PRODUCER_APP },
      } satisfies Responses['getBlacklist']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/settings/blacklist/:type/:name')
    .put(async (request, response) => {
      request.resume();
      await block(registry, blacklistTypeOf(request.params.type), request.params.name);
      response.status(204).end();
    })
    .delete(async (request, response) => {
      await unblock(registry, blacklistTypeOf(request.params.type), request.params.name);
      response.status(204).end();
    })
    .all(methodNotAllowed('PUT', 'DELETE'));
  router
    .route('/settings/features')
    .get(async (_request, response) => {
      response.json({ items: await newestFeatures(registry) } satisfies Responses['listFeatures']);
    })
    .post(async (request, response) => {
      const { feature: name, enabled } = await readJsonObject<'switchFeature'>(request);
      if (typeof name !== 'string' || typeof enabled !== 'boolean') {
        throw new LendstreamError('MALFORMED_REQUEST', 'feature must be a text, and enabled true or false.');
      }
      const wanted = name.toLowerCase();
      const feature = switchableFeatures.find((known) => known === wanted);
      if (feature === undefined) throw unknownFeature(wanted);
      await switchFeature(registry, feature, enabled);
      response.status(204).end();
    })
    .all(methodNotAllowed('GET', 'POST'));
  return router;
}

/** @throws MALFORMED_REQUEST */
function blacklistTypeOf(text: string): BlacklistType {
  const type = blacklistTypes.find((known) => known === text.toUpperCase());
  if (type !== undefined) return type;
  const detail = `A type of the blacklist is one of ${blacklistTypes.join(', ')}, but was '${text}'.`;
  throw new LendstreamError('MALFORMED_REQUEST', detail);
}

function unknownFeature(name: string): LendstreamError {
  if (featuresWithoutParts.includes(name)) {
    return new LendstreamError(
      'NOT_IMPLEMENTED',
      `The feature ${name} cannot be switched: the service has no part for it.`,
    );
  }
  const detail = `The features are ${switchableFeatures.join(', ')}, but not '${name}'.`;
  return new LendstreamError('MALFORMED_REQUEST', detail);
}
