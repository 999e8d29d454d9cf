import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { anonymous, type Principal } from '../../src/access/principal.ts';
import { AccessRefusals, refusalMilliseconds, refusedSendersMaximum } from '../../src/audit/access-refusals.ts';
import type { AuditEntry } from '../../src/audit/audit-entry.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

describe('the count of refused access', () => {
  let clock: SimulatedClock;
  let recorded: AuditEntry[];
  let audit: { isFailing: boolean; append(entry: AuditEntry): Promise<void> };
  let refusals: AccessRefusals;

  beforeEach(() => {
    clock = new SimulatedClock();
    recorded = [];
    audit = { isFailing: false, append: async (entry) => void recorded.push(entry) };
    refusals = new AccessRefusals({ audit, clock });
  });

  function refuse(from: string, status: 401 | 403 = 401, who: Principal | null = null): void {
    refusals.note({ status, who, from, flowId: `flow of ${from}`, operationOf: () => 'listApiKeys' });
  }

  function refuseSenders(count: number): void {
    for (let at = 0; at < count; at += 1) refuse(`10.0.0.${at}`);
  }

  it(`has a record of each of ${refusedSendersMaximum} senders`, async () => {
    refuseSenders(refusedSendersMaximum);
    refuseSenders(refusedSendersMaximum);
    expect(recorded).to.deep.equal([]);
    await clock.turn(refusalMilliseconds);
    expect(recorded).to.have.lengthOf(refusedSendersMaximum);
    expect(new Set(recorded.map(({ from }) => from)).size).to.equal(refusedSendersMaximum);
    expect(recorded.filter(({ from, count }) => from === null || count !== 2)).to.deep.equal([]);
  });

  it('has one record for all senders beyond these, of each status, and counts none of them twice', async () => {
    refuseSenders(refusedSendersMaximum + 1);
    refuse('10.0.1.1');
    refuse('10.0.1.2', 403, anonymous);
    refuse('10.0.0.0');
    await clock.turn(refusalMilliseconds);
    const shared = recorded.filter(({ from }) => from === null);
    expect(shared.map(({ status, who, operation, count }) => [status, who, operation, count])).to.deep.equal([
      [401, null, null, 2],
      [403, null, null, 1],
    ]);
    expect(recorded).to.have.lengthOf(refusedSendersMaximum + 2);
    const total = recorded.reduce((sum, { count = 0 }) => sum + count, 0);
    expect(total).to.equal(refusedSendersMaximum + 4);
  });

  it('gives each sender a record of its own again in the next second', async () => {
    refuseSenders(refusedSendersMaximum + 1);
    await clock.turn(refusalMilliseconds);
    recorded.splice(0);
    refuse('10.0.1.1');
    await clock.turn(refusalMilliseconds);
    expect(recorded.map(({ from, count }) => [from, count])).to.deep.equal([['10.0.1.1', 1]]);
  });

  it('counts on while the audit cannot be written', async () => {
    audit.isFailing = true;
    refuse('10.0.0.1');
    await clock.turn(refusalMilliseconds);
    refuse('10.0.0.1');
    expect(recorded).to.deep.equal([]);
    audit.isFailing = false;
    await clock.turn(refusalMilliseconds);
    expect(recorded.map(({ count }) => count)).to.deep.equal([2]);
  });

  it('records what was counted when the process stops', () => {
    refuse('10.0.0.1');
    refusals.close();
    expect(recorded).to.have.lengthOf(1);
  });
});
