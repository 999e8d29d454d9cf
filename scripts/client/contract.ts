import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';

/** Operations of the lending API as its origin describes them, in test/acceptance/lending/contract.json. */
export interface Contract {
  readonly operations: readonly ContractOperation[];
  /** The fields of each object and their types; a field whose name ends with `!` is required. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface ContractOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  readonly request?: string;
  readonly status: number;
  readonly response?: string;
}

export type Schema = Readonly<Record<string, unknown>>;

export function readContract(): Contract {
  return JSON.parse(readFileSync(join(packageRoot, 'test/acceptance/lending/contract.json'), 'utf8')) as Contract;
}

const plainTypes: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  any: {},
  date: { type: 'string', format: 'date' },
  'date-time': { type: 'string', format: 'date-time' },
};

/** The JSON schema of a type: a plain one, words between bars, the name of an object, or a list of one of them. */
export function schemaOf(type: string): Schema {
  if (type.endsWith('[]')) return { type: 'array', items: schemaOf(type.slice(0, -2).replace(/^\((.*)\)$/, '$1')) };
  if (type.includes('|')) return { enum: type.split('|') };
  return plainTypes[type] ?? { $ref: `#/$defs/${type}` };
}

/** The JSON schemas of all objects. An object has no fields but its own. */
export function definitionsOf({ schemas }: Contract): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, fields]) => [
      name,
      {
        type: 'object',
        additionalProperties: false,
        required: Object.keys(fields).flatMap((field) => (field.endsWith('!') ? [field.slice(0, -1)] : [])),
        properties: Object.fromEntries(
          Object.entries(fields).map(([field, type]) => [field.replace(/!$/, ''), schemaOf(type)]),
        ),
      },
    ]),
  );
}
