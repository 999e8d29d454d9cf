import { LongNumberReader } from './written-numbers.ts';

/**
 * Where the numbers of a schema keep their digits. Code that copies a schema has to copy them with it: a spread does,
 * `Object.entries` does not.
 */
const digitsOfSchema = Symbol('digits');

/** Notes the written form of those numbers of a schema that a double does not hold. */
export function recordDigits(text: string, schema: unknown): void {
  if (!/\d[\d.]{14}|\d[eE]/.test(text)) return;
  new LongNumberReader(text, (container, key, digits) => {
    Object.defineProperty(container, digitsOfSchema, {
      value: { ...recordedDigits(container), [key]: digits },
      enumerable: true,
      configurable: true,
    });
  }).read(schema);
}

/** The written form of the number of a schema under a key or at an index; undefined when its double holds it. */
export function writtenDigits(container: object, key: string | number): string | undefined {
  return recordedDigits(container)[key];
}

/** Copies the digits of a part of a schema to a copy of that part, with the same keys or some of them renamed. */
export function copyDigits(from: object, to: object, renamed: Readonly<Record<string, string>> = {}): void {
  const digits = Object.entries(recordedDigits(from));
  if (digits.length === 0) return;
  const value = Object.fromEntries(digits.map(([key, text]) => [renamed[key] ?? key, text]));
  Object.defineProperty(to, digitsOfSchema, { value, enumerable: true, configurable: true });
}

/** A part of a schema under the keywords of another one, which win; each number keeps its own digits. */
export function mergeSchemas<Part extends object>(under: Part, over: Part): Part {
  const merged = { ...under, ...over };
  const kept = Object.entries(recordedDigits(under)).filter(([key]) => !Object.hasOwn(over, key));
  const value = { ...Object.fromEntries(kept), ...recordedDigits(over) };
  if (!(digitsOfSchema in merged)) return merged;
  return Object.defineProperty(merged, digitsOfSchema, { value, enumerable: true, configurable: true });
}

function recordedDigits(container: object): Readonly<Record<string, string>> {
  return (Reflect.get(container, digitsOfSchema) as Record<string, string> | undefined) ?? {};
}
