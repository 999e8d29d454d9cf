import { expect } from 'chai';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { after, before, describe, it } from 'mocha';
import { fencedBlocks } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const blocks = fencedBlocks(readFileSync(join(packageRoot, 'docs/tls.md'), 'utf8'));

/** The commands of a block that is marked with a word, and what stands in the block after it. */
function example(word: string): { commands: string; answer: string } {
  const at = blocks.findIndex(({ language, words }) => language === 'sh' && words[0] === word);
  const [block, answer] = [blocks[at], blocks[at + 1]];
  if (block === undefined) throw new Error(`docs/tls.md has no example ${word}`);
  return { commands: block.text, answer: answer?.words[0] === 'answer' ? answer.text : '' };
}

describe('the commands of docs/tls.md', function () {
  this.timeout(60_000);
  let folder: string;
  let service: ServiceHere;

  before(async function () {
    folder = await temporaryFolder();
    for (const program of ['openssl', 'curl']) {
      if (spawnSync(program, ['version']).error === undefined) continue;
      process.stdout.write(`    skipped: ${program} is not installed\n`);
      this.skip();
    }
  });
  after(() => removeFolder(folder));

  /** Runs commands where the files are, against the service. */
  async function run(commands: string): Promise<string> {
    const text = commands
      .replaceAll('localhost:8443', `localhost:${service === undefined ? 0 : new URL(service.url).port}`)
      .replaceAll('scripts/lendstream', join(packageRoot, 'scripts/lendstream'))
      .replaceAll(
        "'lendstream/client'",
        JSON.stringify(join(packageRoot, 'dist/src/client/client.js')).replaceAll('"', "'"),
      );
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], { cwd: folder });
    return stdout.trimEnd();
  }

  /** The settings before the command of an example, with paths in the folder. */
  function settingsOf(word: string): Record<string, string> {
    const files = [...example(word).commands.matchAll(/(TLS_\w+)=(\S+)/g)];
    return Object.fromEntries(files.map(([, name = '', file = '']) => [name, join(folder, file)]));
  }

  it('make a certificate with which the service answers curl, the command line and the client', async () => {
    await run(example('certificates').commands);
    service = await startServiceHere(join(folder, 'data'), settingsOf('start'));
    try {
      for (const word of ['curl', 'command-line', 'client']) {
        const { commands, answer } = example(word);
        expect(await run(commands), word).to.equal(answer.trimEnd());
      }
    } finally {
      await service.stop();
    }
  });

  it('make a certificate of a client, without which it is refused', async () => {
    await run(example('client-certificate').commands);
    service = await startServiceHere(join(folder, 'data'), settingsOf('start-with-clients'));
    try {
      const { commands, answer } = example('with-certificate');
      expect(await run(commands)).to.equal(answer.trimEnd());
    } finally {
      await service.stop();
    }
  });
});
