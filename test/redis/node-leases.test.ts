import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { NodeLeases } from '../../src/redis/node-leases.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

describe('the leases of the nodes of a process', () => {
  let clock: SimulatedClock;
  /** What the script is given with each renewal. */
  let renewals: (readonly (string | number)[])[];
  let failure: Error | undefined;
  let leases: NodeLeases;

  beforeEach(() => {
    clock = new SimulatedClock();
    renewals = [];
    failure = undefined;
    leases = new NodeLeases(clock, (values) => {
      renewals.push(values);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    });
  });

  /** The nodes that an action renews. */
  async function renewedBy(action: () => Promise<void>): Promise<unknown[]> {
    renewals = [];
    await action();
    return renewals.map(([nodeId]) => nodeId);
  }

  it('are renewed with the silence that shows an outage and the time to come back', async () => {
    await leases.renew('a', 9_000);
    expect(renewals).to.deep.equal([['a', 9_000, 4_500, 3_150]]);
    await leases.renew('b', 1_001);
    const rounded = ['b', 1_001, 1_000, 351];
    expect(renewals.at(-1), 'no less than a second, and whole milliseconds').to.deep.equal(rounded);
  });

  it('are kept with the rest of their time until they end, and their nodes as long again', async () => {
    await leases.renew('a', 9_000);
    await clock.turn(4_000);
    await leases.renew('b', 1_000);
    expect(leases.remaining()).to.deep.equal([
      ['a', 5_000],
      ['b', 1_000],
    ]);
    await clock.turn(1_999);
    expect(leases.nodes()).to.deep.equal(['a', 'b']);
    await clock.turn(1);
    expect(leases.nodes()).to.deep.equal(['a']);
    expect(leases.remaining()).to.deep.equal([['a', 3_000]]);
    await clock.turn(3_000);
    expect(leases.nodes()).to.deep.equal(['a']);
    expect(leases.remaining()).to.deep.equal([]);
    expect(leases.nodes()).to.deep.equal([]);
  });

  it('are overdue when no renewal was confirmed until now, though the last one that was sent lasts longer', async () => {
    await leases.renew('a', 9_000);
    await leases.renew('b', 20_000);
    expect(await renewedBy(() => leases.renewOverdue())).to.deep.equal([]);
    await clock.turn(5_000);
    failure = new Error('Out of reach');
    await leases.renew('a', 9_000).catch(() => undefined);
    failure = undefined;
    await clock.turn(3_999);
    expect(await renewedBy(() => leases.renewOverdue())).to.deep.equal([]);
    await clock.turn(1);
    expect(await renewedBy(() => leases.renewOverdue())).to.deep.equal(['a']);
    expect(await renewedBy(() => leases.renewOverdue())).to.deep.equal([]);
    await clock.turn(9_000);
    expect(await renewedBy(() => leases.renewOverdue()), 'it has ended').to.deep.equal([]);
  });

  it('are all renewed after an outage, except for those that have ended', async () => {
    await leases.renew('a', 9_000);
    await leases.renew('b', 1_000);
    expect(await renewedBy(() => leases.renewAll())).to.deep.equal(['a', 'b']);
    await clock.turn(1_000);
    expect(await renewedBy(() => leases.renewAll())).to.deep.equal(['a']);
  });
});
