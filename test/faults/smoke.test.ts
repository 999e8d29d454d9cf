import { expect } from 'chai';
import { it } from 'mocha';
import { join } from 'node:path';
import { describeOnCluster } from '../support/cluster.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { startClusterSystem } from './cluster-system.ts';
import { runPlan } from './harness.ts';
import { quickPace, smokePlan } from './plan.ts';

// The faults would affect every other suite, so the run always has its own Kafka and Redis.
describeOnCluster('Four processes on Kafka and Redis, under every kind of fault', () => {
  it('keep every promise', async function () {
    this.timeout(600_000);
    const folder = await temporaryFolder();
    const printLine = (): void => undefined;
    const system = await startClusterSystem({ folder: join(folder, 'system'), brokers: 1, printLine });
    const report = await runPlan(system, { folder, plan: smokePlan(system.shape, 1, quickPace), printLine, load: 0.5 });
    // The files of a failed run are worth more than a tidy disk.
    expect(report.isGood, report.lines.join('\n')).to.equal(true);
    await removeFolder(folder);
  });
});
