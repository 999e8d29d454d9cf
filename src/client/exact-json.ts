/**
 * JSON whose numbers keep the digits that they are written with. `JSON.parse` makes 12.5 of 12.50 and
 * 9007199254740992 of 9007199254740993. Here a number that a double would write differently becomes an
 * {@link ExactNumber}, and any other one a `number`: `String(value)` is what was written, in either case.
 */

/**
 * A number with its written digits. `String(amount)` and a template are those digits, `Number(amount)` is the nearest
 * double. `amount + 1` throws: decide first whether to compute with doubles or with a library for decimals.
 */
export class ExactNumber {
  /** The digits as they were written, such as `12.50`. */
  readonly text: string;

  /**
   * @param text A number as JSON writes it.
   * @throws TypeError for any other text
   */
  constructor(text: string) {
    if (!wholeNumberPattern.test(text)) throw new TypeError(`"${text}" is not a number of JSON`);
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** A text, as `JSON.stringify` has no way to write these digits. {@link stringifyExact} writes a number. */
  toJSON(): string {
    return this.text;
  }

  [Symbol.toPrimitive](hint: 'default' | 'number' | 'string'): number | string {
    if (hint === 'number') return Number(this.text);
    if (hint === 'string') return this.text;
    throw new TypeError(`${this.text} is an exact number: use String() or Number() before you compute with it`);
  }
}

/** A number of JSON, in exact form where a double would change its digits. */
export type Numeric = number | ExactNumber;

/** JSON with every `number` as {@link Numeric}. */
export type WithExactNumbers<Value> = Value extends number
  ? Numeric
  : Value extends object
    ? { readonly [Field in keyof Value]: WithExactNumbers<Value[Field]> }
    : Value;

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const wholeNumberPattern = new RegExp(`^(?:${numberPattern.source})$`);

/** A string is a token as well, so that the digits in it do not count as a number. */
const stringOrNumber = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${numberPattern.source}`, 'g');

/**
 * Begins a text that stands for a number on its way through `JSON.parse`. No text of an event can begin with it, since
 * no sender knows it.
 */
const mark = `\u{E000}${Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join('')}:`;

/**
 * Parses JSON and keeps the digits of its numbers.
 * @throws SyntaxError for a text that is not JSON
 */
export function parseExact(text: string): unknown {
  let isMarked = false;
  const marked = text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || String(Number(token)) === token) return token;
    isMarked = true;
    return `"${mark}${token}"`;
  });
  if (!isMarked) return JSON.parse(text);
  const root = { value: JSON.parse(marked) as unknown };
  restore(root);
  return root.value;
}

/**
 * Writes JSON in which each {@link ExactNumber} is a number with its digits.
 * @param indent The spaces of each level; 0 for one line.
 * @throws TypeError for a value that JSON cannot have, such as a cycle
 */
export function stringifyExact(value: unknown, indent = 0): string {
  let isMarked = false;
  // Of an ExactNumber, the replacer gets what toJSON returned: the holder has the number itself.
  function markNumber(this: unknown, key: string, written: unknown): unknown {
    const held = (this as Readonly<Record<string, unknown>>)[key];
    if (!(held instanceof ExactNumber)) return written;
    isMarked = true;
    return `${mark}${held.text}`;
  }
  const text = JSON.stringify(value, markNumber, indent);
  return isMarked ? text.replaceAll(markedNumber, '$1') : text;
}

const markedNumber = new RegExp(`"${mark}([^"]*)"`, 'g');

/** Puts numbers in the place of the texts that stand for them. Without recursion, since JSON may be deep. */
function restore(root: object): void {
  const open: object[] = [root];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const [key, value] of Object.entries(parent) as [string, unknown][]) {
      if (typeof value === 'string' && value.startsWith(mark)) {
        // Assigning `__proto__` would set the prototype.
        const number = { value: new ExactNumber(value.slice(mark.length)), enumerable: true };
        Object.defineProperty(parent, key, { ...number, writable: true, configurable: true });
      } else if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
}
