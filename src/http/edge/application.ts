/**
 * The edge: what every request passes before and after its router.
 * In: HTTP requests. Out: requests that may be served, errors in the form of their API, the pages and /health.
 * Start with `createApplication` below. `body.ts` and `query.ts` read requests, `problem.ts` and `lending-errors.ts`
 * write errors, `json-stream.ts` writes a stream at the pace of its reader.
 */

import express, { type ErrorRequestHandler, type Express, type Request, type Router } from 'express';
import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import { LendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { tellOfConnectionEnd } from './pipelined-responses.ts';
import { contentEncodingOf } from './body.ts';
import { isLendingPath, lendingErrorHandler } from './lending-errors.ts';
import { pathNotFound, problemHandler } from './problem.ts';
import {
  answerUnreadableRequests,
  headersMillisecondsMaximum,
  requestCheckMilliseconds,
  requestMillisecondsMaximum,
} from './client-errors.ts';

/** The flow id of a request: what the client sent, else made here. Echoed on every answer and kept with events. */
export const flowIdHeader = 'X-Flow-Id';

/** The longest flow id: it is kept with each event of the request. Visible ASCII characters. */
export const flowIdCharactersMaximum = 255;

const flowIdPattern = new RegExp(`^[!-~]{1,${flowIdCharactersMaximum}}$`);

/**
 * Puts the routers together. Bodies are read by the routes that want them, so the hot ones cost no more than they must.
 * @param refuseForeign Throws for a request that comes from elsewhere than it may; asked before any router is.
 */
export function createApplication(
  routers: readonly Router[],
  logger: Logger,
  refuseForeign: (request: Request) => void = () => undefined,
): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('query parser', 'simple');
  // No answer has a tag or a time that a client could know it by, so none has changed or not: `If-None-Match: *` would
  // be told otherwise.
  Object.defineProperty(application.request, 'fresh', { value: false });
  application.use((request, response, next) => {
    tellOfConnectionEnd(request, response);
    const sent = request.headers['x-flow-id'];
    const flowId = typeof sent === 'string' && flowIdPattern.test(sent) ? sent : newFlowId();
    request.headers['x-flow-id'] = flowId;
    response.setHeader(flowIdHeader, flowId);
    // Answers hold what only this client may see, and are of the type that they say. Pages say for themselves how long
    // they may be kept.
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (sent !== undefined && sent !== '' && sent !== flowId) throw unusableFlowId();
    refuseUnclear(request);
    refuseForeign(request);
    if (request.method === 'DELETE' && isBodyAnnounced(request)) onceThrownAway(request, next);
    else next();
  });
  for (const router of routers) application.use(router);
  application.use(pathNotFound);
  application.use(refusalHandler(logger));
  return application;
}

/** What no router has answered, in the form of the part of the API that was asked. */
function refusalHandler(logger: Logger): ErrorRequestHandler {
  const [answerProblem, answerLendingErrors] = [problemHandler(logger), lendingErrorHandler(logger)];
  return (error, request, response, next) => {
    const answer = isLendingPath(request.path) ? answerLendingErrors : answerProblem;
    return answer(error, request, response, next);
  };
}

function unusableFlowId(): LendstreamError {
  const form = `at most ${flowIdCharactersMaximum} visible ASCII characters`;
  return new LendstreamError('MALFORMED_REQUEST', `The header ${flowIdHeader} must have ${form}.`);
}

const bodilessMethods = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Refuses what others on the way may understand differently.
 * @throws MALFORMED_REQUEST for a Host header that is missing or there twice (RFC 9112, 3.2) and for a path with an
 *   empty step, NOT_ACCEPTABLE for a compressed body where none is read
 */
function refuseUnclear(request: Request): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new LendstreamError('MALFORMED_REQUEST', 'A request must have a Host header.');
  }
  if (namesTwoHosts(request.rawHeaders)) {
    throw new LendstreamError('MALFORMED_REQUEST', 'A request must have one Host header alone.');
  }
  if (request.path.includes('//')) {
    throw new LendstreamError('MALFORMED_REQUEST', `The path ${request.path} must not contain //.`);
  }
  if (request.headers['content-encoding'] === undefined || !bodilessMethods.has(request.method)) return;
  const encoding = contentEncodingOf(request);
  if (encoding === 'identity') return;
  const detail = `${request.method} method doesn't support ${encoding} content encoding`;
  throw new LendstreamError('NOT_ACCEPTABLE', detail);
}

/** @param rawHeaders Names and values in turn. */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

function isBodyAnnounced({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * Nothing is deleted before the request is there whole: one whose body then turns out to be broken is refused, and
 * nobody would expect it to have been carried out. What reads its body waits for the end of it anyway.
 */
function onceThrownAway(request: Request, next: () => void): void {
  request.on('end', next);
  request.resume();
}

/** Random bytes are drawn ahead for many ids at once, unlike those one asks for by number. */
function newFlowId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 24);
}

/**
 * A server that makes requests and answers as the application wants them. Left to itself, Express changes the prototype
 * of every request and answer, after which the engine shares no layout between them: 2 KB for as long as each lives.
 */
export function createApplicationServer(application: Express): Server {
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {}
  Object.setPrototypeOf(ApplicationRequest.prototype, application.request);
  Object.setPrototypeOf(ApplicationResponse.prototype, application.response);
  application.request = ApplicationRequest.prototype as typeof application.request;
  application.response = ApplicationResponse.prototype as typeof application.response;
  // Nothing is rendered, so nobody needs what Express would make for each answer.
  application.response.locals = Object.freeze({});
  const options = {
    IncomingMessage: ApplicationRequest,
    ServerResponse: ApplicationResponse,
    requestTimeout: requestMillisecondsMaximum,
    headersTimeout: headersMillisecondsMaximum,
    connectionsCheckingInterval: requestCheckMilliseconds,
    // The application asks for it, and tells of its lack in the form of the API.
    requireHostHeader: false,
  };
  const server = createServer(options, application);
  // Left to itself, Node passes over what comes behind the two thousandth. Their length is bounded already.
  server.maxHeadersCount = 0;
  // Whatever else a client expects it may be refused or not (RFC 9110, 10.1.1); Node would refuse in a form of its own.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerUnreadableRequests(server);
  return server;
}
