import { description, type JsonObject } from '../support/http/api-description.ts';
import { responseFaults, schemaFaults, type SeenResponse } from '../support/http/response-contract.ts';
import type { FuzzRequest } from './generator/drafts.ts';
import { objectIn } from './harvest.ts';
import type { Exchange, WireResponse } from './wire-client.ts';

/** The faults in the response to one request. Pure. */

const problemSchema = (description['components'] as { schemas: Readonly<Record<string, JsonObject>> }).schemas[
  'Problem'
];

/** The maximum time of anything except a stream or a requested wait. Milliseconds. */
export const responseMillisecondsAllowed = 15_000;

export function faultsOf(request: FuzzRequest, exchange: Exchange): string[] {
  const { response, milliseconds, wasEnded } = exchange;
  if (response === undefined) {
    if (request.delivery === 'whole') return ['it was not answered'];
    return wasEnded ? [] : ['its connection was left open'];
  }
  const slow = milliseconds > responseMillisecondsAllowed ? [`its answer took ${Math.round(milliseconds)} ms`] : [];
  return [
    ...slow,
    ...serverFaults(response),
    ...statusFaults(request, response),
    ...formFaults(request, response),
    ...reasonFaults(response),
    ...keyFaults(request, response),
  ];
}

function serverFaults({ status, body }: WireResponse): string[] {
  return status >= 500 ? [`it was answered ${status}: ${body.slice(0, 1_000)}`] : [];
}

function statusFaults({ expected }: FuzzRequest, { status, body }: WireResponse): string[] {
  if (expected === undefined || expected.test(String(status))) return [];
  return [`it was answered ${status} instead of ${expected.source}: ${body.slice(0, 500)}`];
}

/** Refusals of bytes that never became a request, and so have no id and no path. */
const unreadableStatuses = new Set([400, 408, 431]);

function formFaults(request: FuzzRequest, { status, headers, body }: WireResponse): string[] {
  if (unreadableStatuses.has(status) && headers['x-flow-id'] === undefined) {
    if (headers['content-type'] !== 'application/problem+json') return ['it is refused in no form of the API'];
    return problemFaults(body);
  }
  // Two requests in one: the next recipient decides which of them is meant.
  const [method = '', url = ''] = firstLineOf(request).split(' ');
  const seen: SeenResponse = {
    method,
    url: url.replace(/^http:\/\/[^/]*/i, '').replace(/#.*$/, ''),
    status,
    headers,
    body,
  };
  return responseFaults(seen);
}

function problemFaults(body: string): string[] {
  try {
    return schemaFaults(problemSchema ?? {}, JSON.parse(body));
  } catch {
    return [`its problem is no JSON: ${body.slice(0, 500)}`];
  }
}

/** The method and the address as they reach the service. */
function firstLineOf(request: FuzzRequest): string {
  return headOf(request).split(/\r?\n/, 1)[0] ?? '';
}

/** As text, up to the body. */
function headOf({ bytes }: FuzzRequest): string {
  const text = bytes
    .subarray(0, 80_000)
    .toString('latin1')
    .replace(/^(\r?\n)+/, '');
  return text.split(/\r?\n\r?\n/, 1)[0] ?? '';
}

/** A refusal has a reason, in the format of its part of the API, which the description determines. */
function reasonFaults({ status, body }: WireResponse): string[] {
  if (status < 400 || body === '') return [];
  const hasReason = /"detail":"[^"]/.test(body) || /"errorReason":"[A-Z]/.test(body);
  return hasReason ? [] : ['its refusal has no reason'];
}

const keyForm = /^[0-9a-f]{32}$/i;

/** No resource has an id that could be a key, and a path with a key means the resource of that key. */
function keyFaults({ operation, url }: FuzzRequest, { status, body }: WireResponse): string[] {
  if (status >= 300 || !/^(createLoan|createLoanProduct|getLoan|getLoanProduct)$/.test(operation.operationId))
    return [];
  const { id, encodedKey } = objectIn(body);
  const named = url.split('?', 1)[0]?.split('/').at(-1) ?? '';
  return [
    ...(typeof id === 'string' && keyForm.test(id) ? [`it gave the id ${id}, which could be somebody's key`] : []),
    ...(typeof encodedKey === 'string' && keyForm.test(named) && named !== encodedKey
      ? [`it was answered with ${encodedKey}, not with ${named}`]
      : []),
  ];
}

/** The status without its last two digits, or what happened otherwise. */
export function classOf({ response, wasEnded }: Exchange): string {
  if (response === undefined) return wasEnded ? 'none' : 'timeout';
  return `${Math.floor(response.status / 100)}xx`;
}
