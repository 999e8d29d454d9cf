import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { contestMilliseconds, WorkTurns } from '../../../src/access/limits/work-turns.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns with work', () => {
  const [greedy, modest] = [{ name: 'greedy' }, { name: 'modest' }];
  let clock: SimulatedClock;
  let turns: WorkTurns;
  let done: string[];

  beforeEach(() => {
    clock = new SimulatedClock();
    turns = new WorkTurns(clock);
    done = [];
  });

  /** Begins work, now or in its turn. */
  function work(owner: { readonly name: string }, piece: number): void {
    const note = (): number => done.push(`${owner.name} ${piece}`);
    const turn = turns.take(owner);
    if (turn === undefined) note();
    else void turn.then(note);
  }

  const contest = (): void => {
    turns.noteRequest(greedy);
    turns.noteRequest(modest);
  };

  it('are not taken while one alone sends requests', () => {
    for (let piece = 0; piece < 100; piece += 1) {
      turns.noteRequest(greedy);
      work(greedy, piece);
    }
    expect(done).to.have.length(100);
    expect(turns.isWaiting(greedy)).to.equal(false);
  });

  it('let each begin one piece in a turn of the event loop, however much another has', async () => {
    contest();
    for (let piece = 0; piece < 5; piece += 1) work(greedy, piece);
    work(modest, 0);
    work(modest, 1);
    expect(done).to.deep.equal(['greedy 0', 'modest 0']);
    await nextTurn();
    await nextTurn();
    expect(done.filter((each) => each.startsWith('modest'))).to.deep.equal(['modest 0', 'modest 1']);
    expect(done.length).to.be.at.most(6);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(done.filter((each) => each.startsWith('greedy'))).to.deep.equal([0, 1, 2, 3, 4].map((at) => `greedy ${at}`));
  });

  it('keep the order of one, and end when the others are gone', async () => {
    contest();
    for (const piece of [0, 1, 2]) work(greedy, piece);
    expect([done, turns.isWaiting(greedy), turns.isWaiting(modest)]).to.deep.equal([['greedy 0'], true, false]);
    for (let turn = 0; turn < 6; turn += 1) await nextTurn();
    expect(done).to.deep.equal(['greedy 0', 'greedy 1', 'greedy 2']);
    await clock.turn(contestMilliseconds);
    work(greedy, 3);
    work(greedy, 4);
    expect(done).to.have.length(5);
  });

  it('are shared by all long responses of one', async () => {
    contest();
    const slices: string[] = [];
    for (let stream = 0; stream < 8; stream += 1) void turns.giveWay(greedy).then(() => slices.push('greedy'));
    void turns.giveWay(modest).then(() => slices.push('modest'));
    await nextTurn();
    await nextTurn();
    expect(slices.filter((each) => each === 'modest')).to.have.length(1);
    expect(slices.length).to.be.at.most(4);
    for (let turn = 0; turn < 12; turn += 1) await nextTurn();
    expect(slices).to.have.length(9);
  });
});
