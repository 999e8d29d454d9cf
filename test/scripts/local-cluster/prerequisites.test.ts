import { expect } from 'chai';
import { describe, it } from 'mocha';
import { failureOf } from '../../support/thrown-errors.ts';
import { java, maven, provide, redisServer, remedyFor } from '../../../scripts/local-cluster/prerequisites.ts';

describe('the programs that a local cluster needs', () => {
  it('are installed by root on Debian', () => {
    expect(remedyFor([java, redisServer], { hasAptGet: true, isRoot: true })).to.deep.equal({
      install: ['openjdk-17-jre-headless', 'redis-server'],
    });
  });

  it('are reported to other users on Debian with the command that installs them', () => {
    expect(remedyFor([java, maven], { hasAptGet: true, isRoot: false })).to.deep.equal({
      tell: 'Java 17, Maven: not found. Install with: sudo apt-get install --yes openjdk-17-jre-headless maven',
    });
  });

  it('are not installed when the person at the terminal does not want it', async () => {
    const missing = { name: 'Nothing', debianPackage: 'no-such-package', isThere: () => false };
    const lines: string[] = [];
    const refusal = await failureOf(
      provide(
        [missing],
        (line) => lines.push(line),
        () => Promise.resolve(false),
      ),
    );
    // The same for those who could not install it anyway.
    expect(refusal.message).to.match(/[Ii]nstall.*no-such-package/);
    expect(lines).to.deep.equal([]);
  });

  it('are reported by their names elsewhere', () => {
    for (const isRoot of [true, false]) {
      expect(remedyFor([maven], { hasAptGet: false, isRoot }))
        .to.have.property('tell')
        .that.matches(/^Maven: not found on the PATH.*Homebrew/);
    }
  });
});
