import { expect } from 'chai';
import { describe, it } from 'mocha';
import { UndeliveredNotices } from '../../../src/broker/streaming/undelivered-notices.ts';

describe('the notices of a stream', () => {
  it('are none while every event is delivered', () => {
    expect(new UndeliveredNotices().take()).to.deep.equal([]);
  });

  it('report once what retention deleted and what was skipped, each with its count', () => {
    const notices = new UndeliveredNotices();
    notices.countUnreadableRecords(1);
    notices.countSkippedOffsets(2);
    notices.countSkippedOffsets(3);
    expect(notices.take()).to.deep.equal([
      'skipped events due to retention time passed, count: 5 at most',
      'skipped records that are not JSON, count: 1',
    ]);
    expect(notices.take()).to.deep.equal([]);
  });
});
