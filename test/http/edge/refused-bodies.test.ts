import { expect } from 'chai';
import { describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { Socket } from 'node:net';
import { BodiesInFlight } from '../../../src/http/edge/bodies-in-flight.ts';
import { reportRefusedBodies, warningPauseMilliseconds } from '../../../src/http/edge/refused-bodies.ts';
import type { Logger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { checkedLogger } from '../../support/logs/secrets-in-logs.ts';

const budget = { smallBodyBytes: 10, smallBytesMaximum: 25, largeBytesMaximum: 100, connectionBytesMaximum: 60 };

function report(): {
  readonly bodies: BodiesInFlight;
  readonly lines: object[];
  readonly turnClock: (milliseconds: number) => void;
  readonly counts: () => Promise<Record<string, number>>;
  readonly end: () => void;
} {
  const bodies = new BodiesInFlight(budget);
  const metrics = createMetrics();
  const lines: object[] = [];
  const logger: Logger = checkedLogger({ warn: (facts, message) => lines.push({ ...facts, message }) });
  let now = 0;
  const clock = { ...systemClock, now: () => 0, monotonic: () => now };
  return {
    bodies,
    lines,
    turnClock: (milliseconds) => (now += milliseconds),
    counts: async () => {
      const { values } = await metrics.refusedBodies.get();
      return Object.fromEntries(values.map(({ labels, value }) => [String(labels.budget), value]));
    },
    end: reportRefusedBodies(bodies, { metrics, logger, clock }),
  };
}

const message = 'Rejecting requests: too many bytes of bodies in progress';

describe('the report of refused bodies', () => {
  it('starts with a count of zero, so that the first refusal is an increase', async () => {
    expect(await report().counts()).to.deep.equal({ connection: 0, small: 0, large: 0 });
  });

  const rows: [budget: string, taken: readonly number[], onOneConnection: boolean, fitting: number][] = [
    ['connection', [40], true, 20],
    ['small', [10, 10], false, 5],
    ['large', [60], false, 40],
  ];
  for (const [exhausted, taken, onOneConnection, fitting] of rows) {
    it(`counts one byte too much under ${exhausted}, and nothing when the budget is just full`, async () => {
      const { bodies, counts, lines } = report();
      const socket = new Socket();
      const claim = (): ReturnType<BodiesInFlight['claim']> => bodies.claim(onOneConnection ? socket : new Socket());
      for (const bytes of taken) expect(claim().resize(bytes)).to.equal(true);
      const last = claim();
      expect(last.resize(fitting)).to.equal(true);
      expect([(await counts())[exhausted], lines]).to.deep.equal([0, []]);
      expect(last.resize(fitting + 1)).to.equal(false);
      const none = { connection: 0, small: 0, large: 0 };
      expect(await counts()).to.deep.equal({ ...none, [exhausted]: 1 });
      const bytes = taken.reduce((sum, each) => sum + each, fitting);
      expect(lines).to.deep.equal([{ budget: exhausted, refused: 1, bytes, message }]);
    });
  }

  it('logs the next line after the pause, with the number of refusals since the last line', async () => {
    const { bodies, counts, lines, turnClock } = report();
    const refuse = (): void => void bodies.claim(new Socket()).resize(61);
    refuse();
    refuse();
    turnClock(warningPauseMilliseconds - 1);
    refuse();
    expect(lines).to.have.length(1);
    turnClock(1);
    refuse();
    expect(lines.slice(1)).to.deep.equal([{ budget: 'connection', refused: 3, bytes: 0, message }]);
    expect((await counts())['connection']).to.equal(4);
  });

  it('stops', async () => {
    const { bodies, counts, lines, end } = report();
    end();
    bodies.claim(new Socket()).resize(61);
    expect([(await counts())['connection'], lines]).to.deep.equal([0, []]);
  });
});
