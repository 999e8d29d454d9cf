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

  it('report once what the consumer cannot process, and how often the next events have failed', () => {
    const notices = new UndeliveredNotices();
    const place = (partition: number) => ({ eventType: 'loans', partition });
    const record = { failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: false };
    notices.countUnprocessableEvents(1);
    notices.reportFailures(place(0), record, 4);
    notices.reportFailures(place(1), { ...record, isOneByOne: true }, 4);
    notices.reportFailures(place(2), { ...record, isOneByOne: true }, 8);
    expect(notices.take()).to.deep.equal([
      'skipped events that could not be processed, count: 1',
      'Auto DLQ failed commits tracking: {loans:0 failedCommitsCount=2 lastDeadLetterOffset=null}, ' +
        '{loans:1 failedCommitsCount=2 lastDeadLetterOffset=001-0001-000000000000000009}, ' +
        '{loans:2 failedCommitsCount=0 lastDeadLetterOffset=001-0001-000000000000000009}',
    ]);
    expect(notices.take()).to.deep.equal([]);
  });

  it('leave out failures of events that are committed by now', () => {
    const notices = new UndeliveredNotices();
    const record = { failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: false };
    notices.reportFailures({ eventType: 'loans', partition: 0 }, record, 5);
    notices.reportFailures({ eventType: 'loans', partition: 0 }, { ...record, isOneByOne: true }, 9);
    expect(notices.take()).to.deep.equal([]);
  });
});
