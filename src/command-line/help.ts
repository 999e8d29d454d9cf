import { commonOptions } from './arguments.ts';
import type { Command, CommandOption } from './command.ts';

/** The help of the program: all commands. */
export function helpOfAll(commands: readonly Command[]): string {
  return [
    'Usage: lendstream COMMAND [--url URL] [--api-key KEY] [--json]',
    'Shows and changes what is in a service.',
    ...aligned(commands.map(({ name, parameters, summary }) => [`${name} ${parameters}`.trim(), summary])),
    'lendstream COMMAND --help shows the options of a command.',
    'It ends with 0 when it is done, 1 when the service refuses, 2 for a wrong command line, 3 when the service does not',
    'respond, and 4 when what was compared is different.',
  ].join('\n');
}

export function helpOf({ name, parameters, summary, options }: Command): string {
  return [
    `Usage: lendstream ${`${name} ${parameters}`.trim()} [OPTIONS]`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...aligned([...linesOf(options), ...linesOf(commonOptions)]),
  ].join('\n');
}

function linesOf(options: Readonly<Record<string, CommandOption>>): [string, string][] {
  return Object.entries(options).map(([name, { value, summary }]) => {
    return [value === undefined ? `--${name}` : `--${name} ${value}`, summary];
  });
}

function aligned(lines: readonly (readonly string[])[]): string[] {
  const width = Math.max(...lines.map(([left = '']) => left.length));
  return lines.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`);
}
