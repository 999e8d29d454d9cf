import fs, { appendFileSync } from 'node:fs';

/**
 * Finds what must be in no line of a log: keys, tokens, passwords, and the texts about people that the tests of
 * personal data use. root-hooks.ts enables this in every process of a test run.
 */

/** Every test that puts a text about a person into a loan begins it with this word. */
export const personalWord = 'Zebedee-Quux';

const forms: readonly (readonly [what: string, form: RegExp])[] = [
  ['an API key', /lendstream_[\w-]{43}/],
  ['an access token', /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/],
  ['the password of an address', /:\/\/[^\s/:@"]*:[^\s/@"]+@/],
  ['text about a person', new RegExp(personalWord, 'i')],
];

/** Shorter keys are refused by the service, and tests use them as ordinary words. Characters. */
const keyCharactersMinimum = 16;

/**
 * What a line has that it must not have. Empty for a good line.
 * @param keys The keys of the settings of its process.
 */
export function secretsIn(line: string, keys: readonly string[] = []): string[] {
  const found = forms.filter(([, form]) => form.test(line)).map(([what]) => what);
  if (keys.some((key) => key.length >= keyCharactersMinimum && line.includes(key))) found.push('a key of the settings');
  return found;
}

/** Names the file to which the processes that tests start add what they find. */
export const findingsFileVariable = 'LOG_FINDINGS_FILE';

/** Whether this thread checks what it writes. */
let isWatched = false;

/** Checks what this thread writes to standard error. The line itself appears there all the same. */
export function watchStandardError(): void {
  if (isWatched) return;
  isWatched = true;
  const keys = (process.env['API_KEYS'] ?? '').split(',');
  const check = (written: unknown): void => {
    const line = written instanceof Uint8Array ? Buffer.from(written).toString() : String(written);
    for (const what of secretsIn(line, keys)) addFinding(`${what}: ${line}`);
  };
  // The logger writes with this one, and console.error with the other.
  const writeSync = fs.writeSync.bind(fs) as (...parameters: unknown[]) => number;
  fs.writeSync = (...parameters: unknown[]): number => {
    if (parameters[0] === 2) check(parameters[1]);
    return writeSync(...parameters);
  };
  const write = process.stderr.write.bind(process.stderr) as (...parameters: unknown[]) => boolean;
  process.stderr.write = (...parameters: unknown[]): boolean => {
    check(parameters[0]);
    return write(...parameters);
  };
}

/** It must not affect the service, not even when it fails. */
function addFinding(finding: string): void {
  const file = process.env[findingsFileVariable];
  if (file === undefined) return;
  try {
    appendFileSync(file, `${finding.replaceAll('\n', ' ')}\n`);
  } catch {
    // The tests are over, and the folder is gone.
  }
}
