import type { Example, Operation, Parameter } from './api-description.ts';

/** A parameter's value in a request. */
export type Values = Readonly<Record<string, string>>;

/** A request of an operation with one of its examples. */
export interface ExampleRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; absent where the operation has no body. */
  readonly body?: string;
}

/** By name; an operation without a body has one example that contains only its parameters. */
export function examplesOf({ requestBody, method, responses, example }: Operation): [string, Example][] {
  if (example !== undefined) return [['', example]];
  const written = Object.values(requestBody?.content ?? {}).flatMap(({ examples }) => Object.entries(examples));
  const status = Number(Object.keys(responses)[0]);
  if (written.length > 0) return written;
  return [['', { value: undefined, 'x-status': method === 'delete' ? status : 200 }]];
}

/** The values of all parameters that have an example. */
export function valuesOf({ parameters }: Operation, { 'x-parameters': own = {} }: Example): Values {
  const examples = parameters.flatMap(({ name, example }: Parameter) =>
    example === undefined ? [] : [[name, String(example)]],
  );
  return { ...(Object.fromEntries(examples) as Values), ...own };
}

export function queryOf({ parameters }: Operation): string {
  const given = parameters.filter((parameter) => parameter.in === 'query' && parameter.example !== undefined);
  const query = given.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  return query.length === 0 ? '' : `?${query.join('&')}`;
}

/** @param others Values that replace those of the example. */
export function requestOf(operation: Operation, example: Example, others: Values = {}): ExampleRequest {
  const { method, path, parameters, requestBody } = operation;
  const values = { ...valuesOf(operation, example), ...others };
  const headers = parameters.flatMap(({ name, in: location }) =>
    location === 'header' && values[name] !== undefined ? [[name, values[name]]] : [],
  );
  return {
    method: method.toUpperCase(),
    path:
      path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '')) + queryOf(operation),
    headers: {
      ...(Object.fromEntries(headers) as Record<string, string>),
      ...(requestBody === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(requestBody === undefined ? {} : { body: JSON.stringify(example.value) }),
  };
}
