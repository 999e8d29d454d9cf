import { expect } from 'chai';
import { describe, it } from 'mocha';
import { keyLimitBounds, limitsOf, withoutLimits, type KeyLimits } from '../../../src/access/limits/key-limits.ts';
import { countedPrincipalsMaximum, Usage, Usages } from '../../../src/access/limits/usage.ts';
import { anonymous, environmentPrincipal, restrictedPrincipal, type Principal } from '../../../src/access/principal.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const limits: KeyLimits = {
  requests_per_second: 3,
  commits_per_second: 2,
  body_bytes_in_flight: 100,
  open_streams: 2,
  subscriptions: 1,
  event_types: 1,
};

/** The refusal of an action, and after how many seconds it may be repeated; undefined when it is not refused. */
function refusalOf(act: () => void): { readonly code: string; readonly after: unknown } | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof LendstreamError)) throw error;
    return { code: error.code, after: error.details['retryAfterSeconds'] };
  }
}

const tooMany = { code: 'TOO_MANY_REQUESTS', after: 1 };

describe('the usage of a principal', () => {
  it('may reach its requests a second, and goes on when time has passed', async () => {
    const clock = new SimulatedClock();
    const usage = new Usage('shop', limits, clock);
    const request = (): ReturnType<typeof refusalOf> => refusalOf(() => usage.countRequest());
    expect([request(), request(), request(), request()]).to.deep.equal([undefined, undefined, undefined, tooMany]);
    await clock.turn(333);
    expect(request()).to.deep.equal(tooMany);
    await clock.turn(1);
    expect([request(), request()]).to.deep.equal([undefined, tooMany]);
    await clock.turn(3_600_000);
    expect([request(), request(), request(), request()]).to.deep.equal([undefined, undefined, undefined, tooMany]);
  });

  it('may reach its commits a second, which are counted apart from requests', () => {
    const usage = new Usage('shop', limits, new SimulatedClock());
    const commit = (): ReturnType<typeof refusalOf> => refusalOf(() => usage.countCommit());
    expect([commit(), commit(), commit()]).to.deep.equal([undefined, undefined, tooMany]);
    expect(refusalOf(() => usage.countRequest())).to.equal(undefined);
  });

  it('may fill its bytes of bodies, and not one byte more', () => {
    const usage = new Usage('shop', limits, new SimulatedClock());
    expect([usage.resizeBody(0, 60), usage.resizeBody(0, 40), usage.resizeBody(0, 1)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect([usage.resizeBody(60, 0), usage.resizeBody(40, 100), usage.bodyBytes]).to.deep.equal([true, true, 100]);
    // Shrinking is never refused.
    expect([usage.resizeBody(100, 101), usage.resizeBody(100, 99), usage.bodyBytes]).to.deep.equal([false, true, 99]);
  });

  it('may have its streams open, and another when one has ended, once', () => {
    const usage = new Usage('shop', limits, new SimulatedClock());
    const release = usage.openStream();
    usage.openStream();
    expect(refusalOf(() => usage.openStream())).to.deep.equal(tooMany);
    release();
    release();
    usage.openStream();
    expect([refusalOf(() => usage.openStream()), usage.openStreams]).to.deep.equal([tooMany, 2]);
  });

  it('keeps what is in use when the limits change', () => {
    const usage = new Usage('shop', limits, new SimulatedClock());
    const release = usage.openStream();
    usage.changeLimits({ ...limits, open_streams: 1, requests_per_second: 1 });
    expect(refusalOf(() => usage.openStream())).to.deep.equal(tooMany);
    release();
    usage.openStream();
    expect([refusalOf(() => usage.countRequest()), refusalOf(() => usage.countRequest())]).to.deep.equal([
      undefined,
      tooMany,
    ]);
  });

  it('is refused nothing without limits', () => {
    const usage = new Usage('shop', withoutLimits, new SimulatedClock());
    for (let turn = 0; turn < 10_000; turn += 1) {
      usage.countRequest();
      usage.countCommit();
      usage.openStream();
    }
    expect(usage.resizeBody(0, Number.MAX_SAFE_INTEGER)).to.equal(true);
  });
});

describe('the usages of a process', () => {
  const key = (name: string, own = {}): Principal =>
    restrictedPrincipal(name, 'shop', ['consumer'], { kind: 'api-key' }, own);

  it('take the limits of a key before those of the settings', () => {
    const usages = new Usages(limits, new SimulatedClock());
    expect(usages.of(key('shop', { open_streams: 7 }))?.limits).to.deep.equal({ ...limits, open_streams: 7 });
  });

  it('are the same for one key, whatever object stands for it, and change with its limits', () => {
    const usages = new Usages(limits, new SimulatedClock());
    const before = usages.of(key('shop'));
    before?.openStream();
    const again = usages.of(key('shop', { open_streams: 1 }));
    expect([again === before, again?.limits.open_streams, again?.openStreams]).to.deep.equal([true, 1, 1]);
  });

  it('are those of keys apart from those of tokens with the same name', () => {
    const usages = new Usages(limits, new SimulatedClock());
    const token = restrictedPrincipal('shop', 'shop', ['consumer'], { kind: 'access-token', expiresAt: Infinity });
    expect(usages.of(token)).to.not.equal(usages.of(key('shop')));
  });

  it('leave out administrators, and an open service unless the settings limit it', () => {
    expect(new Usages(limits, new SimulatedClock()).of(environmentPrincipal(0))).to.equal(undefined);
    expect(new Usages(limits, new SimulatedClock()).of(anonymous)?.limits).to.deep.equal(limits);
    expect(new Usages(withoutLimits, new SimulatedClock()).of(anonymous)).to.equal(undefined);
  });

  it('are bounded, and forget those that sent nothing for the longest time', () => {
    const usages = new Usages(limits, new SimulatedClock());
    const first = usages.of(key('first'));
    for (let turn = 1; turn < countedPrincipalsMaximum; turn += 1) usages.of(key(`key-${turn}`));
    expect(usages.of(key('first'))).to.equal(first);
    for (let turn = 0; turn < countedPrincipalsMaximum; turn += 1) usages.of(key(`other-${turn}`));
    expect(usages.of(key('first'))).to.not.equal(first);
  });

  it('have bounds in which the defaults lie', () => {
    for (const { fallback, minimum, maximum } of Object.values(keyLimitBounds)) {
      expect(fallback).to.be.within(minimum, maximum);
    }
    expect(Object.values(limitsOf(() => 1))).to.deep.equal([1, 1, 1, 1, 1, 1]);
  });
});
