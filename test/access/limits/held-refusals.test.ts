import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  HeldRefusals,
  RefusalPace,
  heldRefusalsMaximum,
  holdingMillisecondsMaximum,
  refusalsPerSecond,
} from '../../../src/access/limits/held-refusals.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

/** After how many milliseconds each of many refusals is answered, and whether its connection is closed. */
async function answersTo(
  clock: SimulatedClock,
  count: number,
  hold: () => Promise<boolean> | undefined,
): Promise<{ readonly at: number; readonly isClosing: boolean }[]> {
  const began = clock.monotonic();
  const answers: { readonly at: number; readonly isClosing: boolean }[] = [];
  const note = (isClosing: boolean): number => answers.push({ at: clock.monotonic() - began, isClosing });
  for (let turn = 0; turn < count; turn += 1) {
    const holding = hold();
    if (holding === undefined) note(false);
    else void holding.then(note);
  }
  await clock.turn(holdingMillisecondsMaximum);
  return answers;
}

describe('refusals of one sender', () => {
  it('are answered at once up to their rate, and one more later', async () => {
    const clock = new SimulatedClock();
    const [held, pace] = [new HeldRefusals(clock), new RefusalPace()];
    const answers = await answersTo(clock, refusalsPerSecond + 2, () => held.hold(pace, 1));
    expect(answers.slice(0, refusalsPerSecond).every(({ at }) => at === 0)).to.equal(true);
    expect(answers.slice(refusalsPerSecond)).to.deep.equal([
      { at: 10, isClosing: false },
      { at: 20, isClosing: false },
    ]);
  });

  it('are held back for a bounded time; beyond it, their connections are closed', async () => {
    const clock = new SimulatedClock();
    const [held, pace] = [new HeldRefusals(clock), new RefusalPace()];
    const inTime = (refusalsPerSecond * (1_000 + holdingMillisecondsMaximum)) / 1_000;
    const answers = await answersTo(clock, inTime + 1, () => held.hold(pace, 1));
    const latest = answers.slice(inTime - 1);
    expect(latest).to.deep.equal([
      { at: holdingMillisecondsMaximum, isClosing: false },
      { at: holdingMillisecondsMaximum, isClosing: true },
    ]);
  });

  it('are answered at once again when the sender has waited', async () => {
    const clock = new SimulatedClock();
    const [held, pace] = [new HeldRefusals(clock), new RefusalPace()];
    await answersTo(clock, refusalsPerSecond + 1, () => held.hold(pace, 1));
    await clock.turn(1_000);
    const answers = await answersTo(clock, refusalsPerSecond, () => held.hold(pace, 1));
    expect(answers.every(({ at }) => at === 0)).to.equal(true);
  });

  it('count for more when their bodies have to be discarded', async () => {
    const clock = new SimulatedClock();
    const [held, pace] = [new HeldRefusals(clock), new RefusalPace()];
    const answers = await answersTo(clock, 2, () => held.hold(pace, refusalsPerSecond));
    expect(answers).to.deep.equal([
      { at: 0, isClosing: false },
      { at: 1_000, isClosing: false },
    ]);
  });

  it('do not hold back those of another', async () => {
    const clock = new SimulatedClock();
    const held = new HeldRefusals(clock);
    await answersTo(clock, 2 * refusalsPerSecond, () => held.hold(held.paceOf('192.0.2.1'), 1));
    expect(held.hold(held.paceOf('192.0.2.2'), 1)).to.equal(undefined);
    expect(held.paceOf('2001:db8:1:2::1')).to.equal(held.paceOf('2001:db8:1:2::2'));
  });

  it('are held back up to a number of them on the process; one more is answered at once and its connection closed', async () => {
    const clock = new SimulatedClock();
    const held = new HeldRefusals(clock);
    const exhausted = (): RefusalPace => {
      const pace = new RefusalPace();
      pace.count(clock.monotonic(), refusalsPerSecond);
      return pace;
    };
    const answers = await answersTo(clock, heldRefusalsMaximum + 1, () => held.hold(exhausted(), 1));
    expect(answers[0]).to.deep.equal({ at: 0, isClosing: true });
    expect(answers.slice(1).every(({ at, isClosing }) => at === 10 && !isClosing)).to.equal(true);
    expect(answers).to.have.length(heldRefusalsMaximum + 1);
  });
});
