/**
 * Schemas: whether a schema may be used, and whether an event fits it.
 * In: the text of a schema, and events. Out: validators, violations, and what a change of the schema means.
 * Start with `compileValidator` below. `schema-cost.ts` bounds what a schema may cost to compile,
 * `validation-budget.ts` and `validation-meter.ts` what checking events may cost.
 */

import type { Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { LendstreamError, describeError } from '../../errors.ts';
import type { JsonSchema } from '../../schema-files.ts';
import { isSchemaObject, mapSchema, referredTo, visitSchema, type SchemaObject } from './schema-walk.ts';
import { compileOnDemand } from './definitions-on-demand.ts';
import { linearPattern, patternOnDemand, type LinearPattern } from './linear-patterns.ts';
import { meterCode } from './metered-code.ts';
import { isNumberFormat, listedKeyword, numberKeywordsOf, sizedKeyword, integerKeyword } from './number-keywords.ts';
import { areUnique, type ItemComparison } from './unique-items.ts';
import { ValidationBudget, ValidationBudgetUsedUp } from './validation-budget.ts';
import { meter } from './validation-meter.ts';
import { needsDigits, type WrittenNumbers } from './written-numbers.ts';
import { copyDigits, recordDigits } from './schema-digits.ts';
import { describeErrors, type SchemaViolation } from './violation-texts.ts';
import { isDateTime } from '../../clock.ts';
import { stepsOfFormat, checkOf } from './text-formats.ts';

/**
 * Validates by JSON Schemas that users wrote, drafts 04 to 2020-12. Unknown keywords and formats are allowed, regular
 * expressions are evaluated in linear time, the work of a request is counted and limited, numbers are judged by their
 * digits, and nothing is ever fetched.
 */

/**
 * Returns the violations of a value, none when it is valid. When the value cannot be checked, one violation says so.
 * @param budget The budget of the request that the value came with; one of its own unless given.
 * @param written The digits of the numbers that need them, unless there are none.
 */
export type SchemaValidator = (
  value: unknown,
  budget?: ValidationBudget,
  written?: WrittenNumbers,
) => readonly SchemaViolation[];

export interface ValidatorOptions {
  /** Documents that the schema may refer to, each with its `$id`. */
  readonly references?: readonly JsonSchema[];
  /** Report every violation of a value (the default) or only the first one found. */
  readonly allViolations?: boolean;
  /**
   * Only report whether a value is valid, with one violation that says nothing else. The validator is half as large and
   * takes half as long to compile. `allViolations` is then ignored.
   */
  readonly isUndescribed?: boolean;
  /**
   * The schema is known to be a valid JSON Schema with valid patterns. It is not checked, which takes as long as
   * compiling a large one, and what only some values need is compiled with the first of them.
   */
  readonly isKnownValid?: boolean;
}

/**
 * Compiles a schema once; the validator may then be called any number of times.
 * @throws UNPROCESSABLE when the schema is no valid JSON Schema, refers to something unknown, or has a pattern that is
 *   too large or no regular expression.
 */
export function compileValidator(schema: JsonSchema, options: ValidatorOptions = {}): SchemaValidator {
  const { isUndescribed = false, isKnownValid = false } = options;
  const { dialect, normalised } = normalise(schema, isUndescribed);
  try {
    if (!isKnownValid) metaValidate(dialect, normalised);
    const allViolations = !isUndescribed && (options.allViolations ?? true);
    const text = JSON.stringify(normalised);
    const ajv = createAjv(dialect, {
      allErrors: allViolations,
      meta: false,
      ownProperties: namesInherited(text),
      patternOf: isKnownValid ? patternOnDemand : linearPattern,
    });
    // No rule depends on which fields and items were evaluated, and noting them takes code.
    if (options.references === undefined && !text.includes('"unevaluated')) ajv.opts.unevaluated = false;
    for (const reference of options.references ?? []) ajv.addSchema(normalise(reference, isUndescribed).normalised);
    const validate = isKnownValid ? compileOnDemand(ajv, normalised) : ajv.compile(normalised);
    return (value, budget = new ValidationBudget(0), written) => {
      try {
        if (meter.run(budget, written, validate, value)) return noViolations;
        if (isUndescribed) return undescribed;
        return describeErrors(validate.errors ?? [], allViolations);
      } catch (error) {
        if (error instanceof ValidationBudgetUsedUp) return tooCostly(budget);
        // A reference that leads back to itself without a step into the value exhausts the stack before the budget.
        if (error instanceof RangeError) return endlessRecursion;
        throw error;
      }
    };
  } catch (error) {
    if (error instanceof LendstreamError) throw error;
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${describeError(error)}`, { cause: error });
  }
}

const noViolations: readonly SchemaViolation[] = [];

/** The result, for every invalid value, of a validator that describes no violations. */
export const undescribed: readonly SchemaViolation[] = [{ pointer: '#', message: 'does not fit the schema' }];

const endlessRecursion: readonly SchemaViolation[] = [
  { pointer: '#', message: 'cannot be checked: the schema refers to itself too often' },
];

function tooCostly({ steps, stepsMaximum, stepsPerEvent }: ValidationBudget): readonly SchemaViolation[] {
  const message =
    steps < 0
      ? `cannot be checked: the schema makes checking the events of this request take more than ${stepsMaximum} steps; ` +
        'send fewer or smaller events at a time, or make the schema simpler'
      : `cannot be checked: the schema makes checking this event take more than ${stepsPerEvent} steps; ` +
        'send a smaller event, or make the schema simpler';
  return [{ pointer: '#', message }];
}

/** Drafts 04 to 07 are read as 2019-09, which has all of their keywords. */
type Dialect = '2019-09' | '2020-12';

/**
 * The dialect that a schema is read as. A schema that does not name its draft is read as 2020-12 when it uses keywords
 * that only that draft has.
 */
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

const numberRules = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
] as const;

/** Whether a schema may have rules that need the digits of numbers. Reading digits takes time. */
export function requiresDigits(schema: SchemaObject): boolean {
  // Searches all values, also those that only a reference makes a schema.
  const level: unknown[] = [schema];
  for (let value = level.pop(); value !== undefined; value = level.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (isSchemaObject(value)) {
      if (numberRules.some((rule) => rule in value)) return true;
      if (isForIntegers(value['type']) || listsLongNumbers(value) || isNumberFormat(value['format'])) return true;
    }
    for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) level.push(member);
  }
  return false;
}

/**
 * Rewrites a schema for its dialect. Draft 04 writes `id` for `$id`, and its exclusive bounds are flags.
 * @param isUndescribed Whether the validator describes no violations.
 */
function normalise(schema: JsonSchema, isUndescribed: boolean): { dialect: Dialect; normalised: SchemaObject } {
  const dialect = dialectOf(schema);
  const referred = referredTo(schema);
  const normalised = mapSchema(
    schema,
    (found, pointer) => {
      const changed: Record<string, unknown> = { ...found };
      delete changed['$schema'];
      delete changed['id'];
      // An asynchronous validator would let every value pass.
      delete changed['$async'];
      delete changed[integerKeyword];
      delete changed[listedKeyword];
      delete changed[sizedKeyword];
      delete changed[undescribedKeyword];
      if (isUndescribed && (pointer === '#' || referred.has(`#${pointer.slice(1)}`)))
        changed[undescribedKeyword] = true;
      if (isNumberFormat(changed['format'])) changed[sizedKeyword] = changed['format'];
      if (isForIntegers(changed['type'])) changed[integerKeyword] = true;
      if (listsLongNumbers(changed)) changed[listedKeyword] = true;
      for (const [flag, bound] of exclusiveBounds) {
        if (typeof changed[flag] !== 'boolean') continue;
        const exclusive = changed[flag];
        delete changed[flag];
        if (exclusive && changed[bound] !== undefined) {
          changed[flag] = changed[bound];
          delete changed[bound];
          copyDigits(changed, changed, { [bound]: flag });
        }
      }
      return changed;
    },
    referred,
  );
  return { dialect, normalised };
}

/** Whether a schema lists numbers that may have the same double as another number with as many digits. */
function listsLongNumbers({ const: only, enum: choices }: SchemaObject): boolean {
  return [only, choices].flat().some((value) => typeof value === 'number' && needsDigits(String(value)));
}

function isForIntegers(type: unknown): boolean {
  const types: unknown[] = [type].flat();
  return types.includes('integer') && !types.includes('number');
}

const exclusiveBounds = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

type AnyAjv = Ajv2019 | Ajv2020;

/** Definitions of at most this many keywords are compiled at each reference. */
const inlinedKeywordsMaximum = 3;

/**
 * Put into the root of a schema whose validator describes no violations, and into every target of its references, since
 * each of them becomes a function.
 */
const undescribedKeyword = 'lendstream:undescribed';

/**
 * One instance for each dialect, which checks schemas. Each compilation uses an instance of its own, which is then
 * released.
 */
const metaValidators = new Map<Dialect, AnyAjv>();

function metaValidate(dialect: Dialect, schema: SchemaObject): void {
  const ajv =
    metaValidators.get(dialect) ??
    createAjv(dialect, { allErrors: false, meta: true, ownProperties: false, patternOf: linearPattern });
  metaValidators.set(dialect, ajv);
  // The patterns of the dialect count their work, so they need a budget. The work on a schema is limited by its size
  // instead.
  if (
    meter.run(
      new ValidationBudget(Number.POSITIVE_INFINITY),
      undefined,
      () => ajv.validateSchema(schema) === true,
      schema,
    )
  )
    return;
  const [error] = ajv.errors ?? [];
  throw new LendstreamError('UNPROCESSABLE', `Invalid schema: #${error?.instancePath}: ${error?.message}`);
}

/** For checking schemas themselves, whose size is limited. */
const uncounted: ItemComparison = { spend: () => {}, numberText: () => undefined };

/** The names that every object inherits: an event without such a field seems to have it. */
const inheritedNames = Object.getOwnPropertyNames(Object.prototype).map((name) => JSON.stringify(name));

/**
 * Whether a schema may describe a field with such a name. Only then validators are limited to own fields, which costs
 * time.
 */
function namesInherited(text: string): boolean {
  return inheritedNames.some((name) => text.includes(name));
}

interface AjvOptions extends Required<Pick<Options, 'allErrors' | 'ownProperties'>> {
  /** Whether it validates schemas, not events. */
  readonly meta: boolean;
  readonly patternOf: (text: string) => LinearPattern;
}

function createAjv(dialect: Dialect, { allErrors, meta, ownProperties, patternOf }: AjvOptions): AnyAjv {
  const options: Options = {
    strict: false,
    // In events, numbers beyond the range of a double are numbers like any other. In schemas they are none.
    strictNumbers: meta,
    allErrors,
    ownProperties,
    // Keeps the offending value, for the messages.
    verbose: true,
    validateSchema: false,
    meta,
    // A definition is compiled once for all its references, unless it is hardly larger than a reference.
    inlineRefs: inlinedKeywordsMaximum,
    logger: false,
    // Ajv's own optimising takes a third of the compile time. The code that it removes costs nothing when it runs.
    code: { regExp: asRegExp(patternOf), optimize: false, process: meta ? (code) => code : meterCode },
    // The linear engine compiles the patterns of a schema, so it decides which of them are valid. Patterns in events
    // are never matched: it is enough, and takes no time, to check that they are regular expressions.
    formats: meta ? { ...formats, regex: isLinearPattern } : meteredFormats,
  };
  const ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv2019(options);
  // The `uniqueItems` of Ajv compares every item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (isWanted: boolean, items: readonly unknown[]) => !isWanted || areUnique(items, meta ? uncounted : meter),
    error: { message: 'must not have duplicate items' },
  });
  if (meta) return ajv;
  for (const definition of numberKeywordsOf()) {
    for (const keyword of [definition.keyword].flat()) ajv.removeKeyword(keyword);
    ajv.addKeyword(definition);
  }
  ajv.addKeyword({
    keyword: undescribedKeyword,
    before: '$ref',
    // Subschemas inherit this.
    code: ({ it }) => void Object.assign(it, { createErrors: false }),
  });
  return Object.assign(ajv, { meter });
}

/** Ajv needs the name of the engine as code, which only its stand-alone mode uses. */
function asRegExp(patternOf: (text: string) => LinearPattern) {
  return Object.assign((text: string) => patternOf(text), { code: 'linearRegExp' });
}

/** Any 128 bits written as 8-4-4-4-12 hexadecimal digits, of any version and in either case. */
const eventIdPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

const currencyCodes = new Set(Intl.supportedValuesOf('currency'));

function isLinearPattern(text: string): boolean {
  try {
    linearPattern(text);
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
  ...Object.fromEntries(Object.entries(fullFormats).filter(([name]) => !isNumberFormat(name))),
  'date-time': isDateTime,
  uuid: eventIdPattern,
  'iso-4217': (text: string) => currencyCodes.has(text),
  regex: isRegularExpression,
};

/** The same formats, charged to the budget of the request. */
const meteredFormats = Object.fromEntries(
  Object.entries(formats).map(([name, format]) => {
    const check = checkOf(format);
    if (check === undefined) return [name, format];
    const metered = (text: string): boolean => {
      meter.spend(stepsOfFormat(name, text.length));
      return check(text);
    };
    return [name, metered];
  }),
);

/**
 * Reads the text of a schema.
 * @throws UNPROCESSABLE when it is no JSON object.
 */
export function parseSchema(text: string): JsonSchema {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: it is not JSON: ${describeError(error)}`);
  }
  if (!isSchemaObject(schema)) throw new LendstreamError('UNPROCESSABLE', 'Invalid schema: it must be a JSON object.');
  recordDigits(text, schema);
  return schema;
}
