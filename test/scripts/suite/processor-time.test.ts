import { expect } from 'chai';
import { describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { processorSeconds } from '../../../scripts/suite/processor-time.ts';

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
    const before = processorSeconds();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const waited = processorSeconds() - before;
    work();
    expect(processorSeconds() - before - waited).to.be.within(workSeconds - 0.05, workSeconds + 0.3);
    expect(waited).to.be.below(0.15);
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
