import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { DecidingTurns, decidingSliceMilliseconds } from '../../src/worker/deciding-turns.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

describe('the turns of partitions that decide', () => {
  let clock: SimulatedClock;
  let turns: DecidingTurns;
  /** What happened: the names of partitions, and "other work" for each turn of the event loop. */
  let happened: string[];

  beforeEach(() => {
    clock = new SimulatedClock();
    turns = new DecidingTurns(clock);
    happened = [];
  });

  /** Decides for `milliseconds` at a time, as often as said. */
  async function partition(name: string, milliseconds: number, times: number): Promise<void> {
    await turns.begin();
    for (let time = 0; time < times; time += 1) {
      happened.push(name);
      clock.jump(milliseconds);
      await turns.giveWayInTime();
    }
  }

  /** Notes each turn of the event loop until the work is done. */
  async function beside(work: Promise<unknown>): Promise<void> {
    const state = { isDone: false };
    const ended = work.then(() => (state.isDone = true));
    while (!state.isDone) {
      happened.push('other work');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
  }

  it('lets one partition decide without a pause while its slice lasts', async () => {
    await partition('A', decidingSliceMilliseconds / 10, 9);
    expect(happened).to.deep.equal(Array(9).fill('A'));
  });

  it('gives other work its turn after each slice', async () => {
    await beside(partition('A', decidingSliceMilliseconds, 3));
    expect(happened.join(', ')).to.match(/^other work, A, other work, A, other work, A, other work/);
  });

  it('lets four partitions have one slice in a turn together, and none wait longer than the others', async () => {
    const command = decidingSliceMilliseconds / 5;
    const names = ['A', 'B', 'C', 'D'];
    await beside(Promise.all(names.map((name) => partition(name, command, 50))));
    const turnsTaken = happened.join('').split('other work');
    // A command is not interrupted, so each partition may exceed the slice by one.
    const inOneTurn = Math.max(...turnsTaken.map((each) => each.length));
    expect(inOneTurn).to.be.at.most(decidingSliceMilliseconds / command + names.length);
    const decided = happened.filter((name) => name !== 'other work').slice(0, 100);
    for (const name of names) expect(decided.filter((each) => each === name).length).to.be.within(20, 30);
  });
});
