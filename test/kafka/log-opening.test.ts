import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Socket } from 'node:net';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { failureOf } from '../support/thrown-errors.ts';

describe('The log of a cluster that cannot be reached', () => {
  /** Opens a log whose sockets fail so. @returns what fails, and how often a socket was asked for */
  function openInVain(failure: Error) {
    const clock = new SimulatedClock();
    const times: number[] = [];
    const socketFactory = (): Socket => {
      times.push(clock.monotonic());
      const socket = new Socket();
      setImmediate(() => socket.destroy(failure));
      return socket;
    };
    const options = { brokers: ['[::1]:9092'], clientId: 'test', logger: silentLogger, clock, socketFactory };
    return { clock, times, failed: failureOf(KafkaLog.open(options)) };
  }

  it('is tried again every 200 ms, for half a minute', async () => {
    const { clock, times, failed } = openInVain(new Error('No route'));
    for (let attempt = 1; attempt <= 151; attempt += 1) {
      await eventually(() => times.length >= attempt && clock.hasDeadline(clock.monotonic() + 200));
      await clock.step();
    }
    expect(await failed).to.include({ code: 'LOG_UNAVAILABLE' });
    expect(String(await failed)).to.include('asked ::1:9092');
    expect([times.length, times[1], times.at(-1)]).to.deep.equal([152, 200, 30_200]);
  });

  it('is tried once when a certificate is not trusted', async () => {
    const untrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const { clock, times, failed } = openInVain(untrusted);
    expect(await failed).to.include({ code: 'LOG_UNAVAILABLE' });
    expect([times.length, clock.nextDeadline()]).to.deep.equal([1, Infinity]);
  });
});
