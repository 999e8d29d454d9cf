import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOf, seed as seedOption, wholeNumber } from '../../../scripts/command-line.ts';
import { endByItself } from '../../../scripts/suite/runner/open-resources.ts';
import { keyReportOf, runKeyCampaign } from './campaign.ts';

/** The command line of the campaign of keys, a part of `npm run campaign`. */

const { requests, seed } = optionsOf('campaign', { requests: wholeNumber(1, 10_000), seed: seedOption() });

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), `lendstream-keys-${seed}-`));
const outcome = await runKeyCampaign({ folder, requests, seed });
for (const line of keyReportOf(outcome)) printLine(line);
rmSync(folder, { recursive: true, force: true });
process.exitCode = outcome.faultCount === 0 ? 0 : 1;
endByItself(printLine);
