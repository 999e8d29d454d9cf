import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { runCampaign } from '../campaign.ts';
import { simulate } from '../simulation.ts';
import { startRedisForRuns, type RedisForRuns } from './redis-server.ts';

/** With short runs. npm run campaign simulates thousands of whole ones. */
const seeds = 8;

describe('the broker in simulated time, on the scripts of a real Redis', function () {
  this.timeout(120_000);
  let redis: RedisForRuns;

  before(async () => {
    redis = await startRedisForRuns();
  });

  after(() => redis.stop());

  it(`keeps every invariant for ${seeds} seeds`, async () => {
    const lines: string[] = [];
    const failures = await runCampaign(1, seeds, (line) => lines.push(line), { isShort: true, redis });
    expect(failures, lines.join('\n')).to.equal(0);
  });

  it('has the same history, byte for byte, for the same seed, also when Redis loses its data', async () => {
    const options = { isRecording: true, isShort: true, redis };
    const { history, violation } = await simulate(51, options);
    expect(violation).to.equal(undefined);
    expect(history.filter((line) => line.endsWith('the store forgets everything'))).not.to.have.length(0);
    expect((await simulate(51, options)).history.join('\n')).to.equal(history.join('\n'));
  });
});
