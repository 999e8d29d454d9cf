import { expect } from 'chai';
import { describe, it } from 'mocha';
import { giveWay } from '../../../../src/clock.ts';
import { FilterTurns, turnBytesMaximum } from '../../../../src/broker/streaming/filters/filter-turns.ts';

describe('the turns of filters', () => {
  it('begin at once until much was searched, and then in the next turn of the event loop', async () => {
    const turns = new FilterTurns();
    turns.spend(turnBytesMaximum - 1);
    expect(turns.begin()).to.equal(undefined);
    turns.spend(1);
    let others = 0;
    void giveWay().then(() => (others += 1));
    await turns.begin();
    expect(others).to.equal(1);
    expect(turns.begin()).to.equal(undefined);
  });

  it('count what was searched in the same turn only', async () => {
    const turns = new FilterTurns();
    for (let turn = 1; turn <= 3; turn += 1) {
      turns.spend(turnBytesMaximum - 1);
      expect(turns.begin()).to.equal(undefined);
      await giveWay();
      await giveWay();
    }
  });

  it('come one after another, each in a turn of the event loop of its own', async () => {
    const turns = new FilterTurns();
    turns.spend(turnBytesMaximum);
    const order: string[] = [];
    const filters = ['first', 'second', 'third'].map(async (name) => {
      await turns.begin();
      order.push(name);
      turns.spend(1);
    });
    const loop = (async () => {
      for (let turn = 1; turn <= 3; turn += 1) {
        await giveWay();
        order.push(`turn ${turn}`);
      }
    })();
    await Promise.all([...filters, loop]);
    expect(order.filter((entry) => !entry.startsWith('turn'))).to.deep.equal(['first', 'second', 'third']);
    expect(order.join(' ')).to.match(/first .*turn \d second .*turn \d third/);
    expect(turns.begin()).to.equal(undefined);
  });

  it('are not taken from those who wait by one that comes later', async () => {
    const turns = new FilterTurns();
    turns.spend(turnBytesMaximum);
    const order: string[] = [];
    const waiting = Promise.resolve(turns.begin()).then(() => order.push('waiting'));
    const later = Promise.resolve(turns.begin()).then(() => order.push('later'));
    await Promise.all([waiting, later]);
    expect(order).to.deep.equal(['waiting', 'later']);
  });
});
