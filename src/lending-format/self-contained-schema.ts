import { type JsonSchema, loadSchema } from '../schema-files.ts';

/** By file. The files do not change while a process runs. */
const made = new Map<string, JsonSchema>();

/**
 * A schema file that includes everything it refers to in `common.json`, so that it is complete wherever it is shown.
 * @param file Path below schemas/.
 */
export function lendingSchema(file: string): JsonSchema {
  const schema = made.get(file) ?? makeSchema(file);
  made.set(file, schema);
  return schema;
}

function makeSchema(file: string): JsonSchema {
  const shared = loadSchema('common.json')['$defs'] as Record<string, unknown>;
  const own = withLocalReferences(loadSchema(file));
  const definitions: Record<string, unknown> = { ...(own.schema['$defs'] as object | undefined) };
  const referredNames = [...own.referredNames];
  for (let name = referredNames.pop(); name !== undefined; name = referredNames.pop()) {
    if (definitions[name] !== undefined) continue;
    if (shared[name] === undefined) throw new Error(`${file} refers to ${name}, which is not in common.json`);
    const definition = withLocalReferences(shared[name]);
    definitions[name] = definition.schema;
    referredNames.push(...definition.referredNames);
  }
  return { ...own.schema, $defs: definitions };
}

interface LocalSchema {
  readonly schema: JsonSchema;
  /** The definitions that it refers to, in the order of the references. */
  readonly referredNames: readonly string[];
}

/** A copy of a schema that refers to its own `$defs` in place of those of `common.json`. */
function withLocalReferences(schema: unknown): LocalSchema {
  const referredNames: string[] = [];
  const copy = JSON.parse(JSON.stringify(schema), (keyword, value: unknown) => {
    if (keyword !== '$ref' || typeof value !== 'string') return value;
    const name = value.slice(value.indexOf(definitionsPath) + definitionsPath.length);
    referredNames.push(name);
    return definitionsPath + name;
  }) as JsonSchema;
  return { schema: copy, referredNames };
}

const definitionsPath = '#/$defs/';
