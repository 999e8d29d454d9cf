import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createProxyCheck } from '../../../../src/http/edge/tls/trusted-proxies.ts';

describe('a trusted proxy', () => {
  const isTrusted = createProxyCheck(['10.1.0.0/16', '192.0.2.1', '2001:db8::/32', '::1', '198.51.100.7/32']);
  const rows: [address: string | undefined, isProxy: boolean][] = [
    ['10.0.255.255', false],
    ['10.1.0.0', true],
    ['10.1.255.255', true],
    ['10.2.0.0', false],
    ['192.0.2.1', true],
    ['192.0.2.2', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    // As a socket writes an address of IPv4 when the service listens on ::.
    ['::ffff:10.1.2.3', true],
    ['::ffff:10.2.2.3', false],
    ['2001:db8:ffff::1', true],
    ['2001:db9::', false],
    ['::1', true],
    ['localhost', false],
    ['', false],
    [undefined, false],
  ];
  for (const [address, isProxy] of rows) {
    it(`is ${isProxy ? '' : 'not '}at ${address}`, () => {
      expect(isTrusted(address)).to.equal(isProxy);
    });
  }

  it('is at no address where none is named, and at all of a family with 0 bits', () => {
    expect(createProxyCheck([])('127.0.0.1')).to.equal(false);
    expect(createProxyCheck(['0.0.0.0/0'])('203.0.113.9')).to.equal(true);
  });
});
