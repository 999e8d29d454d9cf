import { expect } from 'chai';
import { describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { LogProbe } from '../../../src/broker/log/probe.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { Health } from '../../../src/health.ts';

const partition = { topic: 'lendstream.registry', partition: 0 };

describe('asking the log whether it is there', () => {
  let now = 0;
  const clock = { ...systemClock, now: () => now, monotonic: () => now };

  function probeOf(bounds: EventLog['bounds']): { health: Health; probe: LogProbe; ask: () => Promise<void> } {
    now = 0;
    const health = new Health(clock);
    const probe = new LogProbe({ log: { bounds }, partition, clock, health: health.part('log') });
    const ask = async (): Promise<void> => {
      probe.probe();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { health, probe, ask };
  }

  it('is not ready from the tenth second without an answer on, and is with the next answer', async () => {
    let isAway = true;
    const away = new LendstreamError('LOG_UNAVAILABLE', 'No broker answers.');
    const { health, probe, ask } = probeOf(() => (isAway ? Promise.reject(away) : Promise.resolve([])));
    await ask();
    now = 9_999;
    await ask();
    expect(health.notReadyReasons()).to.deep.equal([]);
    now = 10_000;
    await ask();
    expect(health.notReadyReasons()).to.deep.equal(['The log has not answered for 10 seconds: No broker answers.']);
    isAway = false;
    await ask();
    expect(health.notReadyReasons()).to.deep.equal([]);
    now = 19_999;
    isAway = true;
    await ask();
    expect(health.notReadyReasons()).to.deep.equal([]);
    probe.close();
  });

  it('waits for one answer at a time, and takes one that never comes for none', async () => {
    let questions = 0;
    const { health, probe, ask } = probeOf(() => {
      questions += 1;
      return new Promise(() => {});
    });
    await ask();
    now = 10_000;
    await ask();
    expect(questions).to.equal(1);
    expect(health.notReadyReasons().join()).to.match(/10 seconds: no answer/);
    probe.close();
  });
});
