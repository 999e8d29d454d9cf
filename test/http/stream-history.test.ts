import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { StreamHistory } from '../../src/http/stream-history.ts';

describe('what a process remembers of streams', () => {
  let now = 0;
  let history: StreamHistory;

  beforeEach(() => {
    now = Date.UTC(2026, 0, 1);
    history = new StreamHistory({ now: () => now, monotonic: () => now });
  });

  const cursor = (partition: string, offset: string) => ({
    event_type: 'orders',
    partition,
    offset,
    cursor_token: 'any',
  });

  it('is nothing at first', () => {
    expect([history.endedStreams('one'), history.lastCommits('one')]).to.deep.equal([[], []]);
  });

  it('is the last commit of each partition', () => {
    history.committed('one', [cursor('0', '1'), cursor('1', '5')]);
    now += 1_000;
    history.committed('one', [cursor('0', '2')]);
    expect(history.lastCommits('one')).to.deep.equal([
      { event_type: 'orders', partition: '0', offset: '2', committed_at: '2026-01-01T00:00:01.000Z' },
      { event_type: 'orders', partition: '1', offset: '5', committed_at: '2026-01-01T00:00:00.000Z' },
    ]);
    expect(history.lastCommits('other')).to.deep.equal([]);
  });

  it('is the last ten streams that ended, the last one first', () => {
    for (let number = 1; number <= 12; number += 1) history.ended('one', `stream-${number}`, 'Commit timeout reached');
    const ended = history.endedStreams('one');
    expect(ended).to.have.length(10);
    expect(ended[0]).to.deep.equal({
      stream_id: 'stream-12',
      ended_at: '2026-01-01T00:00:00.000Z',
      reason: 'Commit timeout reached',
    });
  });

  it('is forgotten with the subscription', () => {
    history.ended('one', 'stream', 'any');
    history.forget('one');
    expect(history.endedStreams('one')).to.deep.equal([]);
  });
});
