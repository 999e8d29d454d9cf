import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { RE2JS } from 're2js';
import { LendstreamError, describeError } from '../errors.ts';
import type { JsonSchema } from '../schemas.ts';
import { isSchemaObject, mapSchema, visitSchema, type SchemaObject } from './json-schema-tree.ts';
import { areUnique } from './unique-items.ts';

/**
 * JSON Schema as users bring it, drafts 04 to 2020-12: unknown keywords and formats are allowed, regular expressions
 * are evaluated in linear time, so that no pattern can stall the process, and nothing is ever fetched.
 */

/** One broken rule of a value: where (a JSON pointer, `#` for the value itself) and what. */
export interface SchemaViolation {
  readonly pointer: string;
  readonly message: string;
}

/** The violations of a value, none when it is valid. */
export type SchemaValidator = (value: unknown) => readonly SchemaViolation[];

export interface ValidatorOptions {
  /** Documents the schema may refer to, each with its `$id`. */
  readonly references?: readonly JsonSchema[];
  /** Report every violation of a value (the default) or only the first one found. */
  readonly allViolations?: boolean;
}

/** The largest compiled regular expression, in instructions of its automaton. Matching costs at most this per character. */
export const patternInstructionsMaximum = 1_000;

/**
 * The most work one match may be: instructions of the automaton times characters of the text. What would need more does
 * not match. Enough for a megabyte against a plain character class, and well below a second for any pattern.
 */
export const patternStepsMaximum = 10_000_000;

/**
 * How many references of its schema one value may be led through, when only its first violation is wanted: as many as
 * the largest event can have items. A schema that refers to itself in several ways could otherwise take time, and
 * memory for violations, that doubles with every level.
 */
export const referencesFollowedMaximum = 500_000;

/** The same when every violation is wanted, which is asked of small events only. */
export const referencesFollowedForAllViolationsMaximum = 50_000;

/**
 * Compiles a schema once; the validator may then be called any number of times.
 * @throws UNPROCESSABLE when the schema is no valid JSON Schema, refers to something unknown, or has a pattern that is
 *   no regular expression or too large a one
 */
export function compileValidator(schema: JsonSchema, options: ValidatorOptions = {}): SchemaValidator {
  const { dialect, normalised } = normalise(schema);
  try {
    metaValidate(dialect, normalised);
    const allViolations = options.allViolations ?? true;
    const ajv = createAjv(dialect, {
      allErrors: allViolations,
      meta: false,
      ownProperties: namesInherited(normalised),
    });
    const budget = { references: 0 };
    ajv.addKeyword({
      keyword: referenceKeyword,
      before: '$ref',
      schema: false,
      errors: false,
      validate: () => {
        budget.references -= 1;
        if (budget.references < 0) throw new EndlessSchema();
        return true;
      },
    });
    for (const reference of options.references ?? []) ajv.addSchema(normalise(reference).normalised);
    const validate: ValidateFunction = ajv.compile(normalised);
    const maximum = allViolations ? referencesFollowedForAllViolationsMaximum : referencesFollowedMaximum;
    return (value) => {
      budget.references = maximum;
      try {
        return validate(value) ? noViolations : describeErrors(validate.errors ?? []);
      } catch (error) {
        // A reference that leads back to itself without a step into the value exhausts the stack first.
        if (error instanceof EndlessSchema || error instanceof RangeError) return endless;
        throw error;
      }
    };
  } catch (error) {
    if (error instanceof LendstreamError) throw error;
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${describeError(error)}`, { cause: error });
  }
}

/** Most violations that one text names; of more it gives the number. */
export const namedViolationsMaximum = 100;

/** All violations in one text: `#/amount: ...`, or a count and one line for each. */
export function describeViolations(violations: readonly SchemaViolation[]): string {
  const lines = violations.slice(0, namedViolationsMaximum).map(({ pointer, message }) => `${pointer}: ${message}`);
  return violations.length === 1
    ? (lines[0] ?? '')
    : `#: ${violations.length} schema violations found\n${lines.join('\n')}`;
}

const noViolations: readonly SchemaViolation[] = [];

/** Put beside every reference of a schema: counts how often it is followed. */
const referenceKeyword = 'lendstream:reference';

const referringKeywords = ['$ref', '$dynamicRef', '$recursiveRef'];

class EndlessSchema extends Error {}

const endless: readonly SchemaViolation[] = [
  { pointer: '#', message: 'cannot be checked: the schema refers to itself too often' },
];

/** Drafts 04 to 07 are read as 2019-09, which has all of theirs. */
type Dialect = '2019-09' | '2020-12';

/** A schema that does not name its draft is read as 2020-12 when it uses what only that draft has. */
function dialectOf(schema: SchemaObject): Dialect {
  const declared = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (declared.includes('2020-12')) return '2020-12';
  if (declared !== '') return '2019-09';
  let dialect: Dialect = '2019-09';
  visitSchema(schema, (found) => {
    if ('prefixItems' in found || '$dynamicRef' in found) dialect = '2020-12';
  });
  return dialect;
}

/** Draft 04 says `id` for `$id` and makes the exclusive bounds flags. */
function normalise(schema: JsonSchema): { dialect: Dialect; normalised: SchemaObject } {
  const dialect = dialectOf(schema);
  const normalised = mapSchema(schema, (found) => {
    const changed: Record<string, unknown> = { ...found };
    delete changed['$schema'];
    delete changed['id'];
    // A validator that answers later would have every value pass.
    delete changed['$async'];
    if (referringKeywords.some((keyword) => keyword in changed)) changed[referenceKeyword] = true;
    for (const [flag, bound] of exclusiveBounds) {
      if (typeof changed[flag] !== 'boolean') continue;
      const exclusive = changed[flag];
      delete changed[flag];
      if (exclusive && changed[bound] !== undefined) {
        changed[flag] = changed[bound];
        delete changed[bound];
      }
    }
    return changed;
  });
  return { dialect, normalised };
}

const exclusiveBounds = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

type AnyAjv = Ajv2019 | Ajv2020;

/** Definitions of at most so many keywords are compiled wherever they are referred to. */
const inlinedKeywordsMaximum = 4;

/** One instance for each dialect that checks schemas; compiling is done by an instance of its own, which then goes. */
const metaValidators = new Map<Dialect, AnyAjv>();

function metaValidate(dialect: Dialect, schema: SchemaObject): void {
  const ajv = metaValidators.get(dialect) ?? createAjv(dialect, { allErrors: false, meta: true, ownProperties: false });
  metaValidators.set(dialect, ajv);
  if (ajv.validateSchema(schema) === true) return;
  const [error] = ajv.errors ?? [];
  throw new LendstreamError('UNPROCESSABLE', `Invalid schema: #${error?.instancePath}: ${error?.message}`);
}

/** What every object inherits, so that an event without such a field seems to have it. */
const inheritedNames = Object.getOwnPropertyNames(Object.prototype).map((name) => JSON.stringify(name));

/** Whether a schema may describe a field of such a name; looking at own fields only costs time, so others need not. */
function namesInherited(schema: SchemaObject): boolean {
  const text = JSON.stringify(schema);
  return inheritedNames.some((name) => text.includes(name));
}

function createAjv(
  dialect: Dialect,
  { allErrors, meta, ownProperties }: Required<Pick<Options, 'allErrors' | 'ownProperties'>> & { meta: boolean },
): AnyAjv {
  const options: Options = {
    strict: false,
    // Numbers beyond the range of a double come out of the parser as Infinity.
    strictNumbers: true,
    allErrors,
    ownProperties,
    // The offending value, for the messages.
    verbose: true,
    validateSchema: false,
    meta,
    // What is referred to often is compiled once, unless it is hardly more than the reference.
    inlineRefs: inlinedKeywordsMaximum,
    logger: false,
    // What Ajv's own optimising leaves out of the code costs nothing when it runs, and a third of compiling.
    code: { regExp: linearRegExp, optimize: false },
    // The patterns of a schema are compiled by the linear engine, so it is asked what it understands. Those that events
    // bring along are never matched: it is enough, and takes no time, to see that they are regular expressions.
    formats: { ...formats, regex: meta ? isLinearPattern : isRegularExpression },
  };
  const ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv2019(options);
  // Ajv's own compares every item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (isWanted: boolean, items: readonly unknown[]) => !isWanted || areUnique(items),
    error: { message: 'must not have duplicate items' },
  });
  return ajv;
}

interface Pattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/** A pattern is met several times: when its schema is checked, and by each validator that is made of it. */
const patternsKeptMaximum = 50;
const patterns = new Map<string, Pattern>();

function keptPattern(text: string): Pattern {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  const pattern = compilePattern(text);
  if (patterns.size >= patternsKeptMaximum) {
    const [oldest] = patterns.keys();
    if (oldest !== undefined) patterns.delete(oldest);
  }
  patterns.set(text, pattern);
  return pattern;
}

/** JavaScript's regular expressions backtrack and may take exponential time; these do not. */
function compilePattern(pattern: string): Pattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  if (compiled.programSize() > patternInstructionsMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: the pattern ${pattern} is too large.`);
  }
  const charactersMaximum = patternStepsMaximum / compiled.programSize();
  // Ajv keeps one matcher for each text of it: two patterns with the same text would be one.
  return { test: (text) => text.length <= charactersMaximum && compiled.test(text), toString: () => pattern };
}

/** Ajv wants to know the engine's name as code, which only its stand-alone mode uses. */
const linearRegExp = Object.assign(keptPattern, { code: 'linearRegExp' });

/** Fixed-width up to the seconds, so that day, month and year can be read by position. */
const dateTimePattern =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a text is a date and time with a zone, RFC 3339 section 5.6. */
export function isDateTime(text: string): boolean {
  if (!dateTimePattern.test(text)) return false;
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && isLeapYear ? 29 : (daysOfMonth[month - 1] ?? 0));
}

/** Any 128 bits written as 8-4-4-4-12 hexadecimal digits, of whatever version and case. */
const eventIdPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

const currencyCodes = new Set(Intl.supportedValuesOf('currency'));

function isLinearPattern(text: string): boolean {
  try {
    keptPattern(text);
    return true;
  } catch {
    return false;
  }
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== '';
  } catch {
    return false;
  }
}

const formats: NonNullable<Options['formats']> = {
  ...fullFormats,
  'date-time': isDateTime,
  uuid: eventIdPattern,
  'iso-4217': (text: string) => currencyCodes.has(text),
};

/** JSON's own words for a value's type, as messages use them. */
function typeName(value: unknown): string {
  if (value === null) return 'Null';
  if (Array.isArray(value)) return 'Array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'Integer' : 'Number';
  const name = typeof value;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The longest value that a message repeats. Characters. */
const shownValueCharactersMaximum = 100;

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > shownValueCharactersMaximum ? `${text.slice(0, shownValueCharactersMaximum)}...` : text;
}

function describeErrors(errors: readonly ErrorObject[]): readonly SchemaViolation[] {
  return errors.map((error) => ({ pointer: `#${error.instancePath}`, message: describeKeyword(error) }));
}

function describeKeyword({ keyword, params, data, message }: ErrorObject): string {
  const parameters: Record<string, unknown> = params;
  switch (keyword) {
    case 'required':
      return `required key [${String(parameters['missingProperty'])}] not found`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `extraneous key [${String(parameters['additionalProperty'] ?? parameters['unevaluatedProperty'])}] is not permitted`;
    case 'type': {
      const expected = [parameters['type']].flat().map((name) => {
        const text = String(name);
        return text.charAt(0).toUpperCase() + text.slice(1);
      });
      return `expected type: ${expected.join(' or ')}, found: ${typeName(data)}`;
    }
    case 'enum':
    case 'const':
      return `${show(data)} is not a valid enum value`;
    case 'format':
      return `[${show(data)}] is not a valid ${String(parameters['format'])}`;
    case 'pattern':
      return `string [${show(data)}] does not match pattern ${String(parameters['pattern'])}`;
    default:
      return message ?? `breaks the rule ${keyword}`;
  }
}

/**
 * Reads the text of a schema.
 * @throws UNPROCESSABLE when it is no JSON object
 */
export function parseSchema(text: string): JsonSchema {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: it is not JSON: ${describeError(error)}`);
  }
  if (!isSchemaObject(schema)) throw new LendstreamError('UNPROCESSABLE', 'Invalid schema: it must be a JSON object.');
  return schema;
}
