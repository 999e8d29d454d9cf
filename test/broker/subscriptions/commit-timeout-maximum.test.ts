import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  commitTimeoutAnnotation,
  commitTimeoutSecondsLongest,
  commitTimeoutSecondsMaximum,
  commitTimeoutViolations,
} from '../../../src/broker/subscriptions/commit-timeout-maximum.ts';

describe('the longest commit timeout of a subscription', () => {
  const annotated = (value: string | null) => ({ [commitTimeoutAnnotation]: value });

  it('is a minute without the annotation, and what it says with it, up to an hour', () => {
    expect(commitTimeoutSecondsMaximum({ annotations: {} })).to.equal(60);
    expect(commitTimeoutSecondsMaximum({ annotations: annotated(null) })).to.equal(60);
    for (const seconds of [1, 60, 61, 3_600]) {
      expect(commitTimeoutViolations(annotated(String(seconds)))).to.deep.equal([]);
      expect(commitTimeoutSecondsMaximum({ annotations: annotated(String(seconds)) })).to.equal(seconds);
    }
    expect(commitTimeoutSecondsLongest).to.equal(3_600);
    expect(commitTimeoutSecondsMaximum({ annotations: {} }, { commitTimeoutSeconds: 90 })).to.equal(90);
    expect(commitTimeoutSecondsMaximum({ annotations: annotated('30') }, { commitTimeoutSeconds: 90 })).to.equal(30);
  });

  it('is refused beyond an hour, and as anything but a whole number of seconds', () => {
    for (const text of ['0', '3601', '10000', '-1', '1.5', '060', 'long', '', ' 60']) {
      expect(commitTimeoutViolations(annotated(text)), text).to.deep.equal([
        {
          field: 'annotations[lendstream/commit-timeout-seconds-maximum]',
          message: 'must be a whole number from 1 to 3600',
        },
      ]);
      expect(commitTimeoutSecondsMaximum({ annotations: annotated(text) }), text).to.equal(60);
    }
  });
});
