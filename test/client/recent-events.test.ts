import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RecentEvents } from '../../src/client/recent-events.ts';

describe('recent events', () => {
  const first = { event_type: 'orders', partition: '0' };
  const second = { event_type: 'orders', partition: '1' };
  const event = (eid: string): { metadata: { eid: string } } => ({ metadata: { eid } });

  it('are known by their id, in their partition', () => {
    const recent = new RecentEvents();
    recent.add(first, event('a'));
    expect(recent.has(first, event('a'))).to.equal(true);
    expect(recent.has(second, event('a'))).to.equal(false);
    expect(recent.has(first, event('b'))).to.equal(false);
  });

  it('are forgotten beyond the maximum of their partition, the oldest first', () => {
    const recent = new RecentEvents(2);
    for (const eid of ['a', 'b', 'a', 'c']) recent.add(first, event(eid));
    recent.add(second, event('b'));
    expect(['a', 'b', 'c'].map((eid) => recent.has(first, event(eid)))).to.deep.equal([true, false, true]);
    expect(recent.has(second, event('b'))).to.equal(true);
  });

  it('are forgotten when the cursors are moved', () => {
    const recent = new RecentEvents();
    recent.add(first, event('a'));
    recent.add(second, event('a'));
    recent.clear(first);
    expect([recent.has(first, event('a')), recent.has(second, event('a'))]).to.deep.equal([false, true]);
    recent.clear();
    expect(recent.has(second, event('a'))).to.equal(false);
  });

  it('do not know events without an id', () => {
    const recent = new RecentEvents();
    recent.add(first, {});
    expect(recent.has(first, {})).to.equal(false);
  });
});
