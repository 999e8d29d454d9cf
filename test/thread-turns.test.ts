import { expect } from 'chai';
import { describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('support/processes/exit-during-work.js', import.meta.url));

describe('a process that exits while a thread of it works', () => {
  function run(milliseconds: number): {
    readonly status: number | null;
    readonly lines: string[];
    readonly took: number;
  } {
    const startedAt = performance.now();
    const { status, stdout } = spawnSync(process.execPath, [program, `${milliseconds}`], { encoding: 'utf8' });
    return { status, lines: stdout.trim().split('\n'), took: performance.now() - startedAt };
  }

  it('waits for the end of the work, which is the last that the thread does', () => {
    const { status, lines } = run(500);
    expect(status).to.equal(3);
    expect(lines.slice(0, 2)).to.deep.equal(['begin', 'end']);
    expect(lines.length % 2, 'no piece of work was cut off').to.equal(0);
  });

  it('exits after two seconds all the same', () => {
    const { status, lines, took } = run(60_000);
    expect(status).to.equal(3);
    expect(lines).to.deep.equal(['begin']);
    expect(took).to.be.within(2_000, 30_000);
  });
});
