import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'lossless-json';
import { fencedBlocks, type FencedBlock } from './markdown.ts';

/**
 * Runs the commands that a document asks its reader to type. Blocks marked `sh runnable` run one after another in one
 * shell. If the block after one is marked `answer`, it shows what that one printed. Values that differ from run to run
 * (ids, times) are compared only by their form.
 */

/** The address that documents use. */
const documentedAddress = /(?:127\.0\.0\.1|localhost):8080/g;

/** How long the blocks of one document may take together. Milliseconds. */
const runMillisecondsMaximum = 60_000;

/** The folder of the compiled program that this file is part of. */
const compiledRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface Step {
  readonly command: FencedBlock;
  /** The output that the document shows for the command; undefined when it shows none. */
  readonly output: FencedBlock | undefined;
}

/** The runnable blocks of a document, each with the output shown for it. */
export function stepsOf(markdown: string): Step[] {
  const blocks = fencedBlocks(markdown);
  return blocks.flatMap((command, index): Step[] => {
    if (!command.words.includes('runnable')) return [];
    const next = blocks[index + 1];
    return [{ command, output: next?.words.includes('answer') === true ? next : undefined }];
  });
}

/**
 * What each step printed, with the service's address as the document has it.
 * @param url The service to talk to.
 * @param folder An empty one to run in; in it, `dist` is the compiled program, `scripts/demo` the demo and
 *   `scripts/lendstream` the command line.
 * @throws Error when a step ends with a code other than 0
 */
export async function runSteps(steps: readonly Step[], url: string, folder: string): Promise<string[]> {
  if (steps.length === 0) return [];
  await symlink(compiledRoot, join(folder, 'dist'));
  await mkdir(join(folder, 'scripts'));
  // As the scripts with these names start them.
  for (const [script, words] of [
    ['demo', '--enable-source-maps dist/scripts/demo.js'],
    ['lendstream', 'dist/src/command-line/main.js'],
  ] as const) {
    await writeFile(join(folder, 'scripts', script), `exec node ${words} "$@"\n`, { mode: 0o755 });
  }
  const { host } = new URL(url);
  const printed = (index: number): string => join(folder, `step-${index}.txt`);
  const progress = join(folder, 'progress.txt');
  const lines = steps.flatMap(({ command }, index) => [
    `echo ${index} > '${progress}'`,
    `{\n${command.text.replaceAll(documentedAddress, host)}} > '${printed(index)}' || exit 1`,
  ]);
  const shell = spawn('bash', ['-c', `${lines.join('\n')}\necho done > '${progress}'\n`], {
    cwd: folder,
    env: { ...process.env, LENDSTREAM_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let errors = '';
  shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const endAll = (): void => {
    // The shell and all programs it left in the background are one group.
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
  };
  const timer = setTimeout(endAll, runMillisecondsMaximum);
  await once(shell, 'exit');
  clearTimeout(timer);
  try {
    endAll();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  const reached = (await readFile(progress, 'utf8')).trim();
  if (reached !== 'done') {
    const failed = steps[Number(reached)]?.command;
    throw new Error(`The block of line ${failed?.line ?? '?'} failed or did not end: ${failed?.text ?? ''}\n${errors}`);
  }
  const texts = await Promise.all(steps.map((_, index) => readFile(printed(index), 'utf8')));
  return texts.map((text) => text.replaceAll(host, '127.0.0.1:8080'));
}

/** A text without the values that differ from run to run. */
export function withoutChance(text: string): string {
  return text
    .replaceAll('\r', '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/g, '<time>')
    .replaceAll(/^Date: .*$/gm, 'Date: <time>')
    .replaceAll(/\d{4}-\d\d-\d\d/g, '<day>')
    .replaceAll(/\b[0-9a-f]{24,32}\b/g, '<id>')
    .replaceAll(/\b[0-9A-F]{16}\b/g, '<id>')
    .replaceAll(/"consumer_lag_seconds":\d+/g, '"consumer_lag_seconds":<seconds>');
}

/**
 * Brings output into the form in which a document shows it: indented when the block is marked `JSON`. (The mark is in
 * capitals because Prettier would format a block marked `json`, and would treat amounts as numbers whose trailing zeros
 * do not count.)
 */
export function shown(text: string, language: string): string {
  const clean = text.replaceAll('\r', '');
  if (language !== 'JSON') return clean === '' || clean.endsWith('\n') ? clean : `${clean}\n`;
  // Numbers keep the digits that were sent.
  return `${stringify(parse(clean), undefined, 2) ?? ''}\n`;
}
