import { isLendingPath } from '../../../src/http/edge/request-paths.ts';
import { loadSchema } from '../../../src/schema-files.ts';

/** The description of the service as tests use it: the operation of a request, and its possible responses. */

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: JsonObject;
  readonly example?: string | number;
}

export interface Example {
  readonly value: unknown;
  /** The status of the response when the examples are sent in the order of the document. */
  readonly 'x-status': number;
  /** Parameters of this example only, which replace the examples of the parameters. */
  readonly 'x-parameters'?: Readonly<Record<string, string>>;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Readonly<
    Record<string, { readonly schema: JsonObject; readonly examples: Readonly<Record<string, Example>> }>
  >;
}

export interface ResponseDescription {
  readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: JsonObject }>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonObject }>>;
  /** Whether the described body is optional. */
}

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** Such as `/loans/{loanAccountId}:changeState`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, ResponseDescription>>;
  /** Of an operation without a body, whose example is not the first success. */
  readonly example?: Example;
  /** Whether its response is a stream, which HEAD does not request. */
  readonly isStream: boolean;
}

export interface DescribedPath {
  readonly path: string;
  /** By method, in lower case. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly pattern: RegExp;
}

/** The whole document. */
export const description: JsonObject = loadSchema('openapi.json');

/** Resolves a reference within the document. */
export function resolved<Value>(value: unknown): Value {
  const reference = (value as { $ref?: unknown } | null)?.$ref;
  if (typeof reference !== 'string') return value as Value;
  let found: unknown = description;
  for (const step of reference.split('/').slice(1)) {
    found = (found as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return resolved<Value>(found);
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Paths with more fixed text come first, so that the first match is the right one. */
export const describedPaths: readonly DescribedPath[] = Object.entries(description['paths'] as object)
  .map(([path, item]: [string, JsonObject]) => {
    const found = methods.flatMap((method): [string, Operation][] => {
      const raw = item[method] as JsonObject | undefined;
      return raw === undefined ? [] : [[method, operationOf(path, method, item, raw)]];
    });
    return { path, operations: new Map(found), pattern: patternOf(path) };
  })
  .sort((left, right) => fixedLength(right.path) - fixedLength(left.path));

/** In the order of the document. */
export const operations: readonly Operation[] = Object.keys(description['paths'] as object).flatMap((path) => [
  ...(describedPaths.find((described) => described.path === path)?.operations.values() ?? []),
]);

/** The description for the path of a request, which may end with a slash. The lending API is also below /api. */
export function findPath(path: string): DescribedPath | undefined {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const below = plain.startsWith('/api/') ? plain.slice('/api'.length) : plain;
  const described = isLendingPath(below) ? below : plain;
  return describedPaths.find(({ pattern }) => pattern.test(described));
}

function operationOf(path: string, method: string, item: JsonObject, raw: JsonObject): Operation {
  const own = [...((item['parameters'] ?? []) as unknown[]), ...((raw['parameters'] ?? []) as unknown[])];
  const responses = Object.entries(raw['responses'] as object).map(([status, response]) => {
    const { headers, ...rest } = resolved<JsonObject>(response);
    const named = Object.entries(headers ?? {}).map(([name, header]) => [name, resolved(header)]);
    return [status, { ...rest, headers: Object.fromEntries(named) as ResponseDescription['headers'] }];
  });
  return {
    operationId: String(raw['operationId']),
    method,
    path,
    parameters: own.map((parameter) => resolved<Parameter>(parameter)),
    ...(raw['requestBody'] === undefined ? {} : { requestBody: withAllExamples(raw['requestBody'] as RequestBody) }),
    responses: Object.fromEntries(responses) as Operation['responses'],
    ...(raw['x-example'] === undefined
      ? {}
      : { example: { value: undefined, ...(raw['x-example'] as object) } as Example }),
    isStream: raw['x-stream'] === true,
  };
}

/** The examples of a body together with those that show a refusal, which the document keeps apart. */
function withAllExamples(body: RequestBody): RequestBody {
  const content = Object.entries(body.content).map(([mediaType, media]) => {
    const refused = (media as { 'x-refused-examples'?: Readonly<Record<string, Example>> })['x-refused-examples'];
    return [mediaType, { ...media, examples: { ...media.examples, ...refused } }];
  });
  return { ...body, content: Object.fromEntries(content) as RequestBody['content'] };
}

function patternOf(path: string): RegExp {
  const escaped = path.split(/\{[^}]+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join('[^/]+')}$`);
}

function fixedLength(path: string): number {
  return path.replaceAll(/\{[^}]+\}/g, '').length;
}
