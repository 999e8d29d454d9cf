import { describe, it } from 'mocha';
import { spawn } from 'node:child_process';

/** Not a test: test/scripts/suite runs it. */

describe('A suite whose process dies', () => {
  it('is not told the end', () => {
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    process.stdout.write(`orphan ${orphan.pid}\n`);
    process.exit(7);
  });
});
