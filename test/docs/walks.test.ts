import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { fencedBlocks } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const separator = '----- end of a step -----';

for (const document of ['docs/keys-walk.md', 'docs/pages-walk.md']) {
  const blocks = fencedBlocks(readFileSync(join(packageRoot, document), 'utf8'));

  const steps = blocks.flatMap(({ language, words, text }, at) =>
    language === 'sh' && words[0] === 'walk' ? [{ commands: text, answer: blocks[at + 1]?.text ?? '' }] : [],
  );

  describe(`the walk of ${document}`, function () {
    this.timeout(120_000);
    let folder: string;
    let service: Service | undefined;

    before(async function () {
      folder = await temporaryFolder();
      if (spawnSync('curl', ['--version']).error !== undefined) {
        process.stdout.write('    skipped: curl is not installed\n');
        this.skip();
      }
    });

    after(async () => {
      await service?.stop();
      await removeFolder(folder);
    });

    it('goes as it is written', async () => {
      const start = blocks.find(({ language, words }) => language === 'sh' && words[0] === 'start')?.text ?? '';
      const settings = Object.fromEntries(
        [...start.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
      );
      expect(settings).to.have.property('API_KEYS');
      service = await startService(join(folder, 'data'), settings);
      const script = steps.map(({ commands }) => `${commands}\necho '${separator}'`).join('\n');
      const text = script
        .replaceAll('localhost:8080', new URL(service.url).host)
        .replaceAll('scripts/lendstream', join(packageRoot, 'scripts/lendstream'))
        .replaceAll('node dist/', `node ${join(packageRoot, 'dist')}/`);
      const output = execFileSync('bash', ['-uo', 'pipefail', '-c', text], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, LENDSTREAM_URL: service.url },
      });
      const answers = output.split(`${separator}\n`).slice(0, steps.length);
      expect(answers.map((answer) => answer.trimEnd())).to.deep.equal(steps.map(({ answer }) => answer.trimEnd()));
    });
  });
}
