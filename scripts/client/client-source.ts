import { compile } from 'json-schema-to-typescript';
import { type Contract, definitionsOf, schemaOf } from './contract.ts';

/** The source of a typed client of the contract: one function for each operation, and the types of its bodies. */
export async function clientSource(contract: Contract): Promise<string> {
  const definitions = definitionsOf(contract);
  const bodies = contract.operations.flatMap(({ name, request, response }) => [
    ...(request === undefined ? [] : [[`${name}Request`, schemaOf(request)] as const]),
    ...(response === undefined ? [] : [[`${name}Response`, schemaOf(response)] as const]),
  ]);
  const types = await compile(
    {
      type: 'object',
      description: 'The bodies of requests and responses.',
      additionalProperties: false,
      required: bodies.map(([name]) => name),
      properties: Object.fromEntries(bodies),
      $defs: definitions,
    },
    'Bodies',
    { bannerComment: '', format: false },
  );
  const functions = contract.operations.map(({ name, path, query, request, response }) => {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: string`);
    if (request !== undefined) parameters.push(`body: Bodies['${name}Request']`);
    if (query !== undefined) parameters.push(`query?: { ${query.map((one) => `${one}?: string`).join('; ')} }`);
    const result = response === undefined ? 'void' : `Bodies['${name}Response']`;
    return { name, path, parameters, hasBody: request !== undefined, hasQuery: query !== undefined, result };
  });
  return [
    '/* Generated from contract.json by `npm run generate`. Do not edit. */',
    '',
    types.replaceAll(/^export (?=(interface|type) )/gm, '').trim(),
    '',
    '/** Sends the request of an operation, and returns the body of its response. */',
    'export type Send = (operation: string, path: string, body?: unknown, query?: Record<string, string>) => Promise<unknown>;',
    '',
    'export function createClient(send: Send) {',
    'return {',
    ...functions.map(({ name, path, parameters, hasBody, hasQuery, result }) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}');
      const text = filled === path ? `'${path}'` : `\`${filled}\``;
      const sent = [`'${name}'`, text];
      if (hasBody || hasQuery) sent.push(hasBody ? 'body' : 'undefined');
      if (hasQuery) sent.push('query');
      return `${name}: (${parameters.join(', ')}) => send(${sent.join(', ')}) as Promise<${result}>,`;
    }),
    '};',
    '}',
    '',
  ].join('\n');
}
