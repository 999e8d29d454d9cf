import { expect } from 'chai';
import { describe, it } from 'mocha';
import { seenNodes } from '../../../src/broker/overview/nodes.ts';
import type { ReportedNode } from '../../../src/ports/node-reports.ts';

describe('the nodes that people see', () => {
  const leaseMilliseconds = 10_000;
  const node = (
    nodeId: string,
    changes: Partial<ReportedNode['report']> = {},
    silentMilliseconds = 0,
  ): ReportedNode => ({
    report: {
      nodeId,
      host: 'machine',
      address: 'http://127.0.0.1:8080',
      version: '1.0.0',
      roles: ['serve'],
      startedAt: 1_000,
      isReady: true,
      loanPartitions: 0,
      subscriptionStreams: 0,
      streamPartitions: 0,
      eventTypeStreams: 0,
      ...changes,
    },
    silentMilliseconds,
  });
  const statesOf = (...nodes: ReportedNode[]): string[] =>
    seenNodes(nodes, leaseMilliseconds).map(({ report, state }) => `${report.nodeId} ${state}`);

  it('are lost from the end of their lease on, and not before', () => {
    const [first, second] = [node('a', { host: 'one' }, 9_999), node('b', { host: 'two' }, 10_000)];
    expect(statesOf(first, second)).to.deep.equal(['a ready', 'b lost']);
    expect(statesOf(node('c', { isReady: false }, 9_999))).to.deep.equal(['c not_ready']);
    expect(statesOf(node('d', { isReady: false }, 10_000))).to.deep.equal(['d lost']);
  });

  it('leave out a lost one that was started again at its address, but none elsewhere', () => {
    const lost = node('old', {}, 60_000);
    expect(statesOf(lost, node('new', { startedAt: 2_000 }))).to.deep.equal(['new ready']);
    expect(statesOf(lost, node('new', { startedAt: 2_000 }, 20_000)), 'both lost').to.deep.equal(['new lost']);
    const elsewhere = node('new', { startedAt: 2_000, address: 'http://127.0.0.1:8081' });
    expect(statesOf(elsewhere, lost)).to.deep.equal(['old lost', 'new ready']);
    expect(statesOf(node('new', { startedAt: 2_000, host: 'other' }), lost)).to.deep.equal(['old lost', 'new ready']);
    expect(statesOf(node('old'), node('new', { startedAt: 2_000 })), 'both heard').to.have.length(2);
  });
});
