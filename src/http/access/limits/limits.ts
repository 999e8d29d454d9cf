import type { RequestHandler } from 'express';
import type { Usages } from '../../../access/limits/usage.ts';
import { setBodyAllowance } from '../../edge/bodies-in-flight.ts';
import { principalOf } from '../principal-of-request.ts';
import { isPublicPath } from '../public-paths.ts';
import { setUsage } from './usage-of-response.ts';

/**
 * Counts each request against the limits of its principal, and refuses those beyond. Mount it after the authentication.
 * Probes are never counted: a process that is busy must not look dead.
 */
export function createLimits(usages: Usages): RequestHandler {
  return (request, response, next) => {
    const usage = usages.of(principalOf(response));
    if (usage === undefined || isPublicPath(request.path)) return next();
    setUsage(response, usage);
    usage.countRequest();
    setBodyAllowance(response, usage);
    return next();
  };
}
