import { parseArgs } from 'node:util';
import { endIfHelpIsAsked } from './read-usage.ts';

/** The command lines of scripts: `--name VALUE`, `--name=VALUE` or `--name` alone, in any order. */

/** A command line that asks for something that does not exist. The message is one line for the person who wrote it. */
export class WrongUsage extends Error {}

/** An option of a script. */
export interface Option<Value> {
  /** What a value must be, as in "a whole number above 0"; null for an option that takes no value. */
  readonly needs: string | null;
  /** The value that a text stands for; undefined when it stands for none. */
  readonly read: (text: string) => Value | undefined;
  /** The value of an option that is not given. */
  readonly initial: Value;
}

type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of options, by their names. */
export type OptionValues<Of extends Options> = {
  readonly [Name in keyof Of]: Of[Name] extends Option<infer Value> ? Value : never;
};

/** An option that takes no value. */
export const flag: Option<boolean> = { needs: null, read: () => undefined, initial: false };

/** An option with any text that is not empty, such as the name of a file. */
export function text<Initial extends string | undefined>(initial: Initial): Option<string | Initial> {
  return { needs: 'a value', read: (written) => (written === '' ? undefined : written), initial };
}

/** An option with a whole number, written in decimal digits alone. */
export function wholeNumber<Initial extends number | undefined>(
  minimum: number,
  initial: Initial,
): Option<number | Initial> {
  const above = minimum === 0 ? '' : ` above ${minimum - 1}`;
  return {
    needs: `a whole number${above}`,
    read: (written) => numberIn(written, /^\d+$/, (number) => Number.isSafeInteger(number) && number >= minimum),
    initial,
  };
}

/** An option with a number above 0, written in decimal digits with or without a point. */
export function numberAboveZero(initial: number): Option<number> {
  return { needs: 'a number above 0', read: (written) => numberIn(written, decimal, (number) => number > 0), initial };
}

/** An option with a share in percent, written like {@link numberAboveZero}. */
export function percentage(initial: number): Option<number> {
  const read = (written: string): number | undefined => numberIn(written, decimal, (number) => number <= 100);
  return { needs: 'a number from 0 to 100', read, initial };
}

const decimal = /^\d+(\.\d+)?$/;

function numberIn(written: string, form: RegExp, isAllowed: (number: number) => boolean): number | undefined {
  const number = form.test(written) ? Number(written) : Number.NaN;
  return isAllowed(number) ? number : undefined;
}

/** The number that a random choice starts from: a new one unless it is given to repeat the same choices. */
export function seed(): Option<number> {
  return wholeNumber<number>(0, Math.floor(Math.random() * 1e9));
}

/** An option with one of these values. */
export function oneOf<const Value extends string, Initial extends Value | undefined>(
  values: readonly Value[],
  initial: Initial,
): Option<Value | Initial> {
  return { needs: values.join(' or '), read: (written) => values.find((value) => value === written), initial };
}

/** An option with some of these values, separated by commas; all of them when it is not given. */
export function someOf<const Value extends string>(values: readonly Value[]): Option<readonly Value[]> {
  const read = (written: string): readonly Value[] | undefined => {
    const words = written.split(',');
    const found = values.filter((value) => words.includes(value));
    return words.every((word) => found.some((value) => value === word)) ? found : undefined;
  };
  return { needs: `some of ${values.join(',')}`, read, initial: values };
}

/**
 * Reads the words of a command line.
 * @returns the values of the options, the last one of each, and the words that belong to no option
 * @throws WrongUsage for an unknown option, a missing or superfluous value, and a value that the option cannot have
 */
export function readCommandLine<Of extends Options>(
  words: readonly string[],
  options: Of,
): { readonly values: OptionValues<Of>; readonly names: readonly string[] } {
  const config = Object.entries(options).map(([name, { needs }]) => {
    return [name, { type: needs === null ? ('boolean' as const) : ('string' as const) }] as const;
  });
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(config),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map(Object.entries(options).map(([name, { initial }]) => [name, initial]));
  const names: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') names.push(token.value);
    else if (token.kind === 'option') {
      const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
      if (option === undefined) throw new WrongUsage(`there is no option ${token.rawName}`);
      values.set(token.name, valueOf(token.rawName, option, token));
    }
  }
  return { values: Object.fromEntries(values) as OptionValues<Of>, names };
}

function valueOf(
  name: string,
  { needs, read }: Option<unknown>,
  { value, inlineValue }: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
): unknown {
  if (needs === null) {
    if (value === undefined) return true;
    throw new WrongUsage(`${name} takes no value`);
  }
  // The next word was taken for the value, but it is the next option.
  if (value === undefined || (inlineValue !== true && value.startsWith('--'))) {
    throw new WrongUsage(`${name} needs ${needs}`);
  }
  const found = read(value);
  if (found === undefined) throw new WrongUsage(`${name} needs ${needs}, not "${value}"`);
  return found;
}

/**
 * The options that this process was started with. Ends the process when the command line asks for help, which is
 * printed, or is wrong, which one line on standard error says. The exit code is then 2.
 * @param script Whose usage is printed.
 */
export function optionsOf<Of extends Options>(script: string, options: Of): OptionValues<Of> {
  endIfHelpIsAsked(script);
  return orEnd(() => {
    const { values, names } = readCommandLine(process.argv.slice(2), options);
    if (names[0] !== undefined) throw new WrongUsage(`"${names[0]}" is not understood`);
    return values;
  });
}

/** Ends this process with one line on standard error, and exit code 2, when reading throws {@link WrongUsage}. */
export function orEnd<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    process.stderr.write(`lendstream: ${error.message}\n`);
    return process.exit(2);
  }
}
