import { readFileSync } from 'node:fs';
import { Lendstream, LendstreamError, PublishError } from '../client/client.ts';
import { type Arguments, checkWords, commandIn, commonOptions, readArguments } from './arguments.ts';
import { type Command, exitCodes, type ExitCode, WrongUsage } from './command.ts';
import { auditVerifyCommand } from './commands/audit-verify.ts';
import { auditCommand } from './commands/audit.ts';
import { cursorsMoveCommand } from './commands/cursors-move.ts';
import { cursorsCommand } from './commands/cursors.ts';
import { deadLettersCommand, deadLettersMarkCommand, deadLettersResendCommand } from './commands/dead-letters.ts';
import { lagCommand } from './commands/lag.ts';
import { loansCommand } from './commands/loans.ts';
import { publishCommand } from './commands/publish.ts';
import { schemaDiffCommand } from './commands/schema-diff.ts';
import { tailCommand } from './commands/tail.ts';
import { typesCommand } from './commands/types.ts';
import { completionOf, shells } from './completion.ts';
import { helpOf, helpOfAll } from './help.ts';
import { secondsOf } from './notices.ts';
import type { Output } from './output.ts';
import { createTlsFetch, type TlsTexts } from './tls-fetch.ts';

/**
 * The command line `lendstream`, without its process.
 * In: the words of the command line, settings, standard input. Out: text or JSON, and an exit code.
 * Start with `runProgram` below. Each command is a file in commands/; `arguments.ts` reads its options, and `output.ts`
 * writes results.
 */

export interface Surroundings {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly input: AsyncIterable<Uint8Array>;
  readonly stopped: AbortSignal;
}

const defaultPort = '8080';
const waitSecondsDefault = 10;

const serviceCommands: readonly Command[] = [
  tailCommand,
  publishCommand,
  lagCommand,
  cursorsCommand,
  cursorsMoveCommand,
  typesCommand,
  schemaDiffCommand,
  loansCommand,
  deadLettersCommand,
  auditCommand,
  auditVerifyCommand,
  deadLettersResendCommand,
  deadLettersMarkCommand,
];

const completionCommand: Command = {
  name: 'completion',
  parameters: shells.join('|'),
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'print what completes commands in a shell: source <(lendstream completion bash)',
  options: {},
  async run({ words, output }) {
    await output.line(completionOf(words[0] ?? '', commands));
    return exitCodes.done;
  },
};

export const commands: readonly Command[] = [...serviceCommands, completionCommand];

/** Does what a command line asks for. It never throws: what is wrong is a message. */
export async function runProgram(surroundings: Surroundings): Promise<ExitCode> {
  const { words, output } = surroundings;
  try {
    const command = commandIn(words, commands);
    if (command === undefined) return await withoutCommand(words, output);
    const given = readArguments(words.slice(command.name.split(' ').length), command);
    if (given.has('help')) {
      await output.line(helpOf(command));
      return exitCodes.done;
    }
    checkWords(given, command);
    return await runCommand(command, given, surroundings);
  } catch (error) {
    return failed(error, output);
  }
}

async function withoutCommand(words: readonly string[], output: Output): Promise<ExitCode> {
  const [first] = words;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    const named = first === 'help' ? commandIn(words.slice(1), commands) : undefined;
    await output.line(named === undefined ? helpOfAll(commands) : helpOf(named));
    return first === undefined ? exitCodes.wrongUsage : exitCodes.done;
  }
  const starting = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (starting.length > 0) throw new WrongUsage(`"${first}" needs another word: ${starting.join(', ')}`);
  if (Object.keys(commonOptions).some((name) => first.startsWith(`--${name}`))) {
    throw new WrongUsage(`the command comes before ${first}`);
  }
  throw new WrongUsage(`there is no command "${first}": lendstream --help lists them`);
}

async function runCommand(
  command: Command,
  given: Arguments,
  { environment, output, input, stopped }: Surroundings,
): Promise<ExitCode> {
  const url = addressOf(given, environment);
  const waitSeconds = given.wholeNumber('wait', 0) ?? waitSecondsDefault;
  if (!URL.canParse(url)) throw new WrongUsage(`"${url}" is no URL`);
  const tls = url.startsWith('https://') ? tlsTexts(given, environment) : withoutTls(given, url);
  const lendstream = new Lendstream({
    url,
    ...(tls === undefined ? {} : { fetch: createTlsFetch(tls) }),
    apiKey: given.text('api-key') ?? nonEmpty(environment['LENDSTREAM_API_KEY']),
    retryMilliseconds: waitSeconds * 1_000,
    onRetry: ({ message }, milliseconds) => output.message(`${message}; trying again in ${secondsOf(milliseconds)}`),
  });
  return command.run({ ...given, lendstream, output, isJson: given.has('json'), stopped, input });
}

/**
 * The address that the command line or the environment names. Without one it is that of a service on this machine,
 * which may have been started with another PORT.
 */
function addressOf(given: Arguments, environment: Surroundings['environment']): string {
  const named = given.text('url') ?? nonEmpty(environment['LENDSTREAM_URL']);
  return named ?? `http://127.0.0.1:${nonEmpty(environment['PORT']) ?? defaultPort}`;
}

/** The certificates that the command line or the environment name; undefined when they name none. */
function tlsTexts(given: Arguments, environment: Surroundings['environment']): TlsTexts | undefined {
  const read = (option: string, variable: string): string | undefined => {
    const path = given.text(option) ?? nonEmpty(environment[variable]);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const name = given.has(option) ? `--${option}` : variable;
      throw new WrongUsage(`${name} names a file that cannot be read: ${String(error)}`);
    }
  };
  const ca = read('ca', 'LENDSTREAM_CA');
  const certificate = read('certificate', 'LENDSTREAM_CERTIFICATE');
  const key = read('key', 'LENDSTREAM_KEY');
  if ((certificate === undefined) !== (key === undefined)) {
    throw new WrongUsage('a client certificate needs both --certificate and --key');
  }
  return ca === undefined && certificate === undefined ? undefined : { ca, certificate, key };
}

/** @throws WrongUsage when certificates are given for an address at which they mean nothing */
function withoutTls(given: Arguments, url: string): undefined {
  if (!['ca', 'certificate', 'key'].some((option) => given.has(option))) return undefined;
  throw new WrongUsage(`certificates are for addresses that begin with https://, not "${url}"`);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function failed(error: unknown, output: Output): ExitCode {
  if (error instanceof WrongUsage) {
    output.message(error.message);
    return exitCodes.wrongUsage;
  }
  output.message(error instanceof Error ? error.message : String(error));
  if (error instanceof LendstreamError) {
    if (error.status === 401) output.message('give a key with --api-key or LENDSTREAM_API_KEY');
    if (/certificate/i.test(error.message)) {
      output.message('--ca names the authority of the service, --certificate yours');
    } else if (error.status === 0 && /(does|did) not respond/.test(error.message)) {
      output.message('name another address with --url, LENDSTREAM_URL or PORT');
    }
    return error.isRetryable ? exitCodes.noResponse : exitCodes.refused;
  }
  if (error instanceof PublishError) return exitCodes.refused;
  return exitCodes.refused;
}
