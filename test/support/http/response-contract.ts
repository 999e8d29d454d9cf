import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { errorCatalogue } from '../../../src/errors.ts';
import { isLendingPath, isMambuStreamingPath } from '../../../src/http/edge/request-paths.ts';
import {
  description,
  findPath,
  type DescribedPath,
  type JsonObject,
  type Operation,
  type ResponseDescription,
} from './api-description.ts';

/** A response of the service, seen by the client or by the server. */
export interface SeenResponse {
  readonly method: string;
  /** The path of the request, with or without its query. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Decompressed; of a stream, the complete lines that were read. */
  readonly body: string;
}

/**
 * The schemas are not checked again in each process: response-contract.test.ts does it once. Each is compiled once,
 * and not again wherever another one refers to it; its code is not improved, which takes longer than it saves.
 */
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
});
formats.default(ajv);
ajv.addVocabulary(['example']);
ajv.addKeyword({ keyword: 'x-exactly', macro: (exact: object) => exact });
const schemas = (description['components'] as JsonObject)['schemas'] as Readonly<Record<string, JsonObject>>;
for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(absolute(schema) as JsonObject, uriOf(name));

const validators = new Map<unknown, ValidateFunction>();

/** The violations of the schema by a value; empty when there are none. */
export function schemaFaults(schema: JsonObject, value: unknown): string[] {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(absolute(schema) as JsonObject);
    validators.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message = 'is wrong', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** References in a part of the document, rewritten so that they work outside of it. */
function absolute(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' ? uriOf(String(value).replace('#/components/schemas/', '')) : absolute(value),
    ]),
  );
}

function uriOf(name: string): string {
  return `https://lendstream.example/openapi/${name}`;
}

/** The differences between a response and the description; empty when there are none. */
export function responseFaults(response: SeenResponse): string[] {
  if (isPreflight(response)) return [];
  const path = response.url.split('?', 1)[0] ?? '';
  const described = findPath(path);
  const faults = described === undefined ? nowhereFaults(response, path) : faultsAt(response, path, described);
  if (response.headers['x-flow-id'] === undefined) faults.push('it has no X-Flow-Id');
  if (response.headers['x-content-type-options'] !== 'nosniff') faults.push('its type may be guessed');
  if (response.headers['cache-control'] === undefined) faults.push('it does not say for how long it may be kept');
  return faults.map(
    (fault) => `${response.method} ${response.url.slice(0, 300)} answered ${response.status}: ${fault}`,
  );
}

/** The response to a browser that asks whether a page of a listed origin may send a request, at any path. */
function isPreflight({ method, status, headers, body }: SeenResponse): boolean {
  return method === 'OPTIONS' && status === 204 && headers['access-control-allow-methods'] !== undefined && body === '';
}

/** The refusals of any request before its path is evaluated. */
const generalStatuses = new Set([400, 401, 403, 406, 421]);

function nowhereFaults(response: SeenResponse, path: string): string[] {
  if (path === '/' || path === '/admin' || path.startsWith('/admin/')) return [];
  if (![404, 410, 501].includes(response.status) && !generalStatuses.has(response.status))
    return ['its path is not described'];
  return refusalFaults(response, path);
}

function faultsAt(response: SeenResponse, path: string, described: DescribedPath): string[] {
  const method = response.method.toLowerCase();
  const operation = described.operations.get(method) ?? forHead(method, described);
  if (operation !== undefined) return operationFaults(response, operation);
  if (generalStatuses.has(response.status)) return refusalFaults(response, path);
  const isAskedOptions = response.method === 'OPTIONS' && response.status === 200;
  if (response.status !== 405 && !isAskedOptions) return ['its method is not described'];
  if (response.headers['allow'] === undefined) return ['it does not say which methods there are'];
  return isAskedOptions ? [] : refusalFaults(response, path);
}

function forHead(method: string, { operations }: DescribedPath): Operation | undefined {
  const get = operations.get('get');
  return method === 'head' && get?.isStream === false ? get : undefined;
}

/** A refusal that belongs to no operation, in the format of its part of the API. */
function refusalFaults(response: SeenResponse, path: string): string[] {
  if (response.method === 'HEAD') return [];
  const mediaType = mediaTypeOf(response);
  const name = errorForms(path).get(mediaType);
  return name === undefined ? [`its media type is ${mediaType}`] : jsonFaults(response.body, schemas[name] ?? {});
}

/** By media type: the schema of the errors that requests at a path may get. */
function errorForms(path: string): ReadonlyMap<string, string> {
  const problems = ['application/problem+json', 'Problem'] as const;
  const lendingErrors = ['application/json', 'LendingErrors'] as const;
  if (isLendingPath(path)) return new Map([lendingErrors]);
  // Where a header says which version of Mambu's API a request is one of, the path leaves it open.
  const isEither = isMambuStreamingPath(path) && !path.startsWith('/api/v1/');
  return new Map(isEither ? [problems, lendingErrors] : [problems]);
}

function operationFaults(response: SeenResponse, { operationId, responses }: Operation): string[] {
  const responseDescription = responses[String(response.status)];
  if (responseDescription === undefined)
    return [`${operationId} is not described with this status: ${response.body.slice(0, 500)}`];
  return [...headerFaults(response, responseDescription), ...bodyFaults(response, responseDescription)];
}

function headerFaults({ headers }: SeenResponse, responseDescription: ResponseDescription): string[] {
  return Object.entries(responseDescription.headers).flatMap(([name, { required, schema }]) => {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required === true ? [`it has no header ${name}`] : [];
    return schemaFaults(schema, value).map((fault) => `header ${name} ${fault}`);
  });
}

/** The media types that have a JSON text on each line. */
const linesOfJson: ReadonlySet<string> = new Set(['application/x-json-stream', 'application/x-ndjson']);

function bodyFaults(response: SeenResponse, responseDescription: ResponseDescription): string[] {
  const { content } = responseDescription;
  if (response.method === 'HEAD') return [];
  if (content === undefined) return response.body === '' ? [] : [`it has a body: ${response.body.slice(0, 500)}`];
  const mediaType = mediaTypeOf(response);
  const described = content[mediaType];
  if (described === undefined) return [`its media type is ${mediaType}`];
  if (linesOfJson.has(mediaType)) {
    const lines = response.body.split('\n').slice(0, -1);
    return lines.flatMap((line) => jsonFaults(line, described.schema));
  }
  if (mediaType.startsWith('text/')) return schemaFaults(described.schema, response.body);
  const faults = jsonFaults(response.body, described.schema);
  return mediaType === problemType && faults.length === 0 ? problemFaults(response) : faults;
}

const problemType = 'application/problem+json';

/** What a problem says must agree with the status of its response and with the table of errors. */
function problemFaults({ status, body }: SeenResponse): string[] {
  const problem = JSON.parse(body) as { readonly status: number; readonly title: string; readonly code: string };
  const known = Object.entries(errorCatalogue).find(([code]) => code === problem.code)?.[1];
  if (known === undefined) return [`its code ${problem.code} is not in the table of errors`];
  const agrees = problem.status === status && known.status === status && known.title === problem.title;
  return agrees ? [] : [`its problem is a ${problem.status} ${problem.title}, and ${problem.code} is another`];
}

function mediaTypeOf({ headers }: SeenResponse): string {
  return (headers['content-type'] ?? 'none').split(';', 1)[0]?.trim() ?? '';
}

function jsonFaults(text: string, schema: JsonObject): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`this is no JSON: ${text.slice(0, 500)}`];
  }
  return schemaFaults(schema, value);
}
