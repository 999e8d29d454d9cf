/**
 * The edge: the code that every request passes before and after its router.
 * In: HTTP requests. Out: requests that may be served, errors in the format of their API, the pages and /health.
 * Start with `createApplication` below. `request-body.ts` and `query-parameters.ts` read requests,
 * `streaming-errors.ts` and `lending-errors.ts` write errors, `json-stream.ts` writes a stream at the pace of its
 * reader.
 */

import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { randomFillSync } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type Clock, systemClock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { askForBody, waitForBodies } from './bodies/expected-bodies.ts';
import type { CrossOriginAccess } from './browsers/cross-origin-access.ts';
import { compressLongResponses } from './compression/response-compression.ts';
import { emitCloseOnDisconnect } from './pipelined-disconnects.ts';
import { inOrder } from './handlers-in-order.ts';
import { contentEncodingOf } from './request-body.ts';
import { lendingErrorHandler, lendingPathNotFound } from './lending-errors.ts';
import { hasLendingErrors } from './mambu-versions.ts';
import { pathNotFound, problemHandler } from './streaming-errors.ts';
import { createClientCertificateCheck, type ClientCertificatesOptions } from './tls/client-certificates.ts';
import { secureContextOptions, type TlsMaterial } from './tls/tls-files.ts';
import {
  handshakeMillisecondsMaximum,
  respondToClientErrors,
  headersMillisecondsMaximum,
  idleConnectionMilliseconds,
  requestCheckMilliseconds,
  requestMillisecondsMaximum,
} from './unreadable-requests.ts';

/** The flow id of a request: the client's, or one made here. It is echoed on every response and kept with events. */
export const flowIdHeader = 'X-Flow-Id';

/** The longest flow id: it is kept with each event of the request. Visible ASCII characters. */
export const flowIdCharactersMaximum = 255;

const flowIdPattern = new RegExp(`^[!-~]{1,${flowIdCharactersMaximum}}$`);

export interface ApplicationOptions {
  /** The time by which refused bodies are discarded; the system's when absent. */
  readonly clock?: Clock;
  /** Throws for a request from an origin that is not allowed; called before any router. */
  readonly refuseCrossOrigin?: (request: Request) => void;
  /** Lets pages of listed origins read responses; absent when no origin is listed. */
  readonly crossOriginAccess?: CrossOriginAccess | undefined;
  /** Told of every error that ends a request. */
  readonly onError?: (error: unknown, request: Request, response: Response) => void;
  /** Whether the service answers over TLS alone: browsers are told to use nothing else. */
  readonly isTls?: boolean;
  /** Which proxies are trusted, and what clients prove by certificates; neither when absent. */
  readonly clientCertificates?: ClientCertificatesOptions | undefined;
}

/** How long a browser uses nothing but TLS for this host, after any response over TLS: a year. */
const strictTransportSecurity = 'max-age=31536000';

/** Combines the routers. Only the routes that need a body read it, so that the hot ones cost no more than they must. */
export function createApplication(
  routers: readonly (RequestHandler | ErrorRequestHandler)[],
  logger: Logger,
  {
    clock = systemClock,
    refuseCrossOrigin = () => undefined,
    crossOriginAccess,
    onError = () => undefined,
    isTls = false,
    clientCertificates,
  }: ApplicationOptions = {},
): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('query parser', 'simple');
  application.locals.clock = clock;
  if (clientCertificates !== undefined) {
    application.locals['clientCertificates'] = clientCertificates;
    // `request.ip` is the client's address: that of the connection, or the one that a trusted proxy names.
    application.set('trust proxy', clientCertificates.isTrustedProxy);
  }
  // A response with an ETag decides itself whether it is unchanged, see entity-tags.ts. Others never are. Without this,
  // Express would treat `If-None-Match: *` as a match.
  Object.defineProperty(application.request, 'fresh', { value: false });
  compressLongResponses(application);
  const see: RequestHandler = (request, response, next) => {
    emitCloseOnDisconnect(request, response);
    const sentFlowId = request.headers['x-flow-id'];
    const flowId = typeof sentFlowId === 'string' && flowIdPattern.test(sentFlowId) ? sentFlowId : newFlowId();
    request.headers['x-flow-id'] = flowId;
    response.setHeader(flowIdHeader, flowId);
    // A response may hold data for this client alone, so it must not be cached, and its type must be taken as declared.
    // Pages set their own Cache-Control.
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (isTls) response.setHeader('Strict-Transport-Security', strictTransportSecurity);
    // Errors are for the page as well.
    crossOriginAccess?.grant(request, response);
    if (sentFlowId !== undefined && sentFlowId !== '' && sentFlowId !== flowId) throw unusableFlowId();
    refuseAmbiguous(request);
    refuseCrossOrigin(request);
    if (crossOriginAccess?.answerPreflight(request, response) === true) return;
    if (request.method === 'DELETE' && isBodyAnnounced(request)) afterDiscardingBody(request, next);
    else next();
  };
  const check = clientCertificates?.areAsked === true ? [createClientCertificateCheck(clientCertificates)] : [];
  for (const handler of joined([see, ...check, ...routers])) application.use(handler);
  application.use((request, response, next) => {
    const respond = hasLendingErrors(request) ? lendingPathNotFound : pathNotFound;
    return respond(request, response, next);
  });
  application.use(errorHandler(logger, onError));
  return application;
}

/** The same handlers, with those up to the first one that takes errors in one. */
function joined(all: readonly (RequestHandler | ErrorRequestHandler)[]): (RequestHandler | ErrorRequestHandler)[] {
  const errorsAt = all.findIndex(takesErrors);
  const end = errorsAt === -1 ? all.length : errorsAt;
  return [inOrder(all.slice(0, end) as RequestHandler[]), ...all.slice(end)];
}

/** How Express tells them apart. */
function takesErrors(handler: RequestHandler | ErrorRequestHandler): handler is ErrorRequestHandler {
  return handler.length === 4;
}

/** Responds to errors that no router has handled, in the error format of the API that the request belongs to. */
function errorHandler(logger: Logger, onError: NonNullable<ApplicationOptions['onError']>): ErrorRequestHandler {
  const [handleProblem, handleLendingErrors] = [problemHandler(logger), lendingErrorHandler(logger)];
  return (error, request, response, next) => {
    onError(error, request, response);
    const handle = hasLendingErrors(request) ? handleLendingErrors : handleProblem;
    return handle(error, request, response, next);
  };
}

function unusableFlowId(): LendstreamError {
  const form = `at most ${flowIdCharactersMaximum} visible ASCII characters`;
  return new LendstreamError('MALFORMED_REQUEST', `The header ${flowIdHeader} must have ${form}.`);
}

const bodilessMethods = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * Refuses requests that an intermediary may interpret differently.
 * @throws MALFORMED_REQUEST for a missing or repeated Host header (RFC 9112, 3.2) and for a path with an empty segment,
 *   NOT_ACCEPTABLE for a compressed body where none is read
 */
function refuseAmbiguous(request: Request): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new LendstreamError('MALFORMED_REQUEST', 'A request must have a Host header.');
  }
  if (namesTwoHosts(request.rawHeaders)) {
    throw new LendstreamError('MALFORMED_REQUEST', 'A request must have exactly one Host header.');
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

/** @param rawHeaders Names and values, alternating. */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let hostCount = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hostCount += 1;
  }
  return hostCount > 1;
}

function isBodyAnnounced({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * Discards the body and continues when the request has arrived whole. A request whose body turns out to be broken is
 * refused, and its client would not expect it to have deleted anything. A route that reads its body waits for the end
 * of it anyway.
 */
function afterDiscardingBody(request: Request, next: () => void): void {
  askForBody(request);
  request.on('end', next);
  request.resume();
}

/** Bytes of a flow id; it is written as twice as many hexadecimal digits. */
const flowIdBytes = 12;

/** Many flow ids, drawn and written at once, and where the next one begins. */
const flowIdRandom = Buffer.alloc(flowIdBytes * 256);
let flowIds = '';
let flowIdAt = 0;

function newFlowId(): string {
  if (flowIdAt === flowIds.length) {
    flowIds = randomFillSync(flowIdRandom).toString('hex');
    flowIdAt = 0;
  }
  flowIdAt += 2 * flowIdBytes;
  return flowIds.slice(flowIdAt - 2 * flowIdBytes, flowIdAt);
}

/**
 * A server with the limits of {@link respondToClientErrors}, which passes every request to the application.
 *
 * Its requests and responses have the application's prototypes from the start. Otherwise Express would change the
 * prototype of each, after which the engine shares no layout between them: a request then takes several times the
 * processor time (docs/decisions/0044).
 */
export function createApplicationServer(application: Express): Server;
/** The same over TLS. @param tls With authorities of clients, it asks each client for a certificate. */
export function createApplicationServer(application: Express, tls: TlsMaterial): TlsServer;
export function createApplicationServer(application: Express, tls?: TlsMaterial): Server | TlsServer {
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {}
  Object.setPrototypeOf(ApplicationRequest.prototype, application.request);
  Object.setPrototypeOf(ApplicationResponse.prototype, application.response);
  application.request = ApplicationRequest.prototype as typeof application.request;
  application.response = ApplicationResponse.prototype as typeof application.response;
  const options = {
    IncomingMessage: ApplicationRequest,
    ServerResponse: ApplicationResponse,
    requestTimeout: requestMillisecondsMaximum,
    headersTimeout: headersMillisecondsMaximum,
    keepAliveTimeout: idleConnectionMilliseconds,
    connectionsCheckingInterval: requestCheckMilliseconds,
    // The application checks the header itself and refuses in the format of the API.
    requireHostHeader: false,
  };
  const server = tls === undefined ? createServer(options, application) : overTls(options, tls, application);
  // By default, Node ignores headers after the 2,000th. Their total length is bounded already.
  server.maxHeadersCount = 0;
  // An expectation other than 100-continue need not be refused (RFC 9110, 10.1.1); Node would refuse it in its own
  // format.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  waitForBodies(server);
  respondToClientErrors(server);
  return server;
}

function overTls(options: object, tls: TlsMaterial, application: Express): TlsServer {
  const tlsOptions = {
    ...secureContextOptions(tls),
    handshakeTimeout: handshakeMillisecondsMaximum,
    requestCert: tls.clientCa !== undefined,
    // A certificate that is not accepted is refused with a reason that people can read, see tls/client-certificates.ts.
    rejectUnauthorized: false,
  };
  return createTlsServer({ ...options, ...tlsOptions }, application);
}
