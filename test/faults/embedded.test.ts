import { expect } from 'chai';
import { describe, it } from 'mocha';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { startEmbeddedSystem } from './embedded-system.ts';
import { runPlan } from './harness.ts';
import { quickPace, shortPlan } from './plan.ts';

describe('one process with the embedded log, killed, suspended and cut off under load', function () {
  this.timeout(180_000);

  it('keeps every promise', async () => {
    const folder = await temporaryFolder();
    const system = await startEmbeddedSystem(join(folder, 'system'));
    const plan = shortPlan(system.shape, 1, quickPace);
    const report = await runPlan(system, { folder, plan, printLine: () => undefined, load: 0.1 });
    // The files of a failed run are worth more than a tidy disk.
    expect(report.isGood, report.lines.join('\n')).to.equal(true);
    await removeFolder(folder);
  });
});
