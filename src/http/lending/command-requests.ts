import type { Request, RequestHandler, Response } from 'express';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { after, type Timer } from '../../clock.ts';
import type { Schemas } from '../../contract.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import {
  type CommandEnvelope,
  type CommandType,
  type PreparedCommand,
  idFieldOf,
  prepareCommand,
  readPayload,
  writeCommand,
} from '../../lending-format/command-format.ts';
import type { ExactJson } from '../../lending-format/exact-json.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { type ApiError, apiErrors } from '../../lending-format/refusal-format.ts';
import { principalOf } from '../access/principal-of-request.ts';
import { flowIdHeader } from '../edge/application.ts';
import { traceparentOf } from '../edge/trace-context.ts';
import { readBody } from '../edge/request-body.ts';
import { statusOf } from './command-status.ts';
import { commandIdOf, keyAlreadyUsed, requestInProgress } from './idempotency-key.ts';
import { LendingErrors, errorBody, malformedBody, requestError } from '../edge/lending-errors.ts';
import type { LendingServices, OutcomeWait } from './services.ts';

/**
 * Requests that change a loan. The body becomes a command in the log, in the same way as a producer's. The response
 * shows this process's copy of the accounts once the worker has decided the command.
 */

/** The largest body of a command. Bytes. */
export const commandBytesMaximum = 256 * 1024;
/** How long a request waits for its outcome, unless {@link LendingServices} sets another time. */
const outcomeWaitDefault: OutcomeWait = { secondsDefault: 10, secondsMaximum: 120 };
/** The `published_by` of the commands that come in through this API without a key. */
const publisherName = 'lending-api';
/** When to ask for the outcome of a command that was not decided in time. Seconds. */
const pendingRetrySeconds = 1;

export interface CommandSubject {
  readonly loanAccountId?: string;
  readonly loanProductId?: string;
  /** Fields of the command that come from the path. */
  readonly pathFields?: Readonly<Record<string, string>>;
}

export interface CommandRoute {
  readonly type: CommandType;
  /** 201 when the command creates a resource, 204 when the response has no body, else 200. */
  readonly successStatus: 200 | 201 | 204;
  /**
   * Makes the payload of the command from the body; absent where the body is the payload.
   * @throws LendingErrors when the body does not allow it
   */
  readonly payloadOf?: (bodyText: string) => ExactJson;
  /**
   * The loan or product that the command is about; absent where the command makes one, whose id is in the body.
   * @throws LendingErrors when the path names something that cannot exist
   */
  readonly subjectOf?: (request: Request) => Promise<CommandSubject>;
  /** The id of what the command makes, where its body has none; absent or undefined where any id will do. */
  readonly newIdOf?: (payload: ExactJson, commandId: string) => Promise<string | undefined>;
  /** The body of a successful response; called once the copy has the command's changes. */
  readonly resourceOf: (outcome: CommandOutcome) => Promise<string>;
}

/** The result of one command request. */
interface CommandResponse {
  readonly status: number;
  readonly body: string;
  /** Whether the command had been done before this request. */
  readonly replayed: boolean;
}

/**
 * Turns requests into commands: publishes the command of a request and responds with its outcome as soon as this
 * process's copy shows it, or with 202 when the time is over.
 */
export class CommandRequests {
  readonly #services: LendingServices;

  constructor(services: LendingServices) {
    this.#services = services;
  }

  /** The handler of one route. */
  handler(route: CommandRoute): RequestHandler {
    return async (request, response) => {
      const bodyText = textOf(await readBody(request, commandBytesMaximum));
      const key = request.get('Idempotency-Key');
      const commandId = commandIdOf(key, pathOf(request));
      const { subject, payload } = await readCommandRequest(route, request, bodyText, commandId);
      response.locals['commandId'] = commandId;
      const { type } = route;
      const command = prepareCommand({ commandId, type, ...subject, payload, receivedAt: this.#services.clock.now() });
      if (command.refusals.length > 0) throw new LendingErrors('MALFORMED_REQUEST', apiErrors(command.refusals));
      const { digest } = command.envelope;
      await this.#registerPending(command.envelope, key !== undefined);
      const { secondsDefault, secondsMaximum } = this.#services.outcomeWait ?? outcomeWaitDefault;
      const preferredWaitSeconds = readPreferredWait(request, secondsMaximum);
      const outcome = await this.#outcomeOf(command, request, response, preferredWaitSeconds ?? secondsDefault);
      if (preferredWaitSeconds !== undefined) response.set('Preference-Applied', `wait=${preferredWaitSeconds}`);
      if (outcome === undefined) sendPending(response, `${request.baseUrl}/commands/${commandId}`, commandId, subject);
      else sendResponse(response, await commandResponse(route, outcome, digest));
    };
  }

  /**
   * Records that the command is under way. The worker looks for an earlier decision under the same id. Only what a
   * request with another body may have created in another partition has to be looked for here.
   * @throws LendingErrors: CONFLICT while the same request is under way; UNPROCESSABLE when the key came with another
   *   one
   */
  async #registerPending({ commandId, type, digest }: CommandEnvelope, hasIdempotencyKey: boolean): Promise<void> {
    const { accounts, clock, idempotencyMilliseconds } = this.#services;
    if (hasIdempotencyKey && (type === 'CREATE_LOAN' || type === 'CREATE_PRODUCT')) {
      const recorded = await accounts.recordedCommand(commandId);
      const isWithinRetention = recorded !== undefined && clock.now() - recorded.decidedAt < idempotencyMilliseconds;
      if (isWithinRetention && recorded.digest !== digest) throw keyAlreadyUsed();
    }
    const pendingDigest = accounts.pendingCommandDigest(commandId);
    if (pendingDigest !== undefined) throw pendingDigest === digest ? requestInProgress() : keyAlreadyUsed();
    accounts.beginCommand(commandId, digest);
  }

  /**
   * Publishes the command and waits for its outcome, until the time is over or the client has left. Once the command is
   * durable, it is decided whether or not anything waits for it.
   * @returns undefined when it was not decided in time
   * @throws the error that kept it from being stored. LOG_UNAVAILABLE and OUTCOME_UNKNOWN leave open whether it is
   *   stored; under an Idempotency-Key the client can send it again without harm
   */
  async #outcomeOf(
    command: PreparedCommand,
    request: Request,
    response: Response,
    waitSeconds: number,
  ): Promise<CommandOutcome | undefined> {
    const { accounts, clock, publisher } = this.#services;
    const { commandId } = command.envelope;
    const waiting = new AbortController();
    response.once('close', () => waiting.abort());
    let timer: Timer | undefined;
    try {
      // Waiting begins before publishing: the outcome may come before the acknowledgement.
      const outcome = accounts.outcomeOf(commandId, waiting.signal);
      // If the copy ends while the command is being published, the `await` below throws.
      outcome.catch(() => {});
      const flowId = request.get(flowIdHeader) ?? '';
      const publishedBy = publisherOf(response);
      const context = { flowId, publishedBy, traceparent: traceparentOf(request) };
      await publisher.publishPrepared(loanCommandsTopic, writeCommand(command), context);
      // A client that does not wait always gets 202, even if the worker was faster than the acknowledgement.
      if (waitSeconds === 0) return undefined;
      timer = after(clock, waitSeconds * 1_000, () => waiting.abort());
      return await outcome;
    } catch (error) {
      accounts.abandonCommand(commandId);
      throw error;
    } finally {
      timer?.cancel();
      waiting.abort();
    }
  }
}

/** The `published_by` of a command: who sent the request, where that is known. */
function publisherOf(response: Response): string {
  const { name, credential } = principalOf(response);
  return credential.kind === 'none' ? publisherName : name;
}

/**
 * The response to a command: the resource, or the worker's refusal. Under an Idempotency-Key both are final.
 * @param digest The digest of this request's command.
 * @throws LendingErrors when the command could not be decided, UNPROCESSABLE when another one had its id
 */
async function commandResponse(route: CommandRoute, outcome: CommandOutcome, digest: string): Promise<CommandResponse> {
  if (outcome.digest !== undefined && outcome.digest !== digest) throw keyAlreadyUsed();
  const replayed = outcome.outcome === 'repeated';
  switch (statusOf(outcome)) {
    case 'COMMITTED':
      return { status: route.successStatus, body: await route.resourceOf(outcome), replayed };
    case 'REFUSED': {
      const errors = outcome.errors ?? [];
      return { status: refusedStatus(route.type, errors), body: errorBody(errors), replayed };
    }
    case 'FAILED':
      throw new LendingErrors('INTERNAL', [
        requestError('INTERNAL_ERROR', `The command could not be decided: ${outcome.reason ?? 'no reason is known'}`),
      ]);
  }
  throw new LendstreamError('INTERNAL', `Command ${outcome.commandId} has no known outcome.`);
}

/** 404 when the loan in the path does not exist, else 400. */
function refusedStatus(type: CommandType, errors: readonly ApiError[]): number {
  const isLoanMissing =
    type !== 'CREATE_LOAN' && errors.some(({ errorReason }) => errorReason === 'INVALID_LOAN_ACCOUNT_ID');
  return isLoanMissing ? 404 : 400;
}

/**
 * What a request asks for, its body read once. A path that names nothing is refused before the body is looked at.
 * @param commandId Decides the id where the body names none: it is the same for every repetition of a request under one
 *   Idempotency-Key.
 * @throws LendingErrors when the path names something that cannot exist, or the body is no JSON object
 */
async function readCommandRequest(
  { type, subjectOf, newIdOf, payloadOf = readBodyObject }: CommandRoute,
  request: Request,
  bodyText: string,
  commandId: string,
): Promise<{ readonly subject: CommandSubject; readonly payload: ExactJson }> {
  if (subjectOf === undefined) {
    const payload = payloadOf(bodyText);
    const id = idIn(payload) ?? (await newIdOf?.(payload, commandId)) ?? newIdFrom(commandId);
    return { subject: { [idFieldOf(type)]: id }, payload };
  }
  const { pathFields, ...subject } = await subjectOf(request);
  return { subject, payload: { ...payloadOf(bodyText), ...pathFields } };
}

/** The id in a body; undefined when it has none. An id that is no string becomes empty, which is refused as no id. */
function idIn({ id }: ExactJson): string | undefined {
  if (id === undefined || id === null) return undefined;
  return typeof id === 'string' ? id : '';
}

/** @throws LendingErrors with the parser's message when the body is no JSON object */
export function readBodyObject(bodyText: string): ExactJson {
  try {
    return readPayload(bodyText);
  } catch (error) {
    throw malformedBody(describeError(error));
  }
}

/** A short id from a command id, which is random or a digest: sixty of its bits. */
function newIdFrom(commandId: string): string {
  return commandId.replaceAll('-', '').slice(0, 16).toUpperCase();
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw malformedBody('it is not UTF-8');
  }
}

/**
 * The decoded path without slashes at its end, from where the lending API begins: one text for each resource, in
 * whatever form its path was sent.
 */
function pathOf(request: Request): string {
  return decodeURIComponent(request.path).replace(/\/+$/, '');
}

/** `Prefer: wait=N` in whole seconds, at most `secondsMaximum`; undefined when there is no such preference. */
function readPreferredWait(request: Request, secondsMaximum: number): number | undefined {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i.exec(request.get('prefer') ?? '')?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds), secondsMaximum);
}

function sendResponse(response: Response, { status, body, replayed }: CommandResponse): void {
  if (replayed) response.set('Idempotent-Replayed', 'true');
  if (status === 204) response.status(status).end();
  else response.status(status).type('application/json').end(body);
}

function sendPending(response: Response, location: string, commandId: string, subject: CommandSubject): void {
  const { loanAccountId, loanProductId } = subject;
  response.set('Location', location).set('Retry-After', String(pendingRetrySeconds));
  response.status(202).json({
    commandId,
    status: 'PENDING',
    ...(loanAccountId === undefined ? {} : { loanAccountId }),
    ...(loanProductId === undefined ? {} : { loanProductId }),
  } satisfies Schemas['CommandStatus']);
}
