import type { Format, FormatDefinition } from 'ajv';

/** The cost of checking a text under a format, and of each character of a long text. Steps. */
const stepsPerFormat = 80;

const stepsPerFormatCharacter = 10;

/** The longest text that has no cost per character. Characters. */
const shortTextCharactersMaximum = 64;

/** Making a regular expression of a text costs more, and more for each character. Steps. */
const stepsPerRegularExpression = 10_000;

const stepsPerRegularExpressionCharacter = 100;

/** The cost of checking a text of this many characters under a format. Steps. */
export function stepsOfFormat(name: string, characters: number): number {
  // The password of a URL may begin at each of its colons.
  if (name === 'url') return stepsPerFormat + (characters * characters) / 2;
  if (name === 'regex') return stepsPerRegularExpression + characters * stepsPerRegularExpressionCharacter;
  return stepsPerFormat + (characters > shortTextCharactersMaximum ? characters * stepsPerFormatCharacter : 0);
}

/** The function by which a format checks a text; undefined for a format of numbers or without a rule. */
export function checkOf(format: Format | undefined): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format;
  if (typeof format !== 'object' || !isTextFormat(format)) return undefined;
  const { validate } = format;
  if (typeof validate === 'string') return undefined;
  return validate instanceof RegExp ? (text) => validate.test(text) : validate;
}

function isTextFormat(format: object): format is FormatDefinition<string> {
  return Reflect.get(format, 'type') !== 'number';
}
