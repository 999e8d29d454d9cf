import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { environmentPrincipal } from '../../../src/access/principal.ts';
import { claimsBeforeCleanup } from '../../../src/embedded/coordination.ts';
import { streamSubjectOf } from '../../../src/http/access/stream-subject.ts';
import { StreamTokens, streamTokenMilliseconds } from '../../../src/http/access/stream-tokens.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { openCoordinationUnderTest, openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { systemClock } from '../../../src/clock.ts';

const subject = 'subscriptions/one';

/** The holder of the first key of the settings. */
const holder = environmentPrincipal(0);

const noKeys = { currentPrincipal: () => undefined, tokenSecretOf: () => undefined };

describe('stream tokens', () => {
  let own: OwnLog;
  let coordination: Coordination;
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now };

  before(async () => {
    own = await openOwnLog();
    coordination = await openCoordinationUnderTest(`tokens-${process.pid}`, own.log, systemClock, silentLogger);
  });

  after(async () => {
    await coordination.close();
    await own.cleanup();
  });

  function node(...environmentKeys: string[]): StreamTokens {
    return new StreamTokens({
      environmentKeys,
      keys: noKeys,
      clock,
      claim: (name, lease) => coordination.claim(name, lease),
      releaseClaim: (name) => coordination.releaseClaim(name),
    });
  }

  it('open a stream until the minute is over, and not at its end', async () => {
    const tokens = node('a key of this test');
    const [early, late] = [await tokens.issue(holder, subject), await tokens.issue(holder, subject)];
    expect(early.expiresAt).to.equal(now + streamTokenMilliseconds);
    now += streamTokenMilliseconds - 1;
    expect(await tokens.redeem(early.token, subject)).to.not.equal(undefined);
    now += 1;
    expect(await tokens.redeem(late.token, subject)).to.equal(undefined);
  });

  it('open one stream, on whichever process', async () => {
    const [first, second] = [node('key one', 'key two'), node('key two', 'key one')];
    for (const keyIndex of [0, 1]) {
      const { token } = await first.issue(environmentPrincipal(keyIndex), subject);
      const redeemed = await Promise.all([first, second, first].map((tokens) => tokens.redeem(token, subject)));
      expect(redeemed.filter(Boolean)).to.have.length(1);
      expect(await second.redeem(token, subject)).to.equal(undefined);
    }
  });

  it('open no stream of another subscription, nor of an event type with its name', async () => {
    const tokens = node('a key of this test');
    const { token } = await tokens.issue(holder, subject);
    for (const other of ['subscriptions/two', 'subscriptions/', 'event-types/one', 'subscriptions/one2'] as const) {
      expect(await tokens.redeem(token, other)).to.equal(undefined);
    }
    expect(await tokens.redeem(token, subject)).to.not.equal(undefined);
  });

  it('open nothing on a process without the key', async () => {
    const { token } = await node('old key', 'new key').issue(holder, subject);
    expect(await node('new key').redeem(token, subject)).to.equal(undefined);
    expect(await node().redeem(token, subject)).to.equal(undefined);
  });

  it('open nothing when they were changed, without a question to the coordination store', async () => {
    const claims: string[] = [];
    const tokens = new StreamTokens({
      environmentKeys: ['a key of this test'],
      keys: noKeys,
      clock,
      claim: (name) => {
        claims.push(name);
        return Promise.resolve(true);
      },
      releaseClaim: () => Promise.resolve(),
    });
    const { token } = await tokens.issue(holder, subject);
    const [end = '', random = '', code = ''] = token.split('.');
    for (const wrong of [
      '',
      'token',
      `${(now + 2 * streamTokenMilliseconds).toString(36)}.${random}.${code}`,
      `${end}.${random.replace(/^./, (letter) => (letter === 'a' ? 'b' : 'a'))}.${code}`,
      `${end}.${random}.${code.replace(/^./, (letter) => (letter === 'a' ? 'b' : 'a'))}`,
      `${end}.${random}.`,
      `${token}.`,
      ` ${token}`,
    ]) {
      expect(await tokens.redeem(wrong, subject), wrong).to.equal(undefined);
    }
    expect(claims).to.deep.equal([]);
  });

  it('name no key: nothing of a token is in what is claimed or shown but its code', async () => {
    const tokens = node('a key of this test');
    expect((await tokens.issue(holder, subject)).token).to.match(/^[0-9a-z]{1,11}\.[\w-]{16}\.[\w-]{43}$/);
    expect((await tokens.issue(holder, subject)).token).not.to.equal((await tokens.issue(holder, subject)).token);
  });

  it('are used by many, and the claims of ended ones are removed', async () => {
    for (let index = 0; index < claimsBeforeCleanup + 2; index += 1) {
      expect(await coordination.claim(`short-${index}`, 1)).to.equal(true);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await coordination.claim('short-0', 60_000)).to.equal(true);
    expect(await coordination.claim('short-0', 60_000)).to.equal(false);
  });
});

describe('the path of a stream', () => {
  for (const [path, expected] of [
    ['/subscriptions/one/events', 'subscriptions/one'],
    ['/event-types/a.b/events/', 'event-types/a.b'],
    ['/event-types/a%2Db/events', 'event-types/a-b'],
    ['/event-types/%/events', undefined],
    ['/subscriptions/one/cursors', undefined],
    ['/subscriptions/one/events/more', undefined],
    ['/loans/one/events', undefined],
    ['/subscriptions//events', undefined],
  ] as const) {
    it(`${path} names ${expected ?? 'nothing'}`, () => {
      expect(streamSubjectOf(path)).to.equal(expected);
    });
  }
});
