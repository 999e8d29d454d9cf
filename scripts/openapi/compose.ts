import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Composes the description of the API: one self-contained OpenAPI document, from the files below schemas/.
 * `api/api.json` has the shared parts and `api/paths/` the paths. Everything they refer to in other files is included
 * under `components/schemas`, so that each schema is written once.
 */

/**
 * The refusals possible for every operation, before the operation is even determined. Names for lending start with
 * `Lending`.
 */
const refusalsOfAll = {
  '400': 'MalformedRequest',
  '403': 'Forbidden',
  '421': 'Misdirected',
  '429': 'TooManyRequests',
};

const lendingFiles: ReadonlySet<string> = new Set([
  'toggles',
  'loan-products',
  'loans',
  'loan-transactions',
  'searches',
  'commands',
  'business-days',
  'organization',
  'branches-and-channels',
  'custom-fields',
  'organization-lists',
]);

/**
 * The paths where a header decides whether a request is one of an API with problems, or of one with the errors of
 * lending. The names of their refusals start with `Mambu`.
 */
const eitherFormFile = 'mambu-streaming-v2';

/** The lending API answers at two places. */
const lendingServers = [{ url: '/' }, { url: '/api', description: 'Where clients of Mambu look for the lending API.' }];

type Json = unknown;
type JsonObject = Record<string, Json>;

/** In the order in which the document lists them, and in which its examples are sent. */
const pathFiles = [
  'event-types',
  'publishing',
  'retained-events',
  'cursors',
  'settings',
  'access',
  'subscriptions',
  'streams',
  'mambu-streaming-v1',
  'mambu-streaming-v2',
  'toggles',
  'loan-products',
  'loans',
  'loan-transactions',
  'searches',
  'commands',
  'business-days',
  'organization',
  'branches-and-channels',
  'custom-fields',
  'organization-lists',
  'operations',
];

/** What lending reads from and writes to the log. No response refers to these, but their consumers need their types. */
const messageFiles = [
  'commands/loan-command.json',
  'events/loan-transaction-posted.json',
  'events/loan-fee-event.json',
  'events/loan-balance-changed.json',
  'events/loan-schedule-changed.json',
  'events/loan-account-changed.json',
  'events/loan-state-changed.json',
  'events/command-rejected.json',
  'events/business-day-closed.json',
];

/** Shared by all. Its texts and numbers are written out where they are used, since they are not types of their own. */
const sharedFile = 'common.json';

/**
 * The whole OpenAPI document.
 * @param folder The folder schemas/.
 * @throws Error for a reference that leads nowhere, or two schemas with the same name
 */
export function composeDescription(folder: string, version: string): JsonObject {
  const schemas = new SchemaCollection(folder);
  const api = schemas.addSchemasOf(schemas.read('api/api.json'), 'api/api.json') as JsonObject;
  const paths: JsonObject = {};
  for (const name of pathFiles) {
    const file = `api/paths/${name}.json`;
    for (const [path, item] of Object.entries(schemas.read(file))) {
      if (paths[path] !== undefined) throw new Error(`${file}: ${path} is described twice`);
      const described = schemas.addSchemasOf(item, file) as JsonObject;
      paths[path] = lendingFiles.has(name)
        ? { servers: lendingServers, ...withRefusals(described, 'Lending') }
        : withRefusals(described, name === eitherFormFile ? 'Mambu' : '');
    }
  }
  for (const file of messageFiles) schemas.nameOf(file, '');
  const shared = api['components'] as JsonObject;
  const responses = withEitherForm(shared['responses'] as Readonly<Record<string, JsonObject>>);
  const components = { ...shared, responses, schemas: schemas.sorted() };
  return { ...api, info: { ...(api['info'] as JsonObject), version }, paths, components };
}

/** A path item with the refusals that all operations share. */
function withRefusals(item: JsonObject, prefix: string): JsonObject {
  const common = Object.entries(refusalsOfAll).map(([status, name]): [string, Json] => [
    status,
    { $ref: `#/components/responses/${prefix}${name}` },
  ]);
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => {
      const responses = (operation as JsonObject)['responses'];
      if (responses === undefined) return [method, operation];
      const all = { ...Object.fromEntries(common), ...(responses as JsonObject) };
      return [method, { ...(operation as JsonObject), responses: all }];
    }),
  );
}

/** The refusals of every API, and those that have either form. */
function withEitherForm(responses: Readonly<Record<string, JsonObject>>): JsonObject {
  const lendingErrors = { 'application/json': { schema: { $ref: '#/components/schemas/LendingErrors' } } };
  const both = Object.entries(responses).flatMap(([name, response]): [string, Json][] => {
    const problems = response['content'] as JsonObject | undefined;
    if (name.startsWith('Lending') || problems === undefined) return [];
    return [[`Mambu${name}`, { ...response, content: { ...problems, ...lendingErrors } }]];
  });
  return { ...responses, ...Object.fromEntries(both) };
}

class SchemaCollection {
  readonly #folder: string;
  readonly #files = new Map<string, JsonObject>();
  /** The origin of each schema, and the schema itself, by name. */
  readonly #origins = new Map<string, string>();
  readonly #schemas = new Map<string, Json>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(file: string): JsonObject {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const read = JSON.parse(readFileSync(join(this.#folder, file), 'utf8')) as JsonObject;
    this.#files.set(file, read);
    return read;
  }

  /** The value with every reference to a file replaced by one within the document. */
  addSchemasOf(value: Json, file: string): Json {
    if (Array.isArray(value)) return value.map((item) => this.addSchemasOf(item, file));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...others } = value as JsonObject;
    const rest = Object.fromEntries(Object.entries(others).map(([key, item]) => [key, this.addSchemasOf(item, file)]));
    if (typeof $ref !== 'string') return rest;
    if ($ref.startsWith('#/components/')) return { $ref, ...rest };
    const [path = '', pointer = ''] = $ref.split('#');
    const target = path === '' ? file : join(dirname(file), path);
    const shared = target === sharedFile ? this.#find(target, pointer) : {};
    if (target === sharedFile && shared['type'] !== 'object') return { ...shared, ...rest };
    return { $ref: `#/components/schemas/${this.nameOf(target, pointer)}`, ...rest };
  }

  /** The name under which a schema is included. @param pointer Within the file; empty for the whole file. */
  nameOf(file: string, pointer: string): string {
    const schema = this.#find(file, pointer);
    const name = typeof schema['title'] === 'string' ? schema['title'] : this.#derivedName(file, pointer);
    const origin = `${file}#${pointer}`;
    const known = this.#origins.get(name);
    if (known === origin) return name;
    if (known !== undefined) throw new Error(`${origin} and ${known} are both called ${name}`);
    this.#origins.set(name, origin);
    const { $schema: _dialect, $id: _id, $defs: _definitions, ...own } = schema;
    this.#schemas.set(name, this.addSchemasOf(own, file));
    return name;
  }

  sorted(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  #derivedName(file: string, pointer: string): string {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1);
    const prefix = file === sharedFile ? '' : String(this.read(file)['title']);
    return `${prefix}${last.charAt(0).toUpperCase()}${last.slice(1)}`;
  }

  #find(file: string, pointer: string): JsonObject {
    let found: Json = this.read(file);
    for (const step of pointer.split('/').slice(1)) found = (found as JsonObject | undefined)?.[step];
    if (typeof found !== 'object' || found === null) throw new Error(`${file} has nothing at ${pointer}`);
    return found as JsonObject;
  }
}
