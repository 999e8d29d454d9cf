import type { RequestHandler } from 'express';
import type { Overload, ShedWork } from '../../edge/overload/overload.ts';
import { findOperations } from '../operation-lookup.ts';
import type { Operation } from '../operation-permissions.ts';

/** The operations that open a stream. */
const streamIds = new Set(['openStream', 'openStreamWithBody', 'openMambuStreamV1', 'openMambuStreamV2', 'readEvents']);

/** What an operation begins; undefined for one that an overloaded process serves as well. */
export function shedWorkOf({ id, permission }: Operation): ShedWork | undefined {
  if (streamIds.has(id)) return 'streams';
  return permission === 'events:publish' || permission.startsWith('loan-commands:') ? 'publishing' : undefined;
}

/**
 * Refuses new streams and new events while the process is overloaded. Mount it before the authentication: a refusal
 * must cost little, and must not use up the stream token of its request.
 */
export function createLoadShedding(overload: Overload): RequestHandler {
  return (request, _response, next) => {
    if (overload.isOverloaded) {
      const work = workOf(request.method, request.path);
      if (work !== undefined) overload.admit(work);
    }
    next();
  };
}

function workOf(method: string, path: string): ShedWork | undefined {
  try {
    return findOperations(method, path)
      .map(({ operation }) => shedWorkOf(operation))
      .find((work) => work !== undefined);
  } catch {
    // The path cannot be decoded: the router says so.
    return undefined;
  }
}
