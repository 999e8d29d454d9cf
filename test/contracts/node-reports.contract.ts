import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import {
  nodeRetentionMilliseconds,
  reportedNodesMaximum,
  type NodeReport,
  type ReportedNode,
} from '../../src/ports/node-reports.ts';
import type { CoordinationHarness } from './coordination.contract.ts';

/** How long a test takes at most between what it measures. Milliseconds. */
const slackMilliseconds = 15_000;

/** What every adapter of the coordination port must do with the reports of nodes. */
export function describeNodeReports(harnessOf: () => CoordinationHarness): void {
  describe('reports of nodes', () => {
    let reported: string[] = [];

    const reportOf = (changes: Partial<NodeReport> = {}): NodeReport => ({
      nodeId: randomUUID(),
      host: 'machine "1"|é',
      address: 'http://127.0.0.1:8080',
      version: '1.2.3',
      roles: ['serve', 'work'],
      startedAt: 1_700_000_000_000,
      isReady: true,
      loanPartitions: 12,
      subscriptionStreams: 3,
      streamPartitions: 7,
      eventTypeStreams: 1,
      ...changes,
    });

    const report = async (given: NodeReport, process = harnessOf().coordination): Promise<string> => {
      await process.reportNode(given);
      reported.push(given.nodeId);
      return given.nodeId;
    };

    const find = async (nodeId: string, process = harnessOf().coordination): Promise<ReportedNode | undefined> =>
      (await process.reportedNodes()).find((node) => node.report.nodeId === nodeId);

    afterEach(async () => {
      await Promise.all(reported.map((nodeId) => harnessOf().coordination.withdrawNode(nodeId)));
      reported = [];
    });

    it('are returned as they were given, to every process', async () => {
      const given = reportOf();
      await report(given);
      for (const process of [harnessOf().coordination, harnessOf().unheard]) {
        const found = await find(given.nodeId, process);
        expect(found?.report).to.deep.equal(given);
        expect(found?.silentMilliseconds).to.be.within(0, slackMilliseconds);
      }
    });

    it('replace what the node said before', async () => {
      const first = reportOf();
      await report(first);
      await report({ ...first, isReady: false, subscriptionStreams: 0 }, harnessOf().unheard);
      const all = (await harnessOf().coordination.reportedNodes()).filter(
        (node) => node.report.nodeId === first.nodeId,
      );
      expect(all).to.have.length(1);
      expect(all[0]?.report).to.deep.include({ isReady: false, subscriptionStreams: 0, loanPartitions: 12 });
    });

    it('say how long the node has been silent', async () => {
      const [silent, heard] = [reportOf(), reportOf()];
      await report(silent);
      await report(heard);
      await harnessOf().elapse(20_000);
      await report(heard);
      expect((await find(silent.nodeId))?.silentMilliseconds).to.be.within(20_000, 20_000 + slackMilliseconds);
      expect((await find(heard.nodeId))?.silentMilliseconds).to.be.within(0, slackMilliseconds);
    });

    it('are forgotten when the node withdraws, and come back when it reports again', async () => {
      const given = reportOf();
      await report(given);
      await harnessOf().coordination.withdrawNode(given.nodeId);
      await harnessOf().coordination.withdrawNode(given.nodeId);
      expect(await find(given.nodeId)).to.equal(undefined);
      await report(given);
      expect((await find(given.nodeId))?.report).to.deep.equal(given);
    });

    it('are kept of a silent node for as long as promised, and no longer', async () => {
      const nodeId = await report(reportOf());
      await harnessOf().elapse(nodeRetentionMilliseconds - slackMilliseconds);
      expect(await find(nodeId)).not.to.equal(undefined);
      await harnessOf().elapse(slackMilliseconds);
      expect(await find(nodeId)).to.equal(undefined);
      // Nor do they come back with what another node says.
      await report(reportOf());
      expect(await find(nodeId)).to.equal(undefined);
    });

    it('are kept of as many nodes as promised: one more, and the longest silent is forgotten', async function () {
      this.timeout(20_000);
      const oldest = reportOf();
      await report(oldest);
      await harnessOf().elapse(60_000);
      const second = reportOf();
      await report(second);
      await harnessOf().elapse(60_000);
      const others = (await harnessOf().coordination.reportedNodes()).length;
      for (let count = others; count < reportedNodesMaximum; count += 1) await report(reportOf());
      expect(await harnessOf().coordination.reportedNodes()).to.have.length(reportedNodesMaximum);
      expect(await find(oldest.nodeId)).not.to.equal(undefined);
      await report(second);
      expect(await find(oldest.nodeId), 'a known node takes no place').not.to.equal(undefined);
      await report(reportOf());
      expect(await find(oldest.nodeId)).to.equal(undefined);
      expect(await find(second.nodeId)).not.to.equal(undefined);
      expect(await harnessOf().coordination.reportedNodes()).to.have.length(reportedNodesMaximum);
    });
  });
}
