import { expect } from 'chai';
import { describe, it } from 'mocha';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.ts';
import { runCampaign } from './campaign.ts';
import { staleMutants } from './mutants.ts';
import { simulate } from './simulation.ts';

/** With short runs. npm run campaign simulates a hundred thousand whole ones. */
const seeds = 1_000;

describe('the broker in simulated time', () => {
  it(`keeps every invariant for ${seeds} seeds`, async function () {
    this.timeout(600_000);
    const lines: string[] = [];
    const failures = await runCampaign(1, seeds, (line) => lines.push(line), { isShort: true });
    expect(failures, lines.join('\n')).to.equal(0);
  });

  it('has the same history, byte for byte, for the same seed', async () => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const first = await simulate(seed, { isRecording: true });
      const second = await simulate(seed, { isRecording: true });
      expect(second.history.join('\n')).to.equal(first.history.join('\n'));
      expect(first.history.length).to.be.greaterThan(10);
    }
  });

  it('prints the whole history of a seed, the same in another process', async function () {
    this.timeout(120_000);
    const program = join(packageRoot, 'dist/test/simulation/run.js');
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--seed', '2759'], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const { history, steps } = await simulate(2759, { isRecording: true });
    const lines = stdout.split('\n');
    expect(lines.slice(0, history.length).join('\n')).to.equal(history.join('\n'));
    expect(lines[history.length]).to.match(new RegExp(`^Seed 2759: ${steps} steps, .* every invariant held$`));
  });

  it('has mutants of the code as it is now', () => {
    expect(staleMutants()).to.deep.equal([]);
  });

  it('behaves the same whether its history is recorded or not', async () => {
    const { history: _history, ...recorded } = await simulate(7, { isRecording: true });
    const { history: _nothing, ...unrecorded } = await simulate(7);
    expect(unrecorded).to.deep.equal(recorded);
  });
});
