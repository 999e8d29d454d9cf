import { type Request, type RequestHandler, Router } from 'express';
import { mediaTypeIn, mediaTypesAccepted } from '../edge/bodies/media-types.ts';
import { LendingErrors, requestError } from '../edge/lending-errors.ts';
import { apiPath, isLendingPath } from '../edge/request-paths.ts';

/** The release of the core banking service whose lending behaviour this is, as its notes write it. */
export const behaviourRelease = 'v9.173.2';

/** The version of the lending API; clients name it in the media type of their requests. */
const apiVersion = 2;

const mediaType = `application/vnd.mambu.v${apiVersion}+json`;

/** A media type that names a version of the lending API. */
const versionedType = /^application\/vnd\.mambu\.v(\d+)\+/;

/** What the JSON of a response satisfies, apart from {@link mediaType}. */
const acceptingTypes: ReadonlySet<string> = new Set(['*/*', 'application/*', 'application/json']);

/** The methods whose body is not read, whatever its type. */
const bodilessMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Refuses a request of lending that asks for another version of the API, or whose body is written for another: what it
 * names does not exist here, and a body of one version may be readable and mean something else in another.
 */
export const requireSupportedVersion: RequestHandler = (request, _response, next) => {
  if (isLendingPath(request.path)) refuseOtherVersions(request);
  next();
};

/** @throws NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE */
function refuseOtherVersions({ method, headers }: Request): void {
  const { accept = '' } = headers;
  if (accept !== mediaType && accept !== '' && isOnlyForOtherVersions(accept)) {
    const asked = `Accept: the lending API answers in version ${apiVersion} (${mediaType}) and in no other.`;
    throw new LendingErrors('NOT_ACCEPTABLE', [requestError('INVALID_API_OPERATION', asked)]);
  }
  if (bodilessMethods.has(method)) return;
  if (isOtherVersion(mediaTypeIn(headers['content-type'] ?? ''))) {
    const sent = `Content-Type: the lending API reads bodies of version ${apiVersion} (${mediaType}) and of no other.`;
    throw new LendingErrors('UNSUPPORTED_MEDIA_TYPE', [requestError('INVALID_API_OPERATION', sent)]);
  }
}

/**
 * Whether a client asks for another version and accepts nothing else that a response could be. A client that names no
 * version is not asked for one.
 */
function isOnlyForOtherVersions(accept: string): boolean {
  const accepted = mediaTypesAccepted(accept);
  return accepted.some(isOtherVersion) && !accepted.some((type) => type === mediaType || acceptingTypes.has(type));
}

function isOtherVersion(type: string): boolean {
  const version = versionedType.exec(type)?.[1];
  return version !== undefined && Number(version) !== apiVersion;
}

/** The paths that the first version of pricing had, which every request is told are gone. */
export function createDecommissionedRouter(): Router {
  const router = Router({ caseSensitive: true });
  const path = '/pricing/v1';
  router.use([path, `${apiPath}${path}`], () => {
    const instead = 'POST /loans/{loanAccountId}/repayment-transactions';
    const message = `The endpoints of Pricing V1 are decommissioned. Use the repayments of API V2: ${instead}.`;
    throw new LendingErrors('GONE', [requestError('INVALID_API_OPERATION', message)]);
  });
  return router;
}
