import { _, str, type Code, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import {
  Divisor,
  canonicalNumber,
  compareNumbers,
  isWhole,
  needsDigits,
  writtenDigits,
  type WrittenNumbers,
} from './written-numbers.ts';

/**
 * What schemas say of numbers, judged by their digits. As Ajv's own, a double is looked at first: it never puts two
 * numbers into the wrong order, but it may take different ones for the same, and only then the digits are asked.
 */

/** Put beside the type `integer`: the digits say whether a number is one. */
export const wholeKeyword = 'lendstream:whole';

/** Put beside `enum` and `const` with numbers: the digits say whether one of them is meant. */
export const listedKeyword = 'lendstream:listed';

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

  /** Whether a number breaks it whose double is the same as that of the bound. */
  isBrokenBy(value: number, written: WrittenNumbers | undefined, holder: unknown, key: string | number): boolean {
    const text = written?.textOf(holder, key);
    if (text === undefined && !this.#needsDigits) return this.#isExclusive;
    const order = compareNumbers(text ?? String(value), this.#text);
    return order === 0 ? this.#isExclusive : order < 0 === this.#isLower;
  }
}

class WrittenDivisor {
  readonly #divisor: Divisor;

  constructor(text: string) {
    this.#divisor = new Divisor(text);
  }

  divides(value: number, written: WrittenNumbers | undefined, holder: unknown, key: string | number): boolean {
    return this.#divisor.divides(value, written?.textOf(holder, key));
  }
}

/** Arguments for a call from a validator: the value, and where its digits are to be found. */
function whereWritten({ data, it }: KeywordCxt): Code {
  return _`${data}, meter.written, ${it.parentData}, ${it.parentDataProperty}`;
}

/** A number of a schema as it was written. */
function writtenInSchema({ keyword, schema, parentSchema }: KeywordCxt): string {
  return writtenDigits(parentSchema, keyword) ?? String(schema);
}

const bounds = [
  ['minimum', '>=', true, false],
  ['maximum', '<=', false, false],
  ['exclusiveMinimum', '>', true, true],
  ['exclusiveMaximum', '<', false, true],
] as const;

const boundKeywords = bounds.map(([keyword, words, isLower, isExclusive]): CodeKeywordDefinition => ({
  keyword,
  type: 'number',
  schemaType: 'number',
  code: (cxt) => {
    const { data, schemaCode } = cxt;
    const bound = cxt.gen.scopeValue('obj', { ref: new Bound(writtenInSchema(cxt), isLower, isExclusive) });
    const isBroken = isLower ? _`${data} < ${schemaCode}` : _`${data} > ${schemaCode}`;
    cxt.fail(_`${isBroken} || (${data} === ${schemaCode} && ${bound}.isBrokenBy(${whereWritten(cxt)}))`);
  },
  error: { message: ({ schemaCode }) => str`must be ${words} ${schemaCode}` },
}));

export const numberKeywords: readonly CodeKeywordDefinition[] = [
  ...boundKeywords,
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    code: (cxt) => {
      const divisor = cxt.gen.scopeValue('obj', { ref: new WrittenDivisor(writtenInSchema(cxt)) });
      cxt.fail(_`!${divisor}.divides(${whereWritten(cxt)})`);
    },
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
  },
  {
    keyword: wholeKeyword,
    type: 'number',
    schemaType: 'boolean',
    code: (cxt) => {
      const judge = cxt.gen.scopeValue('obj', { ref: integers });
      cxt.fail(_`meter.written !== undefined && !${judge}.include(${whereWritten(cxt)})`);
    },
    error: { message: 'must be integer' },
  },
  {
    keyword: listedKeyword,
    type: 'number',
    schemaType: 'boolean',
    code: (cxt) => {
      const listed = cxt.gen.scopeValue('obj', { ref: new ListedNumbers(cxt.parentSchema) });
      cxt.fail(_`meter.written !== undefined && !${listed}.include(${whereWritten(cxt)})`);
    },
    error: { message: 'must be one of the listed numbers' },
  },
];

const integers = {
  include(_value: number, written: WrittenNumbers, holder: unknown, key: string | number): boolean {
    const text = written.textOf(holder, key);
    return text === undefined || isWhole(text);
  },
};

class ListedNumbers {
  readonly #numbers: ReadonlySet<string>;

  constructor(schema: Readonly<Record<string, unknown>>) {
    const { enum: choices, const: only } = schema;
    const listed = Array.isArray(choices) ? choices.map((choice, at): Listed => [choices, at, choice]) : [];
    const all: Listed[] = [...listed, [schema, 'const', only]];
    this.#numbers = new Set(
      all.flatMap(([holder, key, value]) =>
        typeof value === 'number' ? [canonicalNumber(writtenDigits(holder, key) ?? String(value))] : [],
      ),
    );
  }

  include(_value: number, written: WrittenNumbers, holder: unknown, key: string | number): boolean {
    const text = written.textOf(holder, key);
    return text === undefined || this.#numbers.has(canonicalNumber(text));
  }
}

type Listed = readonly [holder: object, key: string | number, value: unknown];
