import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compareVersions, raisedVersion } from '../../../src/broker/schemas/schema-versions.ts';

describe('compareVersions', () => {
  it('compares numbers, not characters', () => {
    expect(['1.0.2', '10.0.0', '2.10.3', '2.9.0'].sort(compareVersions)).to.deep.equal([
      '1.0.2',
      '2.9.0',
      '2.10.3',
      '10.0.0',
    ]);
    expect(compareVersions('2.9.7', '2.10.3')).to.be.lessThan(0);
    expect(compareVersions('2.9.7', '2.9.6')).to.be.greaterThan(0);
    expect(compareVersions('3.0.0', '2.9.9')).to.be.greaterThan(0);
    expect(compareVersions('2.9.7', '2.9.7')).to.equal(0);
  });
});

describe('raisedVersion', () => {
  it('raises one part and returns the parts after it to zero', () => {
    const raised = (['major', 'minor', 'patch'] as const).map((part) => raisedVersion('2.9.7', part));
    expect(raised).to.deep.equal(['3.0.0', '2.10.0', '2.9.8']);
  });
});
