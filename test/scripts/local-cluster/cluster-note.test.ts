import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const compiled = fileURLToPath(new URL('../../../scripts/local-cluster/cluster-note.js', import.meta.url));

describe('The note of a cluster', () => {
  let cache: string;

  beforeEach(async () => {
    cache = await temporaryFolder();
  });
  afterEach(() => removeFolder(cache));

  /**
   * What another process prints that claims a name with a note: the result, or the code of the error.
   * @param limit A command of the shell that limits the process.
   */
  function claim(note: object, limit = ':'): string {
    const program = `
      import { claimNote } from ${JSON.stringify(compiled)};
      try {
        console.log(claimNote(${JSON.stringify(note)}));
      } catch (error) {
        console.log(error.code);
      }`;
    const words = ['-c', `${limit}; exec "$@"`, 'bash', process.execPath, '--input-type=module', '-e', program];
    const environment = { ...process.env, LENDSTREAM_CACHE_DIR: cache };
    return spawnSync('bash', words, { encoding: 'utf8', env: environment }).stdout.trim();
  }

  const files = (): string[] => readdirSync(join(cache, 'clusters'));

  it('belongs to the first who claims the name', () => {
    expect(claim({ name: 'one', folder: 'first' })).to.equal('true');
    expect(claim({ name: 'one', folder: 'second' })).to.equal('false');
    expect(files()).to.deep.equal(['one.json']);
    expect(readFileSync(join(cache, 'clusters/one.json'), 'utf8')).to.equal('{"name":"one","folder":"first"}');
  });

  it('is never there in part: when it cannot be written, the name stays free', () => {
    expect(claim({ name: 'one' }, 'ulimit -f 0')).to.equal('EFBIG');
    expect(files()).to.deep.equal([]);
    expect(claim({ name: 'one' })).to.equal('true');
  });
});
