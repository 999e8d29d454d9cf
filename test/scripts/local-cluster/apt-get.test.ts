import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { installPackages, type AptGet } from '../../../scripts/local-cluster/apt-get.ts';
import { failureOf } from '../../support/thrown-errors.ts';

const listsAreLocked = 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)';

describe('the installation of packages', () => {
  let missing: string[];
  let calls: string[];
  let lines: string[];

  beforeEach(() => {
    missing = ['maven', 'redis-server'];
    calls = [];
    lines = [];
  });

  function install(aptGet: AptGet): Promise<void> {
    const recording: AptGet = (words) => {
      calls.push(words.filter((word) => !word.startsWith('--')).join(' '));
      return aptGet(words);
    };
    return installPackages(
      () => missing,
      (line) => lines.push(line),
      recording,
      1,
    );
  }

  it('brings the lists up to date and installs what is missing, all at once', async () => {
    await install(() => Promise.resolve());
    expect(calls).to.deep.equal(['update', 'install maven redis-server']);
  });

  it('waits while another program has the package manager, and then installs only what is still missing', async () => {
    await install(() => {
      if (calls.length > 2) return Promise.resolve();
      if (calls.length === 2) missing = ['maven'];
      return Promise.reject(new Error(listsAreLocked));
    });
    expect(calls).to.deep.equal(['update', 'update', 'update', 'install maven']);
  });

  it('installs nothing when another program has installed it in the meantime', async () => {
    await install(() => {
      missing = [];
      return Promise.reject(new Error(listsAreLocked));
    });
    expect(calls).to.deep.equal(['update']);
  });

  it('installs the other packages when the system has none of one name', async () => {
    await install((words) =>
      words.includes('maven') ? Promise.reject(new Error('E: Unable to locate package maven')) : Promise.resolve(),
    );
    expect(calls).to.deep.equal(['update', 'install maven redis-server', 'install maven', 'install redis-server']);
    expect(lines.join()).to.contain('Unable to locate package maven');
  });

  it('fails for any other reason at once', async () => {
    missing = ['maven'];
    const failure = await failureOf(install(() => Promise.reject(new Error('E: Temporary failure resolving'))));
    expect(failure.message).to.contain('Temporary failure');
    expect(calls).to.deep.equal(['update']);
  });
});
