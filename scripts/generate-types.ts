import { compile } from 'json-schema-to-typescript';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { composeDescription } from './openapi/compose.ts';
import { formatText } from './format-text.ts';
import { writeOrCheckFile } from './generated-file.ts';
import { endIfHelpIsAsked } from './read-usage.ts';
import { clientTypes } from './types/client-types.ts';

/**
 * Makes the types of requests, responses, commands and events from their schemas in the API's description. With
 * `--check` it writes nothing, and fails when the file in the tree differs from what the schemas give.
 */
endIfHelpIsAsked('generate');

const target = join(packageRoot, 'src/contract.generated.ts');
const clientTarget = join(packageRoot, 'src/client/types.generated.ts');

const banner = '/* Generated from schemas/ by `npm run generate`. Do not edit. */';

type Schema = Record<string, unknown>;

/** A JSON body or a line of a stream has a type; texts, pages and scripts have none. */
const typedMediaTypes = ['application/json', 'application/x-json-stream'];

/**
 * A schema as far as types can express it. Rules that depend on other values (`if`, `oneOf`) or names have no type; the
 * validator checks them. An object has only the fields that its schema names, even where others would be ignored: code
 * that sets another field has misspelt one.
 */
function typed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(typed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, allOf, ...own } = schema as Schema;
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/components/schemas/', '#/$defs/') };
  // A reference to another schema, with further limits on its values.
  const [first] = Array.isArray(allOf) ? (allOf as Schema[]) : [];
  if (typeof first?.['$ref'] === 'string') return typed(first);
  const isOpen = own['properties'] !== undefined && own['additionalProperties'] === undefined;
  return Object.fromEntries(
    Object.entries<unknown>({ ...own, ...(isOpen ? { additionalProperties: false } : {}) })
      .filter(([keyword]) => !['if', 'then', 'else', 'oneOf', 'patternProperties', 'title'].includes(keyword))
      .map(([keyword, value]) => [keyword, keyword === 'properties' ? typedFields(value as Schema) : typed(value)]),
  );
}

/** Typed one by one, because a field may have the name of a keyword. */
function typedFields(fields: Schema): Schema {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, typed(schema)]));
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Contents;
  readonly responses: Readonly<Record<string, Contents>>;
}

interface Contents {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
}

function schemasOf({ content = {} }: Contents): unknown[] {
  return Object.entries(content).flatMap(([mediaType, { schema }]) =>
    typedMediaTypes.includes(mediaType) && schema !== undefined ? [typed(schema)] : [],
  );
}

/** One schema that allows any of several, each listed once. */
function anyOf(schemas: readonly unknown[]): unknown {
  const different = [...new Set(schemas.map((schema) => JSON.stringify(schema)))].map(
    (text) => JSON.parse(text) as unknown,
  );
  return different.length === 1 ? different[0] : { anyOf: different };
}

function objectOf(properties: Readonly<Record<string, unknown>>, description: string): Schema {
  return { type: 'object', description, additionalProperties: false, required: Object.keys(properties), properties };
}

const description = composeDescription(join(packageRoot, 'schemas'), '');
const { schemas } = description['components'] as { schemas: Schema };

async function generate(): Promise<string> {
  const paths = Object.values(description['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>);
  const operations = paths
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId !== undefined);
  const requests: Schema = {};
  const successResponses: Schema = {};
  for (const { operationId, requestBody = {}, responses } of operations) {
    const request = schemasOf(requestBody);
    if (request.length > 0) requests[operationId] = anyOf(request);
    const succeeding = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const successSchemas = succeeding.flatMap(([, response]) => schemasOf(response));
    if (successSchemas.length > 0) successResponses[operationId] = anyOf(successSchemas);
  }
  const names = Object.keys(schemas);
  const types = await compile(
    {
      ...objectOf(
        {
          schemas: objectOf(
            Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
            'Every schema of the API description by its name.',
          ),
          requests: objectOf(requests, 'The JSON of requests, by operationId.'),
          responses: objectOf(
            successResponses,
            'The JSON of successful responses, by operationId; of a stream a line.',
          ),
        },
        'The JSON that the service and its clients exchange.',
      ),
      $defs: Object.fromEntries(names.map((name) => [name, typed(schemas[name])])),
    },
    'Contract',
    {
      bannerComment: banner,
      ignoreMinAndMaxItems: true,
      format: false,
    },
  );
  // Only one name is exported, and all the others are reached through it.
  return formatText(target, types.replaceAll(/^export (?=(interface|type) (?!Contract\b))/gm, ''));
}

writeOrCheckFile(target, await generate());
writeOrCheckFile(clientTarget, await formatText(clientTarget, await clientTypes(schemas, typed, banner)));
