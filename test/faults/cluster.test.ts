import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { join } from 'node:path';
import { describeOnCluster } from '../support/cluster.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { partOrWhole } from '../support/values/extent.ts';
import { startClusterSystem } from './cluster-system.ts';
import { runPlan } from './harness.ts';
import { quickPace, shortPlan, smokePlan } from './plan.ts';
import { describeStory, lengthOf, settings } from './story/chapters.ts';
import type { SystemUnderTest } from './system.ts';

// The faults would affect every other suite, so both have a Kafka and a Redis of their own, one after the other.
describeOnCluster('Processes on Kafka and Redis', () => {
  let folder: string;
  let system: SystemUnderTest;
  let isGood = false;
  const printLine = (): void => undefined;

  before(async function () {
    this.timeout(120_000);
    folder = await temporaryFolder();
    system = await startClusterSystem({
      folder: join(folder, 'system'),
      brokers: 1,
      printLine,
      sharesProcesses: partOrWhole(true, false),
      settings,
    });
  });

  it('keep every promise under every kind of fault', async function () {
    this.timeout(600_000);
    // The story goes on with its processes.
    const lasting = { ...system, stop: () => Promise.resolve([]) };
    // The whole of it has every kind for every sort of target.
    const plan = partOrWhole(shortPlan, smokePlan)(system.shape, 1, quickPace);
    const report = await runPlan(lasting, { folder, plan, printLine, load: partOrWhole(0.05, 0.1) });
    ({ isGood } = report);
    expect(isGood, report.lines.join('\n')).to.equal(true);
  });

  describe('then tell the story of a loan with sixty transactions, which', () => {
    // One machine tells it with more transactions, and ends processes in every way; the campaign does both here too.
    describeStory(() => Promise.resolve(system), lengthOf({ transactions: 60, hasEveryEnd: partOrWhole(false, true) }));
  });

  after(async () => {
    // The files of a failed run are worth more than a tidy disk.
    if (isGood) await removeFolder(folder);
  });
});
