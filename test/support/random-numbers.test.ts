import { expect } from 'chai';
import { describe, it } from 'mocha';
import { randomNumbers } from './random-numbers.ts';

describe('random numbers', () => {
  it('are distributed evenly', () => {
    const random = randomNumbers(42);
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let turn = 0; turn < 10_000; turn += 1) tenths[Math.floor(random() * 10)]! += 1;
    for (const count of tenths) expect(count).to.be.within(850, 1_150);
  });
});
