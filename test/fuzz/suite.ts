import { expect } from 'chai';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { fuzz, type FuzzedCluster } from './fuzz.ts';
import { isClean, reportOf } from './report.ts';

/** How many requests a test run sends; npm run campaign sends a million to one machine. */
const requestsInSuite = 100;

/** The same requests in every run, so that only a change can make it fail. */
const seed = 20_251_121;

/** Fails with all findings. The files of a failed run stay where the report says. */
export async function expectNothingFound(requests = requestsInSuite, cluster?: FuzzedCluster): Promise<void> {
  const folder = await temporaryFolder();
  const outcome = await fuzz({ cluster, folder, requests, seed, printLine: () => undefined });
  expect(isClean(outcome), reportOf(outcome, folder).join('\n')).to.equal(true);
  expect(outcome.requests).to.equal(requests);
  await removeFolder(folder);
}
