import type { ErrorObject } from 'ajv';
import { collectedViolationsMaximum } from './metered-code.ts';
import { listedKeyword, sizedKeyword, integerKeyword } from './number-keywords.ts';

/** The most violations that one text names. Of further ones it only shows the number. */
export const namedViolationsMaximum = 100;

/** All violations in one text: `#/amount: ...`, or a count and one line for each. */
export function describeViolations(violations: readonly SchemaViolation[]): string {
  const lines = violations.slice(0, namedViolationsMaximum).map(({ pointer, message }) => `${pointer}: ${message}`);
  if (violations.length === 1) return lines[0] ?? '';
  const count =
    violations.length < collectedViolationsMaximum ? violations.length : `${collectedViolationsMaximum} or more`;
  return `#: ${count} schema violations found\n${lines.join('\n')}`;
}

/** The JSON name of a value's type, as messages show it. */
function typeName(value: unknown): string {
  if (value === null) return 'Null';
  if (Array.isArray(value)) return 'Array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'Integer' : 'Double';
  const name = typeof value;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The longest value that a message repeats. Characters. */
const shownValueCharactersMaximum = 100;

/** The text that messages show for a value, made once for each value. */
type Shown = (value: unknown) => string;

function showing(showsContents: boolean): Shown {
  const texts = new Map<unknown, string>();
  return (value) => {
    if (typeof value === 'string') return shorten(value, shownValueCharactersMaximum);
    if (!showsContents && typeof value === 'object') return typeName(value);
    const known = texts.get(value);
    if (known !== undefined) return known;
    const text = shorten(JSON.stringify(value) ?? String(value), shownValueCharactersMaximum);
    texts.set(value, text);
    return text;
  };
}

/**
 * The longest position and the longest message of a violation. Names of fields may have any length, and a thousand
 * violations may be in one field. Characters.
 */
const violationCharactersMaximum = 1_000;

function shorten(text: string, charactersMaximum: number): string {
  return text.length > charactersMaximum ? `${text.slice(0, charactersMaximum)}...` : text;
}

/** What does not hold below `then` or `else` says so itself. That the condition does not hold adds nothing. */
function withoutConditions(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const others = errors.filter(({ keyword }) => keyword !== 'if');
  return others.length === 0 ? errors : others;
}

/** @param all Whether all violations were asked for, which happens for small values only. */
export function describeErrors(errors: readonly ErrorObject[], all: boolean): readonly SchemaViolation[] {
  const show = showing(all);
  // The last violation is the one that counts. Those before it come from alternatives that did not fit either.
  const telling = withoutConditions(errors);
  return (all ? telling : telling.slice(-alternativesListed)).map((error) => ({
    pointer: shorten(`#${error.instancePath}`, violationCharactersMaximum),
    message: shorten(describeKeyword(error, show), violationCharactersMaximum),
  }));
}

/** How many violations are reported for a value when only the first was asked for. */
const alternativesListed = 10;

function describeKeyword({ keyword, params, data, message }: ErrorObject, show: Shown): string {
  const parameters: Record<string, unknown> = params;
  switch (keyword) {
    case 'required':
      return `required key [${String(parameters['missingProperty'])}] not found`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `extraneous key [${String(parameters['additionalProperty'] ?? parameters['unevaluatedProperty'])}] is not permitted`;
    case integerKeyword:
      return 'expected type: Integer, found: Double';
    case 'type': {
      const expected = [parameters['type']].flat().map((name) => {
        const text = String(name);
        return text.charAt(0).toUpperCase() + text.slice(1);
      });
      return `expected type: ${expected.join(' or ')}, found: ${typeName(data)}`;
    }
    case 'enum':
    case 'const':
    case listedKeyword:
      return `${show(data)} is not a valid enum value`;
    case 'format':
    case sizedKeyword:
      return `[${show(data)}] is not a valid ${String(parameters['format'])}`;
    case 'pattern':
      return `string [${show(data)}] does not match pattern ${String(parameters['pattern'])}`;
    default:
      return message ?? `breaks the rule ${keyword}`;
  }
}

/** One rule that a value breaks: its position (a JSON pointer, `#` for the value itself) and a message. */
export interface SchemaViolation {
  readonly pointer: string;
  readonly message: string;
}
