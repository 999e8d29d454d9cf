import { description, type JsonObject } from '../support/http/api-description.ts';
import { answerFaults, schemaFaults, type SeenAnswer } from '../support/http/answer-contract.ts';
import type { FuzzRequest } from './generator/drafts.ts';
import { objectIn } from './harvest.ts';
import type { Exchange, WireAnswer } from './wire-client.ts';

/** What is wrong with how one request was answered. Pure. */

const problemSchema = (description['components'] as { schemas: Readonly<Record<string, JsonObject>> }).schemas[
  'Problem'
];

/** How long anything but a stream or a wait that was asked for may take. Milliseconds. */
export const answerMillisecondsAllowed = 15_000;

export function faultsOf(request: FuzzRequest, exchange: Exchange): string[] {
  const { answer, milliseconds, wasEnded } = exchange;
  if (answer === undefined) {
    if (request.delivery === 'whole') return ['it was not answered'];
    return wasEnded ? [] : ['its connection was left open'];
  }
  const slow = milliseconds > answerMillisecondsAllowed ? [`its answer took ${Math.round(milliseconds)} ms`] : [];
  return [
    ...slow,
    ...serverFaults(answer),
    ...statusFaults(request, answer),
    ...formFaults(request, answer),
    ...reasonFaults(answer),
    ...keyFaults(request, answer),
  ];
}

function serverFaults({ status, body }: WireAnswer): string[] {
  return status >= 500 ? [`it was answered ${status}: ${body.slice(0, 1_000)}`] : [];
}

function statusFaults({ expected }: FuzzRequest, { status, body }: WireAnswer): string[] {
  if (expected === undefined || expected.test(String(status))) return [];
  return [`it was answered ${status} instead of ${expected.source}: ${body.slice(0, 500)}`];
}

/** Refusals of what never became a request, which has no id to answer with and no path. */
const unreadableStatuses = new Set([400, 408, 431]);

function formFaults(request: FuzzRequest, { status, headers, body }: WireAnswer): string[] {
  if (unreadableStatuses.has(status) && headers['x-flow-id'] === undefined) {
    if (headers['content-type'] !== 'application/problem+json') return ['it is refused in no form of the API'];
    return problemFaults(body);
  }
  // Two requests in one: which of them is meant is for the next one to see.
  const [method = '', url = ''] = firstLineOf(request).split(' ');
  const seen: SeenAnswer = {
    method,
    url: url.replace(/^http:\/\/[^/]*/i, '').replace(/#.*$/, ''),
    status,
    headers,
    body,
  };
  return answerFaults(seen);
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

/** A refusal says why, in the form of its part of the API; which one that is the description says. */
function reasonFaults({ status, body }: WireAnswer): string[] {
  if (status < 400 || body === '') return [];
  const hasReason = /"detail":"[^"]/.test(body) || /"errorReason":"[A-Z]/.test(body);
  return hasReason ? [] : ['its refusal has no reason'];
}

const keyForm = /^[0-9a-f]{32}$/i;

/** Nothing is called by what could be a key, and what a path names by a key is the one thing of that key. */
function keyFaults({ operation, url }: FuzzRequest, { status, body }: WireAnswer): string[] {
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

/** The status without its last two digits, or what became of it otherwise. */
export function classOf({ answer, wasEnded }: Exchange): string {
  if (answer === undefined) return wasEnded ? 'none' : 'timeout';
  return `${Math.floor(answer.status / 100)}xx`;
}
