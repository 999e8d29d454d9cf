import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { type ErrorCode, LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { discardBody } from './bodies/discarded-bodies.ts';
import { type ApiError, apiErrors } from '../../lending-format/refusal-format.ts';
import { setRetryHeaders } from './retry-headers.ts';

/**
 * The lending API's one error format, `{"errors":[{errorCode, errorReason, errorSource}]}`, and the only place that
 * writes it. Refusals by the lending rules bring their own names and numbers; those about the request itself are here.
 */

/** Names and numbers of the lending API for errors of the request itself. Numbers from 10000 are this service's own. */
const requestErrorCodes = {
  INVALID_BASIC_AUTHORIZATION: 1,
  INVALID_CREDENTIALS: 2,
  INVALID_API_OPERATION: 3,
  INVALID_PARAMETERS: 4,
  INTERNAL_ERROR: 6,
  INVALID_PERMISSIONS: 15,
  ANOTHER_TASK_IN_PROGRESS: 10_001,
  IDEMPOTENCY_KEY_ALREADY_USED: 10_002,
  SERVICE_UNAVAILABLE: 10_003,
  REQUEST_LIMIT_EXCEEDED: 10_004,
} as const;

export type RequestErrorReason = keyof typeof requestErrorCodes;

/** When to repeat a request that met the same one still under way. Seconds. */
const retryInProgressSeconds = 5;

/**
 * A failure whose errors the API names. The handlers of the lending routes throw it and their error handler writes it.
 */
export class LendingErrors extends LendstreamError {
  readonly errors: readonly ApiError[];

  constructor(code: ErrorCode, errors: readonly ApiError[]) {
    super(code, errors.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource}`).join('; '));
    this.name = 'LendingErrors';
    this.errors = errors;
  }
}

/** One error of the request itself. @param source The field, header or resource, or a sentence. */
export function requestError(errorReason: RequestErrorReason, source: string): ApiError {
  return { errorCode: requestErrorCodes[errorReason], errorReason, errorSource: source };
}

/** 400 for a parameter or field that cannot be read. */
export function invalidParameter(source: string): LendingErrors {
  return new LendingErrors('MALFORMED_REQUEST', [requestError('INVALID_PARAMETERS', source)]);
}

/** 400 for a body that is not the JSON that the request needs. */
export function malformedBody(reason: string): LendingErrors {
  return new LendingErrors('MALFORMED_REQUEST', [
    requestError('INVALID_PARAMETERS', `The body cannot be read: ${reason}`),
  ]);
}

/** 404 for a resource in the path that does not exist. @param source The path parameter. */
export function resourceNotFound(source: string): LendingErrors {
  return new LendingErrors('NOT_FOUND', [requestError('INVALID_PARAMETERS', source)]);
}

/** 404 for a loan that does not exist. */
export function loanNotFound(): LendingErrors {
  return new LendingErrors(
    'NOT_FOUND',
    apiErrors([{ errorReason: 'INVALID_LOAN_ACCOUNT_ID', errorSource: 'loanAccountId' }]),
  );
}

/** 404 for a transaction that does not exist. */
export function transactionNotFound(): LendingErrors {
  return new LendingErrors(
    'NOT_FOUND',
    apiErrors([{ errorReason: 'INVALID_TRANSACTION_ID', errorSource: 'transactionId' }]),
  );
}

/** The lending API's name for each error code; a code that is not listed is this service's own fault. */
const requestErrorReasons: Readonly<Partial<Record<ErrorCode, RequestErrorReason>>> = {
  MALFORMED_REQUEST: 'INVALID_PARAMETERS',
  NOT_ACCEPTABLE: 'INVALID_PARAMETERS',
  REQUEST_TOO_LARGE: 'INVALID_PARAMETERS',
  UNSUPPORTED_MEDIA_TYPE: 'INVALID_PARAMETERS',
  UNPROCESSABLE: 'INVALID_PARAMETERS',
  RECORD_TOO_LARGE: 'INVALID_PARAMETERS',
  FORBIDDEN: 'INVALID_API_OPERATION',
  PERMISSION_MISSING: 'INVALID_PERMISSIONS',
  MISDIRECTED_REQUEST: 'INVALID_API_OPERATION',
  NOT_FOUND: 'INVALID_API_OPERATION',
  METHOD_NOT_ALLOWED: 'INVALID_API_OPERATION',
  GONE: 'INVALID_API_OPERATION',
  CONFLICT: 'ANOTHER_TASK_IN_PROGRESS',
  TOO_MANY_REQUESTS: 'REQUEST_LIMIT_EXCEEDED',
};

/** The error handler of the lending routes; mount it on their paths alone. */
export function lendingErrorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent) {
      // The headers are sent, so the error cannot be reported. Cutting the connection shows the client that the
      // response failed.
      const path = pathOf(request.originalUrl);
      logger.error({ error: describeError(error), path }, 'A response was cut off by an error');
      response.destroy();
      return;
    }
    const expectedError = expectedErrorOf(error);
    if (expectedError !== undefined) {
      sendLendingError(response, expectedError);
      return;
    }
    const token = randomBytes(12).toString('hex');
    logger.error(
      {
        token,
        method: request.method,
        path: pathOf(request.originalUrl),
        error: error instanceof Error ? error.stack : error,
      },
      'A request failed unexpectedly',
    );
    sendErrors(response, 500, [requestError('INTERNAL_ERROR', `An internal error happened. Please report ${token}.`)]);
  };
}

/** 404 for a path that no lending route has. */
export const lendingPathNotFound: RequestHandler = (request, response) => {
  const message = `There is no resource at ${pathOf(request.originalUrl)}.`;
  sendErrors(response, 404, [requestError('INVALID_API_OPERATION', message)]);
};

/** Ends a lending route's chain of methods: `router.route(path).get(...).all(lendingMethodNotAllowed('GET'))`. */
export function lendingMethodNotAllowed(...allowed: string[]): RequestHandler {
  return (request, response) => {
    response.set('Allow', allowed.join(','));
    sendErrors(response, 405, [requestError('INVALID_API_OPERATION', `${request.method} is not supported here.`)]);
  };
}

/** The body of a response that refuses. */
export function errorBody(errors: readonly ApiError[]): string {
  return JSON.stringify({ errors });
}

function expectedErrorOf(error: unknown): LendstreamError | undefined {
  if (error instanceof LendingErrors) return error;
  if (error instanceof LendstreamError) return error.code === 'INTERNAL' ? undefined : error;
  // Express throws this for a request that it cannot read, such as one with a malformed escape in the path.
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500
    ? new LendstreamError('MALFORMED_REQUEST', describeError(error))
    : undefined;
}

function sendLendingError(response: Response, error: LendstreamError): void {
  setRetryHeaders(response, error);
  if (error.code === 'CONFLICT') response.set('Retry-After', String(retryInProgressSeconds));
  if (error instanceof LendingErrors) {
    sendErrors(response, error.status, error.errors);
    return;
  }
  if (error.code === 'UNAUTHORIZED') {
    sendErrors(response, error.status, [unauthorizedError(error)]);
    return;
  }
  const fallback = error.retriable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
  sendErrors(response, error.status, [requestError(requestErrorReasons[error.code] ?? fallback, error.message)]);
}

/** Clients of the original compare the whole error, so the sentence for people is a field of its own. */
function unauthorizedError({ message, details }: LendstreamError): ApiError {
  const isBroken = details['isBasicAuthorizationBroken'] === true;
  const reason = isBroken ? 'INVALID_BASIC_AUTHORIZATION' : 'INVALID_CREDENTIALS';
  return { ...requestError(reason, 'credentials'), errorMessage: message };
}

function sendErrors(response: Response, status: number, errors: readonly ApiError[]): void {
  response.status(status).type('application/json');
  discardBody(response);
  response.end(errorBody(errors));
}

/** Without the query, which may say something about a person: a log is not where that belongs. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}
