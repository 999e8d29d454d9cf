import { Router } from 'express';
import type { AccessControl } from '../../access/access-control.ts';
import type { Principal } from '../../access/principal.ts';
import { findSubscription } from '../../broker/definitions/subscription-lookup.ts';
import type { EventTypes } from '../../broker/event-types/event-types.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { toTimestamp } from '../../clock.ts';
import type { Responses } from '../../contract.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import { principalOf } from '../access/principal-of-request.ts';
import type { StreamKind } from '../access/stream-subject.ts';
import type { StreamTokens } from '../access/stream-tokens.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

export interface StreamTokensServices {
  readonly registry: Registry;
  readonly eventTypes: EventTypes;
  readonly tokens: StreamTokens;
  readonly access: AccessControl;
}

/** `POST /stream-tokens`: a token with which a browser opens one stream, without a key. */
export function createStreamTokensRouter({ registry, eventTypes, tokens, access }: StreamTokensServices): Router {
  const router = Router({ caseSensitive: true });

  async function requireExistence(principal: Principal, kind: StreamKind, name: string): Promise<void> {
    try {
      await access.check(principal, { kind: kind === 'subscriptions' ? 'subscription' : 'event-type', name }, 'read');
      await (kind === 'subscriptions' ? findSubscription(registry, name) : eventTypes.get(name));
    } catch (error) {
      throw isLendstreamError(error, 'NOT_FOUND') ? new LendstreamError('UNPROCESSABLE', error.message) : error;
    }
  }

  router
    .route('/stream-tokens')
    .post(async (request, response) => {
      const body = await readJsonObject<'createStreamToken'>(request);
      const { subscription_id: subscriptionId, event_type: eventType } = body;
      const [kind, name] = subjectOf(subscriptionId, eventType);
      const principal = principalOf(response);
      await requireExistence(principal, kind, name);
      const { token, expiresAt } = await tokens.issue(principal, `${kind}/${name}`);
      response.status(201).json({ token, expires_at: toTimestamp(expiresAt) } satisfies Responses['createStreamToken']);
    })
    .all(methodNotAllowed('POST'));
  return router;
}

/** @throws UNPROCESSABLE unless exactly one of the two is a text */
function subjectOf(subscriptionId: unknown, eventType: unknown): [StreamKind, string] {
  if (typeof subscriptionId === 'string' && eventType === undefined) return ['subscriptions', subscriptionId];
  if (typeof eventType === 'string' && subscriptionId === undefined) return ['event-types', eventType];
  throw new LendstreamError(
    'UNPROCESSABLE',
    'Exactly one of "subscription_id" and "event_type" must be given, a text.',
  );
}
