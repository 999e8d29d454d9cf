/** JSON as no serialiser would write it: values with a given text, repeated keys, nesting without a stack. */

export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The text of a value that may contain {@link RawJson}. */
export function writeJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (isJsonObject(value)) return `{${memberTexts(value).join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}

/** The members of an object, each as `"key":value`. */
export function memberTexts(object: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${writeJson(value)}`);
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawJson);
}

export type JsonPath = readonly (string | number)[];

/** The places in a value that can be replaced; the first is the value itself. */
export function pathsOf(value: unknown, path: JsonPath = []): JsonPath[] {
  if (Array.isArray(value)) {
    return [path, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))];
  }
  if (!isJsonObject(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

export function valueAtPath(value: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((found, step) => (found as Record<string | number, unknown> | undefined)?.[step], value);
}

/** A copy with one place replaced; undefined removes the place. */
export function withValueAt(value: unknown, [step, ...rest]: JsonPath, put: unknown): unknown {
  if (step === undefined) return put;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => (index === step ? withValueAt(item, rest, put) : (item as unknown)));
    return items.filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  const known = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    key === step ? withValueAt(member, rest, put) : member,
  ]);
  const members = Object.hasOwn(value, step) ? known : [...known, [step, put] as [string, unknown]];
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** Nested lists or objects. */
export function nested(levels: number, open: string, close: string, inside = ''): RawJson {
  return new RawJson(open.repeat(levels) + inside + close.repeat(levels));
}
