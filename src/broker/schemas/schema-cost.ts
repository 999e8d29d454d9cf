import { LendstreamError } from '../../errors.ts';
import { decodedPointer, isSchemaObject, type SchemaObject, dataKeywords } from './schema-walk.ts';
import { patternCost } from './pattern-cost.ts';

/**
 * The cost of a schema before any event is validated against it. Compiling a schema blocks the whole process, so its
 * cost is limited by what can be counted beforehand.
 */

/**
 * The most parts that a schema may have. Its parts are its values, at any depth, without the values that `enum`,
 * `const`, `default` and `examples` list; no reference may lead to those. A regular expression counts for ten more, a
 * reference and the type `integer` for one more each. That allows some three hundred fields with everything that is
 * usually said of one. Compiling as many parts takes about a tenth of a second.
 */
export const schemaPartsMaximum = 1_200;

/**
 * The most names of fields that validators note for `unevaluatedProperties`. References, alternatives and conditions
 * bring these names, and each name counts once for each schema that it is brought to. Each is a line of code, and
 * hundreds of references may lead to a definition of hundreds of fields.
 */
export const evaluatedNamesMaximum = 3_000;

/**
 * The most work that compiling all regular expressions of a schema may take: about as many instructions of automata.
 */
export const schemaPatternCostMaximum = 20_000;

/**
 * The longest total of the positions of all parts, each written out as a JSON pointer. A validator has a text with the
 * position of each of its rules. A few long names around hundreds of fields would let it grow without limit.
 * Characters.
 */
export const schemaPointerCharactersMaximum = 500_000;

/**
 * Checks the cost of compiling a schema.
 * @throws UNPROCESSABLE for a schema whose compilation would block the process for too long.
 */
export function refuseCostlySchema(schema: SchemaObject): void {
  const { values, pointerCharacters } = partsOf(schema);
  const patterns = values.flatMap(patternsOf);
  const parts = values.length + patternParts * patterns.length + values.filter(isExpensive).length;
  if (parts > schemaPartsMaximum) {
    const detail = `it has ${parts} parts, more than ${schemaPartsMaximum}; values that are merely listed do not count`;
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${detail}`);
  }
  if (pointerCharacters > schemaPointerCharactersMaximum) {
    const detail =
      `the JSON pointers of its parts have ${pointerCharacters} characters, more than ` +
      `${schemaPointerCharactersMaximum}; use shorter names or fewer levels`;
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${detail}`);
  }
  const cost = patterns.reduce((sum, pattern) => sum + patternCost(pattern), 0);
  if (cost > schemaPatternCostMaximum) {
    const detail = 'its regular expressions, with all their repetitions written out, are too large';
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${detail}`);
  }
}

/**
 * Checks how many names of fields the validators of a schema would note.
 * @param schema The schema of whole events: compatibility mode `compatible` adds `unevaluatedProperties`, which a
 *   definition itself may lack.
 * @throws UNPROCESSABLE when validators would have to note more than {@link evaluatedNamesMaximum} names.
 */
export function refuseManyEvaluatedNames(schema: SchemaObject): void {
  const names = new EvaluatedNames(schema);
  let sum = 0;
  let usesUnevaluatedProperties = false;
  const remaining: unknown[] = [schema];
  for (let value = remaining.pop(); value !== undefined; value = remaining.pop()) {
    if (isSchemaObject(value)) {
      if ('unevaluatedProperties' in value) usesUnevaluatedProperties = true;
      sum += names.countFor(value);
    }
    if (typeof value !== 'object' || value === null) continue;
    // Pushed one by one: a listed value may have more members than a call may have arguments.
    for (const member of Object.values(value) as unknown[]) remaining.push(member);
  }
  if (!usesUnevaluatedProperties || sum <= evaluatedNamesMaximum) return;
  const detail =
    `its references and alternatives lead to ${sum} evaluated field names, more than ` +
    `${evaluatedNamesMaximum}; "additionalProperties" in the definitions, or fewer references, make it less`;
  throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${detail}`);
}

class EvaluatedNames {
  readonly #root: SchemaObject;
  readonly #counts = new Map<object, number>();

  constructor(root: SchemaObject) {
    this.#root = root;
  }

  /** How many names come from the other schemas that apply to the same object as `schema`. */
  countFor(schema: SchemaObject): number {
    const known = this.#counts.get(schema);
    if (known !== undefined) return known;
    // A schema that leads back to itself finds this 0 while its own sum is being computed.
    this.#counts.set(schema, 0);
    const sum = this.#adjacentSchemas(schema).reduce((names, other) => {
      const { properties } = other;
      return names + (isSchemaObject(properties) ? Object.keys(properties).length : 0) + this.countFor(other);
    }, 0);
    this.#counts.set(schema, sum);
    return sum;
  }

  #adjacentSchemas(schema: SchemaObject): SchemaObject[] {
    const { $ref, dependentSchemas, dependencies } = schema;
    return [
      ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'].flatMap((keyword) => schema[keyword]),
      ...[dependentSchemas, dependencies].flatMap((members) => (isSchemaObject(members) ? Object.values(members) : [])),
      typeof $ref === 'string' ? this.#resolve($ref) : undefined,
    ].filter(isSchemaObject);
  }

  /** The target of a local reference. */
  #resolve(reference: string): unknown {
    let value: unknown = this.#root;
    for (const step of decodedPointer(reference).split('/').slice(1)) {
      if (typeof value !== 'object' || value === null) return undefined;
      value = Reflect.get(value, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    return value;
  }
}

/**
 * The values of a schema and the total length of their positions. Counts all values, not only subschemas: a reference
 * may turn a value into a schema although no keyword at its position does.
 */
function partsOf(root: SchemaObject): { readonly values: readonly unknown[]; readonly pointerCharacters: number } {
  const values: unknown[] = [];
  let pointerCharacters = 0;
  let level: { readonly value: unknown; readonly place: number }[] = [{ value: root, place: 1 }];
  while (level.length > 0) {
    for (const { value, place } of level) {
      values.push(value);
      pointerCharacters += place;
    }
    level = level.flatMap(({ value, place }) => {
      if (typeof value !== 'object' || value === null) return [];
      return Object.entries(value)
        .filter(([key, member]) => Array.isArray(value) || !dataKeywords.has(key) || isSchema(member))
        .map(([key, member]) => ({ value: member as unknown, place: place + 1 + key.length }));
    });
  }
  return { values, pointerCharacters };
}

/** Whether a part is a reference or a type of whole numbers. Either takes half as much code again as other parts. */
function isExpensive(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return false;
  const { type, $ref, $dynamicRef, $recursiveRef } = part as SchemaObject;
  const isReference = [$ref, $dynamicRef, $recursiveRef].some((reference) => typeof reference === 'string');
  return isReference || [type].flat().includes('integer');
}

/** Whether a value may be a schema, since a property may have the name of a keyword that lists data. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function patternsOf(part: unknown): string[] {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return [];
  const { pattern, patternProperties } = part as SchemaObject;
  const names =
    typeof patternProperties === 'object' && patternProperties !== null ? Object.keys(patternProperties) : [];
  return typeof pattern === 'string' ? [pattern, ...names] : names;
}

/** The cost of a regular expression for the compiler, in addition to its own instructions. Parts. */
const patternParts = 10;
