import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { FieldViolations, LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { discardBody } from './bodies/discarded-bodies.ts';
import { setRetryHeaders } from './retry-headers.ts';

/** The streaming API's one error format: RFC 7807 problem+json, keys in the order title, status, detail, code. */
export function sendProblem(
  response: Response,
  error: LendstreamError,
  extensions: Record<string, unknown> = {},
): void {
  response.status(error.status).set('Content-Type', 'application/problem+json');
  setRetryHeaders(response, error);
  discardBody(response);
  response.end(problemText(error, extensions));
}

/** The body of a problem. */
export function problemText(error: LendstreamError, extensions: Record<string, unknown> = {}): string {
  const type = error instanceof FieldViolations ? { type: 'http://httpstatus.es/422' } : {};
  const { title, status, message: detail, code } = error;
  return JSON.stringify({ ...type, title, status, detail, code, ...extensions });
}

/** Reads the error that Express throws for a request that it cannot read, such as one with a malformed URL. */
function expressError(error: unknown): LendstreamError | undefined {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500
    ? new LendstreamError('MALFORMED_REQUEST', describeError(error))
    : undefined;
}

/** The last handler: every error that is left becomes a problem. An unforeseen error is logged with a token. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent) {
      // The headers are sent, so the error cannot be reported. Cutting the connection shows the client that the
      // response failed.
      logger.error({ error: describeError(error), path: request.path }, 'A response was cut off by an error');
      response.destroy();
      return;
    }
    const expectedError = error instanceof LendstreamError ? error : expressError(error);
    if (expectedError !== undefined && expectedError.code !== 'INTERNAL') {
      sendProblem(response, expectedError);
      return;
    }
    const token = randomBytes(12).toString('hex');
    logger.error(
      { token, method: request.method, path: request.path, error: error instanceof Error ? error.stack : error },
      'A request failed unexpectedly',
    );
    const detail = `An internal error happened. Please report it. (${token})`;
    sendProblem(response, new LendstreamError('INTERNAL', detail));
  };
}

/** 404 for a path that no route has. */
export const pathNotFound: RequestHandler = (request, response) => {
  sendProblem(response, new LendstreamError('NOT_FOUND', `There is no resource at ${request.path}.`));
};

/** Ends a route's chain of methods: `router.route(path).get(...).all(methodNotAllowed('GET'))`. OPTIONS gets 200. */
export function methodNotAllowed(...allowed: string[]): RequestHandler {
  return (request, response) => {
    response.set('Allow', allowed.join(','));
    if (request.method === 'OPTIONS') {
      response.status(200).end();
      return;
    }
    sendProblem(
      response,
      new LendstreamError('METHOD_NOT_ALLOWED', `Request method '${request.method}' is not supported here.`),
    );
  };
}
