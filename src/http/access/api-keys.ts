import { Router, type Response as HttpResponse } from 'express';
import type { ApiKeys } from '../../access/api-keys.ts';
import { permissionTexts, rolePermissions } from '../../access/permissions.ts';
import type { Responses } from '../../contract.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { principalOf } from './principal-of-request.ts';

export interface ApiKeysRouterOptions {
  readonly keys: ApiKeys;
  /** Whether requests without credentials pass. */
  readonly isOpen: boolean;
}

/** `/api-keys`: creating, showing and revoking keys. `GET /access`: who the sender is, and what it may do. */
export function createApiKeysRouter({ keys, isOpen }: ApiKeysRouterOptions): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/api-keys')
    .get(async (_request, response) => {
      response.json({ items: await keys.list() } satisfies Responses['listApiKeys']);
    })
    .post(async (request, response) => {
      const { key, shown } = await keys.create(await readJsonObject<'createApiKey'>(request), principalOf(response));
      response.set('Location', `/api-keys/${shown.name}`);
      response.status(201).json({ ...shown, key } satisfies Responses['createApiKey']);
    })
    .all(methodNotAllowed('GET', 'POST'));
  router
    .route('/api-keys/:name')
    .get(async (request, response) => {
      response.json((await keys.get(request.params.name)) satisfies Responses['getApiKey']);
    })
    .delete(async (request, response) => {
      await keys.revoke(request.params.name);
      response.status(204).end();
    })
    .all(methodNotAllowed('GET', 'DELETE'));
  router
    .route('/access')
    .get((_request, response) => {
      response.json({
        open: isOpen,
        principal: shownPrincipal(response),
        roles: rolesShown,
        permissions: permissionsShown,
      } satisfies Responses['getAccess']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

function shownPrincipal(response: HttpResponse): Responses['getAccess']['principal'] {
  const { name, application, scopes, permissions } = principalOf(response);
  return { name, application, scopes: [...scopes], permissions: [...permissions].sort() };
}

const rolesShown = Object.entries(rolePermissions).map(([name, permissions]) => ({
  name,
  permissions: [...permissions],
}));

const permissionsShown = Object.entries(permissionTexts).map(([name, text]) => ({ name, text }));
