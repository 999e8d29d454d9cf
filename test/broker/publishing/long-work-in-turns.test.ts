import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inTurns } from '../../../src/broker/publishing/long-work-in-turns.ts';

function* counting(turns: number): Generator<void, number> {
  for (let turn = 1; turn < turns; turn += 1) yield;
  return turns;
}

describe('inTurns', () => {
  it('runs work that never gives way at once', () => {
    expect(inTurns(counting(1))).to.equal(1);
  });

  it('runs everything else that is due between two turns', async () => {
    const between: string[] = [];
    const other = (): void => void (between.length < 5 && between.push('other') && setImmediate(other));
    setImmediate(other);
    expect(await inTurns(counting(4))).to.equal(4);
    expect(between).to.have.length.at.least(3);
  });

  it('fails when the work fails, in the first turn and later', async () => {
    const failing = function* (turns: number): Generator<void, never> {
      yield* counting(turns);
      throw new Error('broken');
    };
    expect(() => inTurns(failing(1))).to.throw('broken');
    const outcome = await Promise.resolve(inTurns(failing(2))).catch(String);
    expect(outcome).to.equal('Error: broken');
  });
});
