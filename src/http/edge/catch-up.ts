import type { RequestParamHandler } from 'express';
import type { Registry, RegistryKind } from '../../broker/definitions/registry.ts';

/**
 * For `router.param`: a client that made a definition on one node may use it on another at once. A name that this
 * process does not know is looked up again after catching up; one that it knows costs nothing.
 */
export function catchUpOnMiss(registry: Registry, kind: RegistryKind): RequestParamHandler {
  return async (_request, _response, next, name: string) => {
    if (registry.get(kind, name) === undefined) await registry.find(kind, name);
    next();
  };
}
