import { commonOptions } from './arguments.ts';
import { type Command, type CommandOption, WrongUsage } from './command.ts';

/** Scripts that complete commands, options and their values in a shell. They are printed, not installed. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** @throws WrongUsage for another shell */
export function completionOf(shell: string, commands: readonly Command[]): string {
  if (shell === 'bash') return bash(commands);
  // zsh runs completions of bash.
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
  if (shell === 'fish') return fish(commands);
  throw new WrongUsage(`there is a completion for ${shells.join(', ')}, not for "${shell}"`);
}

/** What can follow each beginning of a command line: '' stands for the program itself. */
function followers(commands: readonly Command[]): Map<string, Set<string>> {
  const following = new Map<string, Set<string>>();
  for (const { name, options } of commands) {
    const words = name.split(' ');
    for (const [index, word] of words.entries()) {
      const before = words.slice(0, index).join(' ');
      following.set(before, (following.get(before) ?? new Set()).add(word));
    }
    const own = following.get(name) ?? new Set();
    for (const option of Object.keys({ ...options, ...commonOptions })) own.add(`--${option}`);
    following.set(name, own);
  }
  return following;
}

function bash(commands: readonly Command[]): string {
  const cases = [...followers(commands)].map(
    ([before, words]) => `    '${before}') words='${[...words].sort().join(' ')}' ;;`,
  );
  const choices = new Map<string, readonly string[]>();
  for (const { options } of commands) {
    for (const [name, { choices: words }] of Object.entries(options)) if (words !== undefined) choices.set(name, words);
  }
  const values = [...choices].map(([name, texts]) => `    --${name}) words='${texts.join(' ')}' ;;`);
  return [
    '_lendstream() {',
    '  local word before= words=',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$word" in -*) break ;; esac',
    '    case "${before:+$before }$word" in',
    `      ${[...followers(commands).keys()]
      .filter((each) => each !== '')
      .map((each) => `'${each}'`)
      .join(' | ')})`,
    '        before="${before:+$before }$word" ;;',
    '      *) break ;;',
    '    esac',
    '  done',
    '  case "$before" in',
    ...cases,
    '  esac',
    '  case "${COMP_WORDS[COMP_CWORD-1]}" in',
    ...values,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _lendstream lendstream',
  ].join('\n');
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`\'`)}'`;
  const optionLine = (condition: string, name: string, { value, summary, choices = [] }: CommandOption): string => {
    const needs = value === undefined ? '' : ` -x -a ${quoted(choices.join(' '))}`;
    return `complete -c lendstream -n ${quoted(condition)} -l ${name}${needs} -d ${quoted(summary)}`;
  };
  return [
    'complete -c lendstream -f',
    ...commands.flatMap(({ name, summary, options }) => {
      const words = name.split(' ');
      const last = words.at(-1) ?? '';
      const before = words.slice(0, -1);
      const condition =
        before.length === 0 ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${before.join(' ')}`;
      const seen = `__fish_seen_subcommand_from ${last}`;
      return [
        `complete -c lendstream -n ${quoted(condition)} -a ${last} -d ${quoted(summary)}`,
        ...Object.entries(options).map(([option, described]) => optionLine(seen, option, described)),
      ];
    }),
    ...Object.entries(commonOptions).map(([option, described]) => optionLine('true', option, described)),
  ].join('\n');
}
