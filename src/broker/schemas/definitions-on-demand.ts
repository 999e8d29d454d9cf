import { _, type CodeKeywordDefinition, type ValidateFunction } from 'ajv';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import type { Ajv2019 } from 'ajv/dist/2019.js';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isSchemaObject, type SchemaObject } from './schema-walk.ts';

/** The name that the schema has in its instance of Ajv. */
const rootName = 'root';

/**
 * Compiles a schema without its definitions of objects. Each of them is compiled when a value first gets to a reference
 * to it. An error in a definition is found only then, so this is for schemas that are known to have none.
 * @param ajv An instance of this schema alone, since its rule for references changes.
 */
export function compileOnDemand(ajv: Ajv2019 | Ajv2020, schema: SchemaObject): ValidateFunction {
  const definitions = new Map<string, LaterDefinition>();
  const rule = ajv.getKeyword('$ref') as CodeKeywordDefinition;
  const { code } = rule;
  rule.code = (cxt) => {
    const reference = String(cxt.schema);
    if (!isOfObject(schema, reference)) return code(cxt);
    const definition = definitions.get(reference) ?? new LaterDefinition(ajv, reference);
    definitions.set(reference, definition);
    return callRef(cxt, _`${cxt.gen.scopeValue('wrapper', { ref: definition })}.validate`);
  };
  ajv.addSchema(schema, rootName);
  return compiled(ajv, rootName);
}

/** A definition, compiled when its validator is first read. Generated code reads that for each value. */
class LaterDefinition {
  readonly #ajv: Ajv2019 | Ajv2020;
  readonly #reference: string;
  #validate: ValidateFunction | undefined;

  constructor(ajv: Ajv2019 | Ajv2020, reference: string) {
    this.#ajv = ajv;
    this.#reference = reference;
  }

  get validate(): ValidateFunction {
    return (this.#validate ??= compiled(this.#ajv, rootName + this.#reference));
  }
}

function compiled(ajv: Ajv2019 | Ajv2020, name: string): ValidateFunction {
  const validate = ajv.getSchema(name);
  if (validate === undefined) throw new Error(`no schema ${name}`);
  return validate;
}

/** Whether a reference leads to a definition of objects. Others are small. */
function isOfObject({ $defs }: SchemaObject, reference: string): boolean {
  const name = reference.slice(definitionsPath.length);
  const definition = reference.startsWith(definitionsPath) && isSchemaObject($defs) ? $defs[name] : undefined;
  return isSchemaObject(definition) && definition['type'] === 'object';
}

const definitionsPath = '#/$defs/';
