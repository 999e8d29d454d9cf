import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describeViolations, namedViolationsMaximum } from '../../../src/broker/schemas/violation-texts.ts';

describe('describeViolations', () => {
  it('is the violation itself when there is one, otherwise a count and all of them', () => {
    const violation = { pointer: '#/a', message: 'is bad' };
    expect(describeViolations([violation])).to.equal('#/a: is bad');
    expect(describeViolations([violation, violation])).to.equal(
      '#: 2 schema violations found\n#/a: is bad\n#/a: is bad',
    );
  });
});

describe('describeViolations of very many', () => {
  it('names the first and counts the rest', () => {
    const text = describeViolations(Array.from({ length: 1_000 }, () => ({ pointer: '#', message: 'is bad' })));
    expect(text.split('\n')).to.have.length(1 + namedViolationsMaximum);
    expect(text).to.match(/^#: 1000 or more schema violations found/);
  });
});
