import { expect } from 'chai';
import { describe, it } from 'mocha';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { writeJsonArray } from '../../../src/http/edge/json-array.ts';

describe('writing a list', () => {
  /** A clock that advances by this with every read. */
  const clockOf = (milliseconds: number): Clock => {
    let now = 0;
    return { ...systemClock, now: () => 0, monotonic: () => (now += milliseconds) };
  };

  it('writes a JSON array of the items in their order', async () => {
    expect(await writeJsonArray([1, 2, 3], String, clockOf(1))).to.equal('[1,2,3]');
    expect(await writeJsonArray([], String, clockOf(1))).to.equal('[]');
  });

  for (const [speed, milliseconds, others] of [
    ['quick', 0.001, 0],
    ['slow', 20, 5],
  ] as const) {
    it(`gives way to other work between ${speed} items ${others} times of 5`, async () => {
      const seen = new Set<number>();
      let written = 0;
      const watch = (): void => {
        if (written > 0) seen.add(written);
        if (written < 5) setImmediate(watch);
      };
      setImmediate(watch);
      await writeJsonArray([1, 2, 3, 4, 5], (item) => String((written = item)), clockOf(milliseconds));
      expect(seen.size).to.equal(others);
    });
  }
});
