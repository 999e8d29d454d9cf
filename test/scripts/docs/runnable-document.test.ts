import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { runSteps, shown, stepsOf, withoutChance } from '../../../scripts/docs/runnable-document.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

/** No service runs here: these commands send no requests. */
const url = 'http://127.0.0.1:9';

function markdown(...commands: string[]): string {
  return commands.map((command) => `\`\`\`sh runnable\n${command}\n\`\`\`\n\n\`\`\`text answer\n\`\`\`\n`).join('\n');
}

describe('running a document', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(() => removeFolder(folder));

  it('keeps the shell between blocks and ends its background processes', async () => {
    const steps = stepsOf(markdown('sleep 600 &\nname=world', 'echo "hello $name from localhost:8080"'));
    expect(await runSteps(steps, url, folder)).to.deep.equal(['', 'hello world from 127.0.0.1:8080\n']);
  });

  it('names the block that fails', async () => {
    const steps = stepsOf(markdown('true', 'false'));
    const failure = await runSteps(steps, url, folder).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message').that.includes('line 8');
  });

  it('compares ids and times by their form, and everything else exactly', () => {
    const first = 'id 2b0f5a50-4d0e-4a3c-9d3a-0a4d3c1f7f11 at 2026-01-02T03:04:05.678Z: 12.50';
    const second = 'id 9c1e7d1b-7a36-4f0e-8b51-5f2f0c9be0aa at 2027-02-03T04:05:06Z: 12.50';
    expect(withoutChance(first)).to.equal(withoutChance(second));
    expect(withoutChance(first)).to.not.equal(withoutChance(second.replace('12.50', '12.5')));
  });

  it('shows JSON with the digits that were sent', () => {
    expect(shown('{"amount":10.00}', 'JSON')).to.equal('{\n  "amount": 10.00\n}\n');
  });
});
