import type { Request, RequestHandler, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { AccessRefusals } from '../../audit/access-refusals.ts';
import type { AuditEntry, AuditSubject } from '../../audit/audit-entry.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import { bounded, changedDefinition, recordedDefinition } from '../../audit/recorded-definitions.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { consumerGroupDefault, subscriptionId } from '../../broker/definitions/subscription-id.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { auditedOperations, type AuditedOperation } from './audited-operations.ts';
import { parseJson, readBodyAhead } from '../edge/request-body.ts';
import { findOperations, type FoundOperation } from './operation-lookup.ts';
import type { RefusalWarnings } from './limits/refusal-warnings.ts';
import { beginRefusals, countRefusal, type RefusalCounter } from './refusal-reasons.ts';
import { principalOf } from './principal-of-request.ts';

export interface AuditOptions {
  readonly audit: AuditLog;
  readonly registry: Registry;
  readonly clock: Clock;
  /** The committed cursors of a subscription, for requests that move them. */
  readonly cursorsOf: (subscriptionId: string) => Promise<unknown>;
}

/** Where a response keeps what the audit takes from its handler. */
declare global {
  namespace Express {
    interface Locals {
      /** The id of the loan command that the request became. */
      commandId?: string;
      /** How many loan commands of each type the request published. */
      commandTypes?: Readonly<Record<string, number>>;
      /** The JSON of the request, where a handler has read it. */
      requestJson?: Readonly<Record<string, unknown>>;
      isAudited?: true;
    }
  }
}

/** A request that is audited. */
interface AuditedRequest {
  readonly found: FoundOperation;
  readonly audited: AuditedOperation;
  entry: Omit<AuditEntry, 'stage' | 'at'> & { readonly subject: AuditSubject };
  /** The definition before; undefined where none is recorded. */
  before: unknown;
}

/**
 * Audits every request that changes something, by the table of audited-operations.ts. Mount it after the authorization
 * and before every router that changes anything. A change by an administrator begins when its first record is stored.
 * No audited request is answered before its last one is.
 */
export function createAudit(options: AuditOptions): RequestHandler {
  return (request, response, next) => {
    const { method } = request;
    // What most requests do costs no more than this.
    if (method === 'GET' || method === 'HEAD' || isFrequent(request)) return next();
    const audited = auditedRequest(request, response);
    return audited === undefined ? next() : begin(options, audited, response, next);
  };
}

/** Publishing events and committing cursors, which are not audited, but for loan commands. */
function isFrequent({ method, path }: Request): boolean {
  return method === 'POST' && (path.endsWith('/events') || path.endsWith('/cursors')) && !isCommandPublishing(path);
}

function isCommandPublishing(path: string): boolean {
  // A name may be sent with escapes.
  return path.includes(loanCommandsTopic) || path.includes('%');
}

function auditedRequest(request: Request, response: Response): AuditedRequest | undefined {
  for (const found of operationsOf(request)) {
    const { id } = found.operation;
    const audited = auditedOperations[id];
    if (audited === undefined || (id === 'publishEvents' && found.values[0] !== loanCommandsTopic)) continue;
    response.locals.isAudited = true;
    const entry = {
      requestId: randomUUID(),
      flowId: String(request.headers['x-flow-id'] ?? ''),
      who: principalOf(response),
      from: addressOf(request),
      operation: id,
      subject: { kind: audited.subject, name: nameOf(audited, found.values, response, undefined) },
    };
    return { found, audited, entry, before: undefined };
  }
  return undefined;
}

/** A path that cannot be decoded means no operation. */
function operationsOf({ method, path }: Request): FoundOperation[] {
  try {
    return findOperations(method, path);
  } catch {
    return [];
  }
}

/** The address of the client: that of the connection, or the one that a trusted proxy names. */
function addressOf({ ip = '' }: Request): string {
  return ip.replace(/^::ffff:(?=\d+\.)/, '');
}

async function begin(
  options: AuditOptions,
  audited: AuditedRequest,
  response: Response,
  next: (error?: unknown) => void,
): Promise<void> {
  const { audit, clock } = options;
  audit.requireWritable();
  if (audited.audited.audit === 'administration') {
    const { kind } = audited.entry.subject;
    const name = audited.entry.subject.name ?? (await nameOfNew(audited, response.req));
    audited.entry = { ...audited.entry, subject: { kind, name } };
    audited.before = await stateOf(options, audited, name);
    await audit.append({ ...audited.entry, stage: 'started', at: clock.now(), before: audited.before });
  }
  recordAtEnd(options, audited, response, next);
  next();
}

/**
 * Holds the response back until the last record is stored. If that fails, the audit does not say whether the change was
 * made: the client gets OUTCOME_UNKNOWN in place of a success.
 */
function recordAtEnd(
  options: AuditOptions,
  audited: AuditedRequest,
  response: Response,
  next: (error?: unknown) => void,
): void {
  const end = response.end.bind(response) as (...parameters: unknown[]) => Response;
  let json: unknown;
  const { json: sendJson } = response;
  response.json = (body: unknown) => {
    json = body;
    return sendJson.call(response, body);
  };
  response.end = (...parameters: unknown[]): Response => {
    response.end = end;
    const sendWhenRecorded = async (): Promise<void> => {
      try {
        await finish(options, audited, response, json ?? jsonOf(audited, parameters[0]));
      } catch (error) {
        if (response.statusCode < 400) {
          next(unknownOutcome(response, error));
          return;
        }
      }
      end(...parameters);
    };
    void sendWhenRecorded();
    return response;
  };
}

/** The JSON of a response that its handler wrote as text; undefined where nothing of it is needed. */
function jsonOf({ audited: { name } }: AuditedRequest, body: unknown): unknown {
  if (name.in !== 'response' || (typeof body !== 'string' && !(body instanceof Buffer))) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

async function finish(
  options: AuditOptions,
  audited: AuditedRequest,
  response: Response,
  json: unknown,
): Promise<void> {
  const { entry, audited: operation, found, before } = audited;
  const status = response.statusCode;
  const name = nameOf(operation, found.values, response, status < 300 ? json : undefined) ?? entry.subject.name;
  // What a request created was not there before.
  const wasMissing = entry.subject.name === null && name !== null && before === undefined;
  const after = status < 400 ? await stateOf(options, audited, name, true) : undefined;
  await options.audit.append({
    ...entry,
    stage: 'finished',
    at: options.clock.now(),
    subject: { kind: operation.subject, name },
    status,
    commandId: response.locals.commandId,
    commandTypes: response.locals.commandTypes,
    before: wasMissing && after !== undefined ? null : before,
    after,
  });
}

function nameOf(
  { name }: AuditedOperation,
  values: readonly string[],
  response: Response,
  json: unknown,
): string | null {
  switch (name.in) {
    case 'path':
      return values[0] ?? null;
    case 'paths':
      return values.join('/');
    case 'constant':
      return name.name;
    case 'request':
      return textIn(response.locals.requestJson, name.field);
    case 'response':
      return textIn(json, name.field);
    case 'nowhere':
      break;
  }
  return null;
}

/** The name of what a request is to create, as far as its body says it. A body that cannot be read is its handler's. */
async function nameOfNew({ audited: { name, subject } }: AuditedRequest, request: Request): Promise<string | null> {
  if (name.in !== 'request' && name.in !== 'response') return null;
  let body: unknown;
  try {
    body = parseJson(await readBodyAhead(request));
  } catch {
    return null;
  }
  return subject === 'subscription' ? idOfSubscription(body) : textIn(body, name.field);
}

/** The id that a subscription has by its identity, whatever its creation says of an id. */
function idOfSubscription(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const { owning_application: owner, event_types: types, consumer_group: group } = body as Record<string, unknown>;
  const areTexts = Array.isArray(types) && types.every((type) => typeof type === 'string');
  if (typeof owner !== 'string' || !areTexts) return null;
  return subscriptionId(owner, types, typeof group === 'string' ? group : consumerGroupDefault);
}

/** The longest name that is taken from a body. Characters. */
const nameCharactersMaximum = 255;

function textIn(body: unknown, field: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value = (body as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' ? value.slice(0, nameCharactersMaximum) : null;
}

/** What a request changes, as it is now; undefined where none is recorded, or it cannot be read. */
async function stateOf(
  { registry, cursorsOf }: AuditOptions,
  { audited: { subject, definition } }: AuditedRequest,
  name: string | null,
  isChanged = false,
): Promise<unknown> {
  if (name === null || (definition === undefined && subject !== 'cursors')) return undefined;
  try {
    if (definition === undefined) return bounded(await cursorsOf(name));
    const stored = definition === 'feature' ? name.toLowerCase() : name;
    return isChanged
      ? await changedDefinition(registry, definition, stored)
      : recordedDefinition(registry, definition, stored);
  } catch (error) {
    if (!isLendstreamError(error)) throw error;
    return undefined;
  }
}

function unknownOutcome(response: Response, cause: unknown): LendstreamError {
  for (const name of ['Content-Length', 'Content-Type', 'Content-Location', 'Location', 'ETag'])
    response.removeHeader(name);
  const detail =
    'The request may have been done, and its record of the audit is not stored yet. Look before repeating it.';
  return new LendstreamError('OUTCOME_UNKNOWN', detail, { cause });
}

/** Counts an error if it refuses access, for the metrics, the log and the audit. */
export function createRefusalReport(
  refusals: AccessRefusals,
  counter: RefusalCounter,
  warnings: RefusalWarnings,
): (error: unknown, request: Request, response: Response) => void {
  beginRefusals(counter);
  return (error, request, response) => {
    if (!isLendstreamError(error)) return;
    countRefusal(counter, error, response);
    if (error.code === 'TOO_MANY_REQUESTS') warnings.note(error, request, response);
    if (response.locals.isAudited === true) return;
    const isUnauthorized = error.code === 'UNAUTHORIZED';
    if (!isUnauthorized && error.code !== 'PERMISSION_MISSING') return;
    refusals.note({
      status: isUnauthorized ? 401 : 403,
      who: isUnauthorized ? null : principalOf(response),
      from: addressOf(request),
      flowId: String(request.headers['x-flow-id'] ?? ''),
      operationOf: () => operationsOf(request)[0]?.operation.id ?? null,
    });
  };
}
