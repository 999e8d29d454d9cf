import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The compiled command line. */
export const program = fileURLToPath(new URL('../../src/command-line/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly messages: string;
}

export interface StartedProgram {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  messages(): string;
  readonly ended: Promise<Ended>;
}

/** Starts the real program. @param environment Its settings, beside those of this process. */
export function startProgram(words: readonly string[], environment: Record<string, string> = {}): StartedProgram {
  const env = { ...process.env, LENDSTREAM_URL: '', PORT: '', LENDSTREAM_API_KEY: '', ...environment };
  const child = spawn(process.execPath, [program, ...words], { env, stdio: 'pipe' });
  let [output, messages] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (messages += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output, messages }));
  return { child, output: () => output, messages: () => messages, ended };
}
