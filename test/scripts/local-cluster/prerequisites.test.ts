import { expect } from 'chai';
import { describe, it } from 'mocha';
import { java, maven, redisServer, remedyFor } from '../../../scripts/local-cluster/prerequisites.ts';

describe('What a local cluster needs of the machine', () => {
  it('is installed by root on Debian', () => {
    expect(remedyFor([java, redisServer], { hasAptGet: true, isRoot: true })).to.deep.equal({
      install: ['openjdk-17-jre-headless', 'redis-server'],
    });
  });

  it('is reported with the command that installs it to other users on Debian', () => {
    expect(remedyFor([java, maven], { hasAptGet: true, isRoot: false })).to.deep.equal({
      tell: 'Java 17, Maven: not found. Install with: sudo apt-get install --yes openjdk-17-jre-headless maven',
    });
  });

  it('is reported with its names elsewhere', () => {
    for (const isRoot of [true, false]) {
      expect(remedyFor([maven], { hasAptGet: false, isRoot }))
        .to.have.property('tell')
        .that.matches(/^Maven: not found on the PATH.*Homebrew/);
    }
  });
});
