import { expect } from 'chai';
import { generateKeyPair } from 'jose';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { AccessTokenRules } from '../../src/access/access-token-rules.ts';
import { AccessTokens, accessTokenCharactersMaximum } from '../../src/access/access-tokens.ts';
import { systemClock } from '../../src/clock.ts';
import { IdentityProvider, audience, issuer, type Signing } from '../support/access/identity-provider.ts';
import { failureOf } from '../support/thrown-errors.ts';

describe('access tokens', () => {
  let provider: IdentityProvider;
  let rules: AccessTokenRules;
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };

  before(async () => {
    provider = await IdentityProvider.start();
    rules = {
      issuer,
      audience,
      keysUrl: provider.keysUrl,
      algorithms: ['RS256', 'ES256'],
      clockSkewSeconds: 30,
      scopesClaim: 'scope',
      applicationClaim: 'client_id',
    };
  });

  after(() => provider.stop());

  beforeEach(() => {
    provider.requests = 0;
  });

  function tokenOf(claims: Record<string, unknown> = {}, signing: Signing = {}, secondsLeft = 60): Promise<string> {
    const usual = { client_id: 'shop', scope: 'consumer loans:read unknown' };
    return provider.tokenOf(Math.floor(now / 1_000) + secondsLeft, { ...usual, ...claims }, signing);
  }

  it('name their subject, its application, and the scopes that exist', async () => {
    const principal = await new AccessTokens(rules, clock).principalOf(await tokenOf());
    expect(principal).to.include({ name: 'user:alice', application: 'shop', isUnrestricted: false });
    expect(principal?.scopes).to.deep.equal(['consumer', 'loans:read']);
    expect(principal?.permissions.has('subscriptions:consume')).to.equal(true);
  });

  it('may have their scopes in a list, under another name', async () => {
    const tokens = new AccessTokens({ ...rules, scopesClaim: 'roles', applicationClaim: 'azp' }, clock);
    const principal = await tokens.principalOf(await tokenOf({ roles: ['officer', 7], azp: 'branch' }));
    expect([principal?.scopes, principal?.application]).to.deep.equal([['officer'], 'branch']);
  });

  const refusals: [title: string, claims: Record<string, unknown>, secondsLeft: number][] = [
    ['from another issuer', { iss: 'https://login.example/' }, 60],
    ['for another audience', { aud: 'others' }, 60],
    ['without an audience', { aud: undefined }, 60],
    ['without a subject', { sub: undefined }, 60],
    ['with a subject that cannot stand in a log', { sub: 'a b' }, 60],
    ['with a subject of 256 characters', { sub: 'a'.repeat(256) }, 60],
    ['without an end', { exp: undefined }, 60],
    ['that ended longer ago than clocks may differ', {}, -31],
    ['whose time begins later than clocks may differ', { nbf: Math.floor(Date.now() / 1_000) + 60 }, 60],
  ];
  for (const [title, claims, secondsLeft] of refusals) {
    it(`are refused ${title}`, async () => {
      const token = await tokenOf(claims, {}, secondsLeft);
      expect(await new AccessTokens(rules, clock).principalOf(token)).to.equal(undefined);
    });
  }

  it('are accepted as long as clocks may differ, and not a second longer', async () => {
    const begin = now;
    now = Math.floor(now / 1_000) * 1_000;
    const token = await tokenOf({}, {}, 0);
    const tokens = new AccessTokens(rules, clock);
    now += 29_000;
    expect(await tokens.principalOf(token)).to.not.equal(undefined);
    now += 1_000;
    // A token that was verified before, and one that was not.
    expect(await tokens.principalOf(token)).to.equal(undefined);
    expect(await new AccessTokens(rules, clock).principalOf(token)).to.equal(undefined);
    now = begin;
  });

  it('are refused with an algorithm that is not listed, with none, and with a public key as a secret', async () => {
    expect(await new AccessTokens({ ...rules, algorithms: ['RS256'] }, clock).principalOf(await tokenOf())).to.equal(
      undefined,
    );
    const [, payload = ''] = (await tokenOf()).split('.');
    const header = Buffer.from('{"alg":"none","kid":"first"}').toString('base64url');
    const tokens = new AccessTokens(rules, clock);
    expect(tokens.looksLikeToken(`${header}.${payload}.`)).to.equal(false);
    expect(await tokens.principalOf(`${header}.${payload}.x`)).to.equal(undefined);
    const publicText = JSON.stringify(await provider.publicKey('first'));
    const forged = await tokenOf({}, { key: Buffer.from(publicText.padEnd(64)), algorithm: 'HS256' });
    expect(await tokens.principalOf(forged)).to.equal(undefined);
  });

  it('are refused when one character of any part was changed', async () => {
    const parts = (await tokenOf()).split('.');
    const tokens = new AccessTokens(rules, clock);
    expect(parts).to.have.length(3);
    for (const index of parts.keys()) {
      const changed = parts.map((part, at) => (at === index ? part.replace(/^./, (first) => nextLetter(first)) : part));
      expect(await tokens.principalOf(changed.join('.'))).to.equal(undefined);
    }
  });

  it('cost one request for keys, however many there are', async () => {
    const tokens = new AccessTokens(rules, clock);
    for (let index = 0; index < 5; index += 1) await tokens.principalOf(await tokenOf({ sub: `user-${index}` }));
    expect(provider.requests).to.equal(1);
  });

  it('are accepted with the next key, and made up ones ask for no more keys', async () => {
    await provider.addKey('second');
    const tokens = new AccessTokens(rules, clock);
    expect(await tokens.principalOf(await tokenOf({}, { kid: 'second' }))).to.not.equal(undefined);
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    for (const kid of ['made-up', 'made-up-too']) {
      expect(await tokens.principalOf(await tokenOf({}, { kid, key: privateKey }))).to.equal(undefined);
    }
    expect(provider.requests).to.equal(1);
  });

  it('cannot be judged while the provider does not send its keys, unless they were judged before', async () => {
    const tokens = new AccessTokens(rules, clock);
    const known = await tokenOf();
    await tokens.principalOf(known);
    provider.isFailing = true;
    expect(await tokens.principalOf(known)).to.not.equal(undefined);
    const another = new AccessTokens(rules, clock);
    const token = await tokenOf({ sub: 'bob' });
    expect(await failureOf(another.principalOf(token))).to.include({ code: 'IDENTITY_PROVIDER_UNAVAILABLE' });
    provider.isFailing = false;
    expect(await another.principalOf(token)).to.not.equal(undefined);
  });

  it('have a longest length, and a form that no key has', () => {
    const tokens = new AccessTokens(rules, clock);
    const longest = `a.b.${'c'.repeat(accessTokenCharactersMaximum - 4)}`;
    expect(tokens.looksLikeToken(longest)).to.equal(true);
    expect(tokens.looksLikeToken(`${longest}c`)).to.equal(false);
    for (const other of ['lendstream_abc', 'a.b', 'a.b.c.d', 'a.b.c=', '..']) {
      expect(tokens.looksLikeToken(other), other).to.equal(false);
    }
  });
});

/** Another letter of base64url. */
function nextLetter(letter: string): string {
  return letter === 'e' ? 'f' : 'e';
}
