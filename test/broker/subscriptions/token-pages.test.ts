import { expect } from 'chai';
import { describe, it } from 'mocha';
import { pageAt, type TokenPage } from '../../../src/broker/subscriptions/token-pages.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { LendstreamError } from '../../../src/errors.ts';

const subscriptionsOf = (...ids: readonly string[]): Subscription[] => ids.map((id) => ({ id }) as Subscription);

const idsOf = ({ subscriptions }: TokenPage): string => subscriptions.map(({ id }) => id).join('');

describe('pages of subscriptions by token', () => {
  const five = subscriptionsOf('a', 'b', 'c', 'd', 'e');

  it('have no neighbours when everything is on one page', () => {
    for (const limit of [5, 6]) {
      const page = pageAt(five, '', limit);
      expect(idsOf(page)).to.equal('abcde');
      expect([page.previous, page.next]).to.deep.equal([undefined, undefined]);
    }
    expect(pageAt([], '', 1)).to.deep.equal({ subscriptions: [] });
  });

  it('lead forwards to the end and back to the beginning', () => {
    const first = pageAt(five, '', 2);
    expect(idsOf(first)).to.equal('ab');
    expect(first.previous).to.equal(undefined);
    const second = pageAt(five, first.next ?? '', 2);
    expect(idsOf(second)).to.equal('cd');
    const last = pageAt(five, second.next ?? '', 2);
    expect(idsOf(last)).to.equal('e');
    expect(last.next).to.equal(undefined);
    const back = pageAt(five, last.previous ?? '', 2);
    expect(idsOf(back)).to.equal('cd');
    const begin = pageAt(five, back.previous ?? '', 2);
    expect(idsOf(begin)).to.equal('ab');
    expect(begin.previous).to.equal(undefined);
    expect(begin.next).to.equal(first.next);
  });

  it('neither repeat nor skip one when others are created and deleted meanwhile', () => {
    const { next = '' } = pageAt(five, '', 2);
    expect(idsOf(pageAt(subscriptionsOf('a', 'aa', 'b', 'bb', 'd', 'e'), next, 2))).to.equal('de');
    expect(idsOf(pageAt(subscriptionsOf('a', 'b'), next, 2))).to.equal('');
    expect(pageAt(subscriptionsOf('a', 'b'), next, 2).previous).to.equal('Bc');
    expect(idsOf(pageAt(subscriptionsOf('a', 'b'), 'Bc', 1))).to.equal('b');
  });

  it('are shorter before the first one than their limit', () => {
    const page = pageAt(five, 'Bb', 3);
    expect(idsOf(page)).to.equal('a');
    expect([page.previous, page.next]).to.deep.equal([undefined, 'Wb']);
  });

  it('do not exist for what is no token', () => {
    for (const token of ['W', 'Xa', 'a', 'W ', `W${'a'.repeat(65)}`]) {
      expect(() => pageAt(five, token, 2), token).to.throw(LendstreamError, /'token' parameter/);
    }
    expect(() => pageAt(five, `W${'a'.repeat(64)}`, 2)).not.to.throw();
  });
});
