import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { LogHealthCheck } from '../../../src/broker/log/log-health-check.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { Health } from '../../../src/health.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const partition = { topic: 'lendstream.registry', partition: 0 };

describe('the health check of the log', () => {
  let clock: SimulatedClock;

  function probeOf(endOffsets: EventLog['endOffsets']): { health: Health; probe: LogHealthCheck } {
    clock = new SimulatedClock();
    const health = new Health(clock);
    const probe = new LogHealthCheck({ log: { endOffsets }, partition, clock, health: health.part('log') });
    return { health, probe };
  }

  it('reports not ready from the tenth second without a response, and ready with the next response', async () => {
    let isAway = true;
    const away = new LendstreamError('LOG_UNAVAILABLE', 'No broker answers.');
    const { health, probe } = probeOf(() => (isAway ? Promise.reject(away) : Promise.resolve([])));
    await clock.turn(9_999);
    expect(health.notReadyReasons()).to.deep.equal([]);
    await clock.turn(1);
    expect(health.notReadyReasons()).to.deep.equal(['The log has not responded for 10 seconds: No broker answers.']);
    isAway = false;
    await clock.turn(2_000);
    expect(health.notReadyReasons()).to.deep.equal([]);
    isAway = true;
    await clock.turn(9_999);
    expect(health.notReadyReasons()).to.deep.equal([]);
    await clock.turn(1);
    expect(health.notReadyReasons()).to.have.length(1);
    probe.close();
    expect(clock.nextDeadline(), 'it asks no more').to.equal(Infinity);
  });

  it('waits for one response at a time, and treats a response that never comes as missing', async () => {
    let questions = 0;
    const { health, probe } = probeOf(() => {
      questions += 1;
      return new Promise(() => {});
    });
    await clock.turn(10_000);
    expect(questions).to.equal(1);
    expect(health.notReadyReasons().join()).to.match(/10 seconds: no response/);
    probe.close();
  });
});
