import { expect } from 'chai';
import { describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { processorSeconds } from '../../../../scripts/suite/runner/processor-time.ts';
import { soonEnough } from '../../../support/eventually.ts';

/** Works until its process has used this much processor time. Seconds. */
const workSeconds = 0.3;

function work(): void {
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000_000 >= workSeconds) return;
  }
}

describe('the processor time of a file', () => {
  it('grows with the work of this process, and not while it waits', async () => {
    // A process that an earlier file has started counts when it ends, which may be meanwhile.
    await soonEnough(150, async () => {
      const before = processorSeconds();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (processorSeconds() - before) * 1_000;
    });
    const before = processorSeconds();
    work();
    expect(processorSeconds() - before).to.be.within(workSeconds - 0.05, workSeconds + 0.3);
  });

  it('grows with the work of a process that it started, when that has ended', function () {
    if (process.platform !== 'linux') {
      process.stdout.write('    skipped: only Linux reports the processor time of ended processes\n');
      this.skip();
    }
    const before = processorSeconds();
    spawnSync(process.execPath, ['-e', `const workSeconds = ${workSeconds}; (${work.toString()})()`]);
    expect(processorSeconds() - before).to.be.at.least(workSeconds - 0.05);
  });
});
