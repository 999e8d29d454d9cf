import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { Retry, orTransientError } from '../../../src/kafka/connection/retry.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const failure = new LendstreamError('LOG_UNAVAILABLE', 'No leader.');

/** The start of each attempt, until there is none. Milliseconds. */
async function attemptsOf(forMilliseconds: number): Promise<{ attempts: number[]; thrown: unknown }> {
  const clock = new SimulatedClock();
  const retry = new Retry(clock, { forMilliseconds, firstPauseMilliseconds: 40, pauseMillisecondsMaximum: 90 });
  const attempts: number[] = [];
  let thrown: unknown;
  const run = async (): Promise<void> => {
    for (;;) {
      attempts.push(clock.monotonic());
      await retry.after(failure);
    }
  };
  void run().catch((error: unknown) => (thrown = error));
  await clock.turnUntil(() => thrown !== undefined);
  return { attempts, thrown };
}

describe('Retries of transient failures', () => {
  it('follow after pauses that grow by half, up to a maximum', async () => {
    const { attempts } = await attemptsOf(370);
    expect(attempts).to.deep.equal([0, 40, 100, 190, 280, 370]);
  });

  it('end with the last failure when the next one would begin too late', async () => {
    const { attempts, thrown } = await attemptsOf(369);
    expect(attempts).to.deep.equal([0, 40, 100, 190, 280]);
    expect(thrown).to.equal(failure);
    expect((await attemptsOf(39)).attempts).to.deep.equal([0]);
  });

  const codes: [code: ErrorCode, isTransient: boolean][] = [
    ['LOG_UNAVAILABLE', true],
    ['OUTCOME_UNKNOWN', true],
    ['LOG_CLOSED', false],
    ['UNKNOWN_TOPIC_OR_PARTITION', false],
  ];
  for (const [code, isTransient] of codes) {
    it(`${isTransient ? 'follow' : 'do not follow'} ${code}`, async () => {
      const error = new LendstreamError(code, 'Failed.');
      const outcome = orTransientError(Promise.reject(error)).then(
        (result) => ({ result }),
        (thrown: unknown) => ({ thrown }),
      );
      expect(await outcome).to.deep.equal(isTransient ? { result: error } : { thrown: error });
    });
  }

  it('are not made after a result', async () => {
    expect(await orTransientError(Promise.resolve(7))).to.equal(7);
  });
});
