import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eidOf, isRetryable, publishedItem } from '../../../src/broker/publishing/response-items.ts';

describe('publishedItem', () => {
  it('has its fields in the order of the API, and an offset only if there is one', () => {
    const item = publishedItem('failed', 'why', 'validating', 'id', null);
    expect(JSON.stringify(item)).to.equal(
      '{"publishing_status":"failed","detail":"why","step":"validating","eid":"id","partition":null}',
    );
    expect(publishedItem('submitted', '', 'publishing', 'id', '0', 7)).to.include({ offset: 7 });
  });
});

describe('eidOf', () => {
  it('is empty for an event without a printable one', () => {
    const events = [{}, { metadata: null }, { metadata: 'x' }, { metadata: {} }, { metadata: { eid: 1 } }];
    expect(events.map(eidOf)).to.deep.equal(['', '', '', '', '']);
    expect(eidOf({ metadata: { eid: 'id' } })).to.equal('id');
  });
});

describe('isRetryable', () => {
  it('follows from the status, unless the item says otherwise', () => {
    const of = (status: 'submitted' | 'failed' | 'aborted'): boolean =>
      isRetryable(publishedItem(status, '', 'publishing', 'id', '0'));
    expect([of('submitted'), of('failed'), of('aborted')]).to.deep.equal([false, false, true]);
    const failed = publishedItem('failed', '', 'publishing', 'id', '0');
    expect(isRetryable({ ...failed, retryable: true })).to.equal(true);
    expect(isRetryable({ ...publishedItem('aborted', '', 'none', 'id', null), retryable: false })).to.equal(false);
  });
});
