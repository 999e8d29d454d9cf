import { _, str, type Code, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { meter } from './validation-meter.ts';
import { canonicalNumber, compareNumbers, isIntegerText, needsDigits } from './written-numbers.ts';
import { Divisor } from './multiple-of.ts';
import { writtenDigits } from './schema-digits.ts';

/**
 * The rules of schemas for numbers, judged by their digits. Like in Ajv itself, the double is checked first. Doubles
 * never put two numbers into the wrong order, but two different numbers may have the same double. Only then the digits
 * are compared.
 */

/** Put beside the type `integer`: the digits show whether a number is one. */
export const integerKeyword = 'lendstream:whole';

/** Put beside `enum` and `const` with numbers: the digits show whether a number is one of them. */
export const listedKeyword = 'lendstream:listed';

/** Put beside the formats of numbers: the digits show whether a number is in the range of the format. */
export const sizedKeyword = 'lendstream:sized';

/** The formats of numbers, each with the range of its whole numbers; null for a format that admits any number. */
const numberFormats: Readonly<Record<string, { readonly least: bigint; readonly most: bigint } | null>> = {
  int32: { least: -(2n ** 31n), most: 2n ** 31n - 1n },
  int64: { least: -(2n ** 63n), most: 2n ** 63n - 1n },
  float: null,
  double: null,
};

/** Whether a format is one of numbers, not of texts. */
export function isNumberFormat(format: unknown): format is string {
  return typeof format === 'string' && Object.hasOwn(numberFormats, format);
}

class SizedIntegers {
  readonly #least: bigint;
  readonly #most: bigint;

  constructor(least: bigint, most: bigint) {
    this.#least = least;
    this.#most = most;
  }

  include(value: number, container: unknown, key: string | number): boolean {
    const digits = meter.digitsOf(container, key);
    if (digits === undefined) return Number.isInteger(value) && value >= this.#least && value <= this.#most;
    return (
      isIntegerText(digits) &&
      compareNumbers(digits, String(this.#least)) >= 0 &&
      compareNumbers(digits, String(this.#most)) <= 0
    );
  }
}

class Bound {
  readonly #text: string;
  readonly #isLower: boolean;
  readonly #isExclusive: boolean;
  readonly #needsDigits: boolean;

  constructor(text: string, isLower: boolean, isExclusive: boolean) {
    this.#text = text;
    this.#isLower = isLower;
    this.#isExclusive = isExclusive;
    this.#needsDigits = needsDigits(text);
  }

  /** Whether a number breaks the bound, given that both have the same double. */
  isBrokenBy(value: number, container: unknown, key: string | number): boolean {
    const digits = meter.digitsOf(container, key);
    if (digits === undefined && !this.#needsDigits) return this.#isExclusive;
    const order = compareNumbers(digits ?? meter.plainDigitsOf(value), this.#text);
    return order === 0 ? this.#isExclusive : order < 0 === this.#isLower;
  }
}

class WrittenDivisor {
  readonly #divisor: Divisor;

  constructor(text: string) {
    this.#divisor = new Divisor(text, meter.spend);
  }

  divides(value: number, container: unknown, key: string | number): boolean {
    return this.#divisor.divides(value, meter.digitsOf(container, key));
  }
}

/** The arguments of a call from a validator: the value, and where its digits are. */
function digitArguments({ data, it }: KeywordCxt): Code {
  return _`${data}, ${it.parentData}, ${it.parentDataProperty}`;
}

/** The written form of a number of the schema. */
function writtenInSchema({ keyword, schema, parentSchema }: KeywordCxt): string {
  return writtenDigits(parentSchema, keyword) ?? String(schema);
}

const bounds = [
  ['minimum', '>=', true, false],
  ['maximum', '<=', false, false],
  ['exclusiveMinimum', '>', true, true],
  ['exclusiveMaximum', '<', false, true],
] as const;

/** The objects that check numbers in the code of one validator. */
type NumberCheck = Bound | WrittenDivisor | ListedNumbers | SizedIntegers;

/**
 * Gives a number check to the code of a validator. All checks are in one list: the more values Ajv has given to its
 * code already, the longer it takes for the next.
 */
type AddNumberCheck = (cxt: KeywordCxt, check: NumberCheck) => Code;

function checksInOneList(): AddNumberCheck {
  const checks: NumberCheck[] = [];
  return ({ gen }, check) => _`${gen.scopeValue('obj', { ref: checks })}[${checks.push(check) - 1}]`;
}

/** The definitions of all these keywords, for one instance of Ajv. */
export function numberKeywordsOf(): readonly CodeKeywordDefinition[] {
  const add = checksInOneList();
  return [...boundKeywords(add), ...otherKeywords(add)];
}

const boundKeywords = (add: AddNumberCheck) =>
  bounds.map(([keyword, words, isLower, isExclusive]): CodeKeywordDefinition => ({
    keyword,
    type: 'number',
    schemaType: 'number',
    code: (cxt) => {
      const { data, schemaCode } = cxt;
      const bound = add(cxt, new Bound(writtenInSchema(cxt), isLower, isExclusive));
      const isBroken = isLower ? _`${data} < ${schemaCode}` : _`${data} > ${schemaCode}`;
      cxt.fail(_`${isBroken} || (${data} === ${schemaCode} && ${bound}.isBrokenBy(${digitArguments(cxt)}))`);
    },
    error: { message: ({ schemaCode }) => str`must be ${words} ${schemaCode}` },
  }));

const otherKeywords = (add: AddNumberCheck): readonly CodeKeywordDefinition[] => [
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    code: (cxt) => {
      const divisor = add(cxt, new WrittenDivisor(writtenInSchema(cxt)));
      cxt.fail(_`!${divisor}.divides(${digitArguments(cxt)})`);
    },
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
  },
  {
    keyword: integerKeyword,
    type: 'number',
    schemaType: 'boolean',
    code: (cxt) => {
      const check = cxt.gen.scopeValue('obj', { ref: integers });
      cxt.fail(_`meter.written !== undefined && !${check}.include(${digitArguments(cxt)})`);
    },
    error: { message: 'must be integer' },
  },
  {
    keyword: listedKeyword,
    type: 'number',
    schemaType: 'boolean',
    code: (cxt) => {
      const listed = add(cxt, new ListedNumbers(cxt.parentSchema));
      cxt.fail(_`meter.written !== undefined && !${listed}.include(${digitArguments(cxt)})`);
    },
    error: { message: 'must be one of the listed numbers' },
  },
  {
    keyword: sizedKeyword,
    type: 'number',
    schemaType: 'string',
    code: (cxt) => {
      const { least, most } = numberFormats[String(cxt.schema)] ?? {};
      if (least === undefined || most === undefined) return;
      cxt.fail(_`!${add(cxt, new SizedIntegers(least, most))}.include(${digitArguments(cxt)})`);
    },
    error: { message: 'must be a number of the format', params: ({ schemaCode }) => _`{format: ${schemaCode}}` },
  },
];

const integers = {
  include(_value: number, container: unknown, key: string | number): boolean {
    const text = meter.digitsOf(container, key);
    return text === undefined || isIntegerText(text);
  },
};

class ListedNumbers {
  readonly #numbers: ReadonlySet<string>;

  constructor(schema: Readonly<Record<string, unknown>>) {
    const { enum: choices, const: only } = schema;
    const listed = Array.isArray(choices) ? choices.map((choice, at): Listed => [choices, at, choice]) : [];
    const all: Listed[] = [...listed, [schema, 'const', only]];
    this.#numbers = new Set(
      all.flatMap(([container, key, value]) =>
        typeof value === 'number' ? [canonicalNumber(writtenDigits(container, key) ?? String(value))] : [],
      ),
    );
  }

  include(_value: number, container: unknown, key: string | number): boolean {
    const text = meter.digitsOf(container, key);
    return text === undefined || this.#numbers.has(canonicalNumber(text));
  }
}

type Listed = readonly [holder: object, key: string | number, value: unknown];
