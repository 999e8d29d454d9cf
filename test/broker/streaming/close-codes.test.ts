import { expect } from 'chai';
import { describe, it } from 'mocha';
import { closeInfo, closesImmediately } from '../../../src/broker/streaming/close-codes.ts';

describe('a close reason', () => {
  it('has a code for programs and the text that clients know', () => {
    expect(closeInfo('stream_timeout')).to.deep.equal({ debug: 'Stream timeout reached', code: 'stream_timeout' });
    expect(closeInfo('commit_timeout').debug).to.equal('Commit timeout reached');
    expect(closeInfo('cursors_reset').debug).to.equal('Resetting subscription cursors');
    expect(closeInfo('stream_limit', '5').debug).to.equal('Stream limit in events reached: 5');
  });

  it('leaves time for commits unless it is too late for them', () => {
    expect(closesImmediately('stream_timeout')).to.equal(false);
    expect(closesImmediately('cursors_reset')).to.equal(false);
    expect(closesImmediately('commit_timeout')).to.equal(true);
    expect(closesImmediately('client_closed')).to.equal(true);
  });
});
