import type { Request, RequestHandler, Response } from 'express';
import type { CommandOutcome } from '../../lending-format/fence.ts';
import type { Schemas } from '../../contract.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import {
  type CommandToWrite,
  type CommandType,
  checkPayload,
  commandDigest,
  writeCommand,
} from '../../lending-format/command-format.ts';
import { readExactObject } from '../../lending-format/exact-json.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { type ApiError, apiErrors } from '../../lending-format/refusal-format.ts';
import { flowIdHeader } from '../edge/application.ts';
import { readBody } from '../edge/body.ts';
import { statusOf } from './commands.ts';
import { commandIdOf, keyAlreadyUsed, requestInProgress } from './idempotency.ts';
import { LendingErrors, errorBody, malformedBody, requestError } from '../edge/lending-errors.ts';
import type { LendingServices, OutcomeWait } from './services.ts';

/**
 * A request that changes a loan: its body becomes a command in the log, on the same way that a producer's takes, and
 * the answer is what this process's view of the loans shows once the worker has decided it.
 */

/** The largest body of a command. Bytes. */
export const commandBytesMaximum = 256 * 1024;
/** How long a request waits unless its service says otherwise. */
const outcomeWaitDefault: OutcomeWait = { secondsDefault: 10, secondsMaximum: 120 };
/** The `published_by` of the commands that come in through this API. */
const publisherName = 'lending-api';
/** When the resource of a command that was not decided in time is worth asking for. Seconds. */
const pendingRetrySeconds = 1;

export interface CommandSubject {
  readonly loanAccountId?: string;
  readonly loanProductId?: string;
  /** Fields of the command that the path says. */
  readonly pathFields?: Readonly<Record<string, string>>;
}

export interface CommandRoute {
  readonly type: CommandType;
  /** 201 when the command makes a resource, 204 when it answers nothing, else 200. */
  readonly successStatus: 200 | 201 | 204;
  /**
   * The payload of the command, where the body is not that itself.
   * @throws LendingErrors when it cannot be made of the body
   */
  readonly payloadOf?: (bodyText: string) => string;
  /**
   * What the command is about.
   * @param newId To be used where the body names no id: the same for every repetition of the request.
   * @throws LendingErrors when the path names nothing that there can be
   */
  readonly subjectOf: (request: Request, bodyText: string, newId: string) => CommandSubject;
  /** The body of a successful answer, once the view has what the command changed. */
  readonly resourceOf: (outcome: CommandOutcome) => string | Promise<string>;
}

/** What one command request came to. */
interface Decided {
  readonly status: number;
  readonly body: string;
  /** Whether the command had been done before this request. */
  readonly replayed: boolean;
}

export class CommandRequests {
  readonly #services: LendingServices;

  constructor(services: LendingServices) {
    this.#services = services;
  }

  /** Answers the requests of one route. */
  handler(route: CommandRoute): RequestHandler {
    return async (request, response) => {
      const bodyText = textOf(await readBody(request, commandBytesMaximum));
      const key = request.get('Idempotency-Key');
      const commandId = commandIdOf(key, pathOf(request));
      const subject = route.subjectOf(request, bodyText, newIdFrom(commandId));
      const payloadText = route.payloadOf?.(bodyText) ?? bodyText;
      refuseFaults(route.type, payloadText, subject);
      const occurredAt = this.#services.clock.now();
      const command = { commandId, type: route.type, ...subject, payloadText, occurredAt };
      const digest = commandDigest(command);
      await this.#begin(command, digest, key !== undefined);
      const { secondsDefault, secondsMaximum } = this.#services.outcomeWait ?? outcomeWaitDefault;
      const asked = preferredSeconds(request, secondsMaximum);
      const outcome = await this.#outcomeOf(command, request, response, asked ?? secondsDefault);
      if (asked !== undefined) response.set('Preference-Applied', `wait=${asked}`);
      if (outcome === undefined) sendPending(response, commandId, subject);
      else sendAnswer(response, await decidedBy(route, outcome, digest));
    };
  }

  /**
   * Notes that the command is under way. What was decided under its id before is looked for by the worker; only what a
   * request with another body may have made in another partition has to be looked for here.
   * @throws LendingErrors: CONFLICT while the same request is under way; UNPROCESSABLE when the key came with another
   *   one
   */
  async #begin({ commandId, type }: CommandToWrite, digest: string, isKeyed: boolean): Promise<void> {
    const { view, clock, rememberedMilliseconds } = this.#services;
    if (isKeyed && (type === 'CREATE_LOAN' || type === 'CREATE_PRODUCT')) {
      if (view.knownCommand(commandId) === undefined) await view.catchUpOnMiss();
      const known = view.knownCommand(commandId);
      const isRemembered = known !== undefined && clock.now() - known.decidedAt < rememberedMilliseconds;
      if (isRemembered && known.digest !== digest) throw keyAlreadyUsed();
    }
    const underWay = view.commandUnderWay(commandId);
    if (underWay !== undefined) throw underWay === digest ? requestInProgress() : keyAlreadyUsed();
    view.beginCommand(commandId, digest);
  }

  /**
   * Puts the command into the log and waits for what becomes of it, until the time is over or nobody is there to be
   * told: once it is durable it goes its way whether or not anyone waits.
   * @returns undefined when it was not decided meanwhile
   * @throws what stands in the way of storing it; LOG_UNAVAILABLE and OUTCOME_UNKNOWN leave open whether it is stored,
   *   which under an Idempotency-Key harms nobody who sends it again
   */
  async #outcomeOf(
    command: CommandToWrite,
    request: Request,
    response: Response,
    waitSeconds: number,
  ): Promise<CommandOutcome | undefined> {
    const { view } = this.#services;
    const waiting = new AbortController();
    response.once('close', () => waiting.abort());
    let timer: NodeJS.Timeout | undefined;
    try {
      // Waiting begins before publishing: the outcome may be there before the acknowledgement is.
      const outcome = view.outcomeOf(command.commandId, waiting.signal);
      // Should the view end while the command is being published, it is told below.
      outcome.catch(() => {});
      await this.#publish(Buffer.from(`[${writeCommand(command)}]`), request);
      // Who does not wait gets one kind of response, also when the worker was faster than the acknowledgement.
      if (waitSeconds === 0) return undefined;
      timer = setTimeout(() => waiting.abort(), waitSeconds * 1_000);
      return await outcome;
    } catch (error) {
      view.abandonCommand(command.commandId);
      throw error;
    } finally {
      clearTimeout(timer);
      waiting.abort();
    }
  }

  async #publish(event: Buffer, request: Request): Promise<void> {
    const { status, items } = await this.#services.publisher.publish(loanCommandsTopic, event, {
      flowId: request.get(flowIdHeader) ?? '',
      publishedBy: publisherName,
    });
    if (status === 200) return;
    const detail = items[0]?.detail ?? 'The command was not stored.';
    throw new LendstreamError(status === 422 ? 'MALFORMED_REQUEST' : 'LOG_UNAVAILABLE', detail);
  }
}

/**
 * The answer to a command: the resource, or the worker's refusal, which like it is final under an Idempotency-Key.
 * @param digest Of what was asked for.
 * @throws LendingErrors when the command could not be decided, UNPROCESSABLE when another one had its id
 */
async function decidedBy(route: CommandRoute, outcome: CommandOutcome, digest: string): Promise<Decided> {
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
  throw new LendstreamError('INTERNAL', `Command ${outcome.commandId} came to nothing that is known.`);
}

/** 404 when the loan that the path names is not there, else 400. */
function refusedStatus(type: CommandType, errors: readonly ApiError[]): number {
  const missing = type !== 'CREATE_LOAN' && errors.some(({ errorReason }) => errorReason === 'INVALID_LOAN_ACCOUNT_ID');
  return missing ? 404 : 400;
}

/** @throws LendingErrors with every fault of form that the worker would find */
function refuseFaults(type: CommandType, bodyText: string, subject: CommandSubject): void {
  const id = subject.loanAccountId ?? subject.loanProductId ?? '';
  const refusals = checkPayload(type, bodyText, id, subject.pathFields);
  if (refusals.length > 0) throw new LendingErrors('MALFORMED_REQUEST', apiErrors(refusals));
}

/** The id that a body names, or the new one. What is no text is left for the check of the payload to refuse. */
export function idIn(bodyText: string, newId: string): string {
  const id = bodyText.trim() === '' ? undefined : readBodyObject(bodyText)['id'];
  if (id === undefined || id === null) return newId;
  return typeof id === 'string' ? id : '';
}

/** @throws LendingErrors with the parser's words when the body is no JSON object */
function readBodyObject(bodyText: string): Record<string, unknown> {
  try {
    return readExactObject(bodyText);
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

/** One text for one resource, however its path was written. */
function pathOf(request: Request): string {
  const path = decodeURIComponent(request.originalUrl.split('?', 1)[0] ?? '');
  return path.replace(/\/+$/, '');
}

/** `Prefer: wait=N` in whole seconds, the longest wait bounded; undefined when there is no such preference. */
function preferredSeconds(request: Request, secondsMaximum: number): number | undefined {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i.exec(request.get('prefer') ?? '')?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds), secondsMaximum);
}

function sendAnswer(response: Response, { status, body, replayed }: Decided): void {
  if (replayed) response.set('Idempotent-Replayed', 'true');
  if (status === 204) response.status(status).end();
  else response.status(status).type('application/json').end(body);
}

function sendPending(response: Response, commandId: string, subject: CommandSubject): void {
  const { loanAccountId, loanProductId } = subject;
  response.set('Location', `/commands/${commandId}`).set('Retry-After', String(pendingRetrySeconds));
  response.status(202).json({
    commandId,
    status: 'PENDING',
    ...(loanAccountId === undefined ? {} : { loanAccountId }),
    ...(loanProductId === undefined ? {} : { loanProductId }),
  } satisfies Schemas['CommandStatus']);
}
