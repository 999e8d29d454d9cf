import { stringify } from 'lossless-json';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { packageRoot } from '../src/package-root.ts';
import { exampleBlocks, type FencedBlock } from './docs/markdown.ts';
import { endIfHelpIsAsked, readUsage } from './read-usage.ts';
import { runSteps, shown, stepsOf } from './docs/runnable-document.ts';

/**
 * Writes the output of a running service into the named documents (`docs/api.md`): after each command what it printed,
 * into each example block its event. Tests do the same and compare.
 */
interface Filled {
  readonly block: FencedBlock;
  readonly text: string;
}

async function record(document: string): Promise<void> {
  // Loaded now, so that --help is answered at once.
  const [{ createApp }, { createLogger }] = await Promise.all([import('../src/app.ts'), import('../src/logger.ts')]);
  const path = join(packageRoot, document);
  const markdown = await readFile(path, 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'lendstream-docs-'));
  const config = readConfig({
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'error',
    END_OF_DAY_SCHEDULE: 'off',
  });
  const app = await createApp(config, createLogger(config.logLevel, { isReadable: true, hasColours: false }));
  try {
    const url = await app.start();
    const filled = [...(await outputsOf(markdown, url, folder)), ...(await examplesOf(markdown, url))];
    await writeFile(path, fill(markdown, filled));
  } finally {
    await app.stop();
    await rm(folder, { recursive: true });
  }
}

async function outputsOf(markdown: string, url: string, folder: string): Promise<Filled[]> {
  const steps = stepsOf(markdown);
  const printed = await runSteps(steps, url, folder);
  return steps.flatMap(({ output }, index) =>
    output === undefined ? [] : [{ block: output, text: shown(printed[index] ?? '', output.language) }],
  );
}

async function examplesOf(markdown: string, url: string): Promise<Filled[]> {
  const blocks = exampleBlocks(markdown);
  if (blocks.size === 0) return [];
  const { recordEventExamples } = await import('./docs/event-examples.ts');
  const examples = await recordEventExamples(url);
  return examples.flatMap(({ eventType, toggles, event }) => {
    const block = blocks.get(`${eventType}.${toggles}`);
    return block === undefined ? [] : [{ block, text: `${stringify(event, undefined, 2) ?? ''}\n` }];
  });
}

function fill(markdown: string, filled: readonly Filled[]): string {
  const lines = markdown.split('\n');
  for (const { block, text } of filled.toSorted((a, b) => b.block.line - a.block.line)) {
    lines.splice(block.line, block.text.split('\n').length - 1, ...text.split('\n').slice(0, -1));
  }
  return lines.join('\n');
}

endIfHelpIsAsked('record-docs');
if (process.argv.length < 3) throw new Error(`Which documents? ${readUsage('record-docs')}`);
for (const document of process.argv.slice(2)) await record(document);
