import { expect } from 'chai';
import { describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fencedBlocks } from '../../scripts/docs/markdown.ts';
import { runSteps, shown, stepsOf, withoutChance } from '../../scripts/docs/runnable-document.ts';
import { packageRoot } from '../../src/package-root.ts';
import { startServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** Documents whose commands a reader types one after another. */
const documents = [
  'docs/getting-started.md',
  'docs/client.md',
  'docs/command-line.md',
  'docs/loan-commands.md',
  'docs/api.md',
  'docs/audit.md',
  'docs/consuming.md',
  'docs/finding.md',
  'docs/personal-data.md',
];

/** The programs that the shell needs in addition to those of every system. */
const isCurlThere = spawnSync('curl', ['--version']).status === 0;

describe('the commands of the documents', () => {
  for (const document of documents) {
    it(`of ${document} print what it shows`, async function test() {
      if (!isCurlThere && process.env['CI'] === undefined) {
        process.stdout.write('      skipped: curl is not installed\n');
        this.skip();
      }
      this.timeout(90_000);
      const markdown = await readFile(join(packageRoot, document), 'utf8');
      const steps = stepsOf(markdown);
      const dataFolder = await temporaryFolder();
      const workFolder = await temporaryFolder();
      const service = await startServiceHere(dataFolder);
      try {
        const printed = await runSteps(steps, service.url, workFolder);
        for (const [index, { command, output }] of steps.entries()) {
          if (output === undefined) continue;
          const comparable = (text: string): string => withoutChance(shown(text, output.language));
          const location = `${document}, block of line ${command.line}`;
          expect(comparable(printed[index] ?? ''), location).to.equal(comparable(output.text));
        }
      } finally {
        await service.stop();
        await removeFolder(workFolder);
        await removeFolder(dataFolder);
      }
    });
  }

  it('are all marked as commands that are run', async () => {
    const unmarked: string[] = [];
    for (const document of documents) {
      const blocks = fencedBlocks(await readFile(join(packageRoot, document), 'utf8'));
      for (const { language, words, line } of blocks) {
        const isStart = language === 'sh' && words[0] === 'start';
        if (language === 'sh' && !isStart && !words.includes('runnable')) unmarked.push(`${document}:${line}`);
      }
    }
    expect(unmarked).to.deep.equal([]);
  });

  // Run by test/e2e/process.test.ts; the others use the service that it would have started.
  it('begin with the script that starts the service', async () => {
    const blocks = fencedBlocks(await readFile(join(packageRoot, 'docs/getting-started.md'), 'utf8'));
    expect(blocks.filter(({ words }) => words[0] === 'start').map(({ text }) => text)).to.deep.equal([
      'scripts/start\n',
    ]);
  });
});

describe('the files shown in documents', () => {
  it('are equal to the real files', async () => {
    const all = [...documents, 'docs/generated-clients.md'];
    const markdown = await Promise.all(all.map((document) => readFile(join(packageRoot, document), 'utf8')));
    const shownFiles = markdown.flatMap(fencedBlocks).filter(({ words }) => words[0]?.startsWith('file=') === true);
    expect(shownFiles.length).to.be.greaterThan(1);
    for (const { words, text } of shownFiles) {
      const file = (words[0] ?? '').slice('file='.length);
      expect(text, file).to.equal(await readFile(join(packageRoot, file), 'utf8'));
    }
  });
});
