import { compile } from 'json-schema-to-typescript';

type Schema = Record<string, unknown>;

/** What the client exposes of the contract. What they refer to is included. */
const exposed = [
  'StreamParameters',
  'StreamBatch',
  'SubscriptionDefinition',
  'Subscription',
  'SubscriptionCursor',
  'SubscriptionStatistics',
  'PublishedItems',
  'Partition',
  'EventType',
  'EventTypeDefinition',
  'EventTypeSchema',
  'CommandStatus',
  'BusinessDayClosed',
  'CommandRejected',
  'LoanAccountChanged',
  'LoanBalanceChanged',
  'LoanFeeEvent',
  'LoanScheduleChanged',
  'LoanStateChanged',
  'LoanTransactionPosted',
];

/** The types of the client: as those of the service, but numbers that may have a fraction are exact. */
export async function clientTypes(
  schemas: Readonly<Schema>,
  typed: (schema: unknown) => unknown,
  bannerComment: string,
): Promise<string> {
  const commands = commandSchemas(schemas);
  const names = Object.keys(schemas);
  const properties = {
    schemas: objectOf(Object.fromEntries(exposed.map((name) => [name, referenceTo(name)]))),
    commands: objectOf(commands),
  };
  const types = await compile(
    {
      ...objectOf(properties),
      description: 'The JSON that the service and its clients exchange, with exact numbers.',
      $defs: Object.fromEntries(names.map((name) => [name, exact(typed(schemas[name]))])),
    },
    'ClientContract',
    { bannerComment, ignoreMinAndMaxItems: true, format: false, unreachableDefinitions: false },
  );
  const withImport = types.replace(
    /\n(?=\/\*\*|type|interface|export)/,
    "\nimport type { Numeric } from './exact-json.ts';\n\n",
  );
  return withImport.replaceAll(/^export (?=(interface|type) (?!ClientContract\b))/gm, '');
}

/** A schema for each type of loan command: what it needs beside its type, and its payload. */
function commandSchemas(schemas: Readonly<Schema>): Schema {
  const { allOf } = schemas['LoanCommand'] as { readonly allOf: readonly CommandRule[] };
  return Object.fromEntries(
    allOf.map(({ if: condition, then }) => {
      const { payload } = then.properties;
      const place = ['loanAccountId', 'loanProductId', 'partition'].find((name) => then.required.includes(name)) ?? '';
      const reference = payload.$ref.slice(payload.$ref.lastIndexOf('/') + 1);
      const properties = {
        [place]: { type: place === 'partition' ? 'integer' : 'string' },
        payload: referenceTo(reference),
      };
      const required =
        then.required.includes('payload') || needsFields(schemas[reference]) ? [place, 'payload'] : [place];
      return [condition.properties.type.const, { ...objectOf(properties), required }];
    }),
  );
}

interface CommandRule {
  readonly if: { readonly properties: { readonly type: { readonly const: string } } };
  readonly then: {
    readonly required: readonly string[];
    readonly properties: { readonly payload: { readonly $ref: string }; readonly [field: string]: unknown };
  };
}

function needsFields(schema: unknown): boolean {
  return ((schema as { readonly required?: readonly string[] }).required ?? []).length > 0;
}

/** A schema whose numbers have the type of exact numbers. Integers stay numbers: a double holds every one of them. */
function exact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(exact);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type } = schema as { readonly type?: unknown };
  if (type === 'number') return { ...schema, tsType: 'Numeric' };
  if (Array.isArray(type) && type.includes('number') && !('enum' in schema)) {
    return { ...schema, tsType: type.map((each) => plainTypes[String(each)] ?? 'unknown').join(' | ') };
  }
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, exact(value)]));
}

const plainTypes: Readonly<Record<string, string>> = {
  number: 'Numeric',
  integer: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
};

function referenceTo(name: string): Schema {
  return { $ref: `#/$defs/${name}` };
}

function objectOf(properties: Schema): Schema {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}
