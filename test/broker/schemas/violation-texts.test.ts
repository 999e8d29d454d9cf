import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  describeErrors,
  describeViolations,
  namedViolationsMaximum,
} from '../../../src/broker/schemas/violation-texts.ts';

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

describe('describeErrors', () => {
  const error = (
    keyword: string,
    params: Record<string, unknown> = {},
  ): Parameters<typeof describeErrors>[0][number] => {
    return { keyword, params, instancePath: '', schemaPath: '', message: `must match "${keyword}"`, data: {} };
  };

  it('says what is missing below a condition, and not that the condition does not hold', () => {
    const errors = [error('required', { missingProperty: 'payload' }), error('if')];
    for (const all of [true, false]) {
      expect(describeErrors(errors, all)).to.deep.equal([
        { pointer: '#', message: 'required key [payload] not found' },
      ]);
    }
  });

  it('says that a condition does not hold when nothing else is known', () => {
    expect(describeErrors([error('if')], true)).to.have.length(1);
  });
});
