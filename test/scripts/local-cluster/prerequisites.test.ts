import { expect } from 'chai';
import { describe, it } from 'mocha';
import { java, maven, redisServer, remedyFor } from '../../../scripts/local-cluster/prerequisites.ts';

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

  it('are reported by their names elsewhere', () => {
    for (const isRoot of [true, false]) {
      expect(remedyFor([maven], { hasAptGet: false, isRoot }))
        .to.have.property('tell')
        .that.matches(/^Maven: not found on the PATH.*Homebrew/);
    }
  });
});
