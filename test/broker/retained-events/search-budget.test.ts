import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SearchBudget } from '../../../src/broker/retained-events/search-budget.ts';
import { systemClock } from '../../../src/clock.ts';

describe('what a page may search', () => {
  const bounds = { events: 10, bytes: 100, milliseconds: 50 };

  it('is spent with the last event, the last byte, or the last millisecond', () => {
    let now = 1_000;
    const clock = { ...systemClock, monotonic: () => now };
    const byEvents = new SearchBudget(clock, bounds);
    byEvents.spend(9, 0);
    expect(byEvents.isSpent).to.equal(false);
    byEvents.spend(1, 0);
    expect(byEvents.isSpent).to.equal(true);
    const byBytes = new SearchBudget(clock, bounds);
    byBytes.spend(1, 99);
    expect(byBytes.isSpent).to.equal(false);
    byBytes.spend(1, 1);
    expect(byBytes.isSpent).to.equal(true);
    const byTime = new SearchBudget(clock, bounds);
    now += 49;
    expect(byTime.isSpent).to.equal(false);
    now += 1;
    expect(byTime.isSpent).to.equal(true);
  });
});
