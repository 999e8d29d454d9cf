import type { Request } from 'express';
import { apiPath, isLendingPath, isMambuStreamingPath } from './request-paths.ts';

/** The versions of Mambu's streaming API. */
export type MambuStreamingVersion = 1 | 2;

/** The media type of the second version among those that a client accepts. */
const secondVersionAccepted = /(?:^|,)\s*application\/vnd\.mambu\.v2\+json\s*(?:[;,]|$)/i;

/**
 * The version of Mambu's streaming API that a request is made to; undefined when it is made to another API. The first
 * one has a path of its own. On the other path, a request that does not accept the second version is one of the first.
 */
export function mambuStreamingVersionOf({
  path,
  headers,
}: Pick<Request, 'path' | 'headers'>): MambuStreamingVersion | undefined {
  if (!isMambuStreamingPath(path)) return undefined;
  return path.startsWith(`${apiPath}/v1/`) || !secondVersionAccepted.test(headers.accept ?? '') ? 1 : 2;
}

/** Whether refusals of a request have the format of the lending API, as those of version 2 of any API of Mambu have. */
export function hasLendingErrors(request: Request): boolean {
  return isLendingPath(request.path) || mambuStreamingVersionOf(request) === 2;
}
