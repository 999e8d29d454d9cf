import { expect } from 'chai';
import { describe, it } from 'mocha';
import { networkOf } from '../../../src/access/limits/address-network.ts';
import {
  addressesMaximum,
  FailedLogins,
  slowedAnswersMaximum,
  slowingMillisecondsMaximum,
  slowingStepMilliseconds,
} from '../../../src/access/limits/failed-logins.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const address = '192.0.2.1';

/** After how many milliseconds a failure is answered, or the seconds after which it may be repeated. */
async function answerOf(logins: FailedLogins, clock: SimulatedClock, from = address): Promise<string> {
  const began = clock.monotonic();
  let answer: string | undefined;
  void logins.countFailure(from).then(
    () => (answer = `401 after ${clock.monotonic() - began}`),
    (error: unknown) => {
      if (!isLendstreamError(error, 'TOO_MANY_REQUESTS')) throw error;
      answer = `429, again after ${String(error.details['retryAfterSeconds'])}`;
    },
  );
  await Promise.resolve();
  await Promise.resolve();
  if (answer === undefined) await clock.turn(slowingMillisecondsMaximum);
  return answer ?? 'none';
}

describe('failed logins of an address', () => {
  it('are answered at once, then later and later, and then refused', async () => {
    const clock = new SimulatedClock();
    const logins = new FailedLogins({ failedLoginsPerMinute: 4, requestsPerSecond: Infinity }, clock);
    const failures = Array.from({ length: 5 }, () => logins.countFailure(address).then(() => clock.monotonic()));
    const answers = Promise.allSettled(failures);
    await clock.turn(1_000);
    const settled = (await answers).map((each) => (each.status === 'fulfilled' ? each.value : 'refused'));
    expect(settled).to.deep.equal([0, 0, slowingStepMilliseconds, 2 * slowingStepMilliseconds, 'refused']);
    expect(logins.isBlocked(address)).to.equal(true);
    expect(logins.isBlocked('192.0.2.2')).to.equal(false);
  });

  it('are forgotten at the rate of the limit', async () => {
    const clock = new SimulatedClock();
    const logins = new FailedLogins({ failedLoginsPerMinute: 2, requestsPerSecond: Infinity }, clock);
    expect(await answerOf(logins, clock)).to.equal('401 after 0');
    await answerOf(logins, clock);
    expect(await answerOf(logins, clock)).to.match(/^429, again after \d+$/);
    await clock.turn(30_000);
    expect(logins.isBlocked(address)).to.equal(false);
    expect(await answerOf(logins, clock)).to.match(/^401/);
    expect(await answerOf(logins, clock)).to.match(/^429/);
    await clock.turn(60_000);
    expect(await answerOf(logins, clock)).to.equal('401 after 0');
  });

  it('are held back for a bounded time, and a bounded number of them', async () => {
    const clock = new SimulatedClock();
    const logins = new FailedLogins({ failedLoginsPerMinute: 2, requestsPerSecond: Infinity }, clock);
    const outcomes: string[] = [];
    for (let turn = 0; turn <= slowedAnswersMaximum; turn += 1) {
      const from = `10.0.${Math.floor(turn / 250)}.${turn % 250}`;
      await logins.countFailure(from);
      void logins.countFailure(from).then(
        () => outcomes.push('401'),
        () => outcomes.push('429'),
      );
    }
    await Promise.resolve();
    await Promise.resolve();
    expect(outcomes).to.deep.equal(['429']);
    await clock.turn(slowingMillisecondsMaximum);
    expect(outcomes.filter((outcome) => outcome === '401')).to.have.length(slowedAnswersMaximum);
  });

  it('are remembered of a bounded number of addresses', async () => {
    const clock = new SimulatedClock();
    const logins = new FailedLogins({ failedLoginsPerMinute: 1, requestsPerSecond: Infinity }, clock);
    await logins.countFailure(address);
    expect(logins.isBlocked(address)).to.equal(true);
    for (let turn = 0; turn < addressesMaximum; turn += 1) {
      await logins.countFailure(`10.${turn >> 16}.${(turn >> 8) & 255}.${turn & 255}`);
    }
    expect(logins.isBlocked(address)).to.equal(false);
  });

  it('are neither counted nor held back without a limit', async () => {
    const logins = new FailedLogins(
      { failedLoginsPerMinute: Infinity, requestsPerSecond: Infinity },
      new SimulatedClock(),
    );
    for (let turn = 0; turn < 1_000; turn += 1) await logins.countFailure(address);
    for (let turn = 0; turn < 1_000; turn += 1) logins.countRequest(address);
    expect(logins.isBlocked(address)).to.equal(false);
  });

  it('are apart from requests without credentials, which have a rate of their own', async () => {
    const clock = new SimulatedClock();
    const logins = new FailedLogins({ failedLoginsPerMinute: 1, requestsPerSecond: 2 }, clock);
    logins.countRequest(address);
    logins.countRequest(address);
    expect(() => logins.countRequest(address)).to.throw(/may send 2 requests without valid credentials a second/);
    expect(() => logins.countRequest('192.0.2.2')).to.not.throw();
    await clock.turn(500);
    expect(() => logins.countRequest(address)).to.not.throw();
    expect(logins.isBlocked(address)).to.equal(false);
  });
});

describe('the network of an address', () => {
  const rows: [address: string, network: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['', ''],
  ];
  for (const [from, network] of rows) {
    it(`of ${from === '' ? 'an unknown sender' : from} is ${network === '' ? 'unknown' : network}`, () => {
      expect(networkOf(from)).to.equal(network);
    });
  }
});
