import { parseArgs } from 'node:util';
import { type Command, type CommandInput, type CommandOption, WrongUsage } from './command.ts';

/** The options that every command has. */
export const commonOptions: Readonly<Record<string, CommandOption>> = {
  url: {
    value: 'URL',
    summary: 'the service; default LENDSTREAM_URL, else http://127.0.0.1:PORT, where PORT is 8080 by default',
  },
  'api-key': { value: 'KEY', summary: 'a key of the service; default LENDSTREAM_API_KEY' },
  ca: { value: 'FILE', summary: 'the authority of an https address; default LENDSTREAM_CA, else those of Node.js' },
  certificate: { value: 'FILE', summary: 'a certificate of this client; default LENDSTREAM_CERTIFICATE' },
  key: { value: 'FILE', summary: 'its key; default LENDSTREAM_KEY' },
  json: { summary: 'JSON instead of text for people, one value a line' },
  wait: { value: 'SECONDS', summary: 'how long to try while the service is away; default 10' },
  help: { summary: 'show this help' },
};

export type Arguments = Pick<CommandInput, 'words' | 'has' | 'text' | 'texts' | 'wholeNumber'>;

/** The command that the first words name; the longest name wins. */
export function commandIn(words: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

/**
 * Reads the words after the name of a command.
 * @throws WrongUsage for an unknown option, a missing value, or a wrong number of words
 */
export function readArguments(words: readonly string[], command: Pick<Command, 'options'>): Arguments {
  const options = { ...commonOptions, ...command.options };
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const others: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') others.push(token.value);
    if (token.kind !== 'option') continue;
    const name = token.rawName === '-h' ? 'help' : token.name;
    const option = token.rawName.startsWith('--') || name === 'help' ? options[name] : undefined;
    if (option === undefined) throw new WrongUsage(`there is no option ${token.rawName}`);
    const value = valueOf(token.rawName, option, token.value, token.inlineValue === true);
    const before = values.get(name) ?? [];
    values.set(name, option.isList === true ? [...before, value] : [value]);
  }
  const text = (name: string): string | undefined => values.get(name)?.[0];
  return {
    words: others,
    has: (name) => values.has(name),
    text,
    texts: (name) => values.get(name) ?? [],
    wholeNumber(name, minimum) {
      const given = text(name);
      if (given === undefined) return undefined;
      const number = /^-?\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      if (!(number >= minimum)) throw new WrongUsage(`--${name} needs a whole number from ${minimum}, not "${given}"`);
      return number;
    },
  };
}

function valueOf(rawName: string, option: CommandOption, value: string | undefined, isInline: boolean): string {
  if (option.value === undefined) {
    if (value !== undefined) throw new WrongUsage(`${rawName} takes no value`);
    return '';
  }
  // The next word was taken for the value, but it is the next option.
  if (value === undefined || value === '' || (!isInline && value.startsWith('--'))) {
    throw new WrongUsage(`${rawName} needs ${option.value}`);
  }
  return value;
}

/** @throws WrongUsage */
export function checkWords({ words }: Arguments, command: Command): void {
  const { name, parameters, wordsMinimum, wordsMaximum } = command;
  if (words.length < wordsMinimum) throw new WrongUsage(`"${name}" needs ${parameters}`);
  const extra = words[wordsMaximum];
  if (extra !== undefined) throw new WrongUsage(`"${extra}" is not understood`);
}
