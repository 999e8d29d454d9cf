import { expect } from 'chai';
import type { Request } from 'express';
import { describe, it } from 'mocha';
import { hasLendingErrors, mambuStreamingVersionOf } from '../../../src/http/edge/mambu-versions.ts';

const second = 'application/vnd.mambu.v2+json';

function versionOf(path: string, accept?: string) {
  return mambuStreamingVersionOf({ path, headers: { accept } });
}

describe("the version of Mambu's streaming API that a request is made to", () => {
  it('is the first below its own path, whatever the request accepts', () => {
    expect(versionOf('/api/v1/subscriptions')).to.equal(1);
    expect(versionOf('/api/v1/subscriptions/x/events', second)).to.equal(1);
  });

  it('is the second only where its media type is among the accepted ones', () => {
    const accepting = [second, second.toUpperCase(), `text/html, ${second};q=0.9`, `${second}, */*`, `*/*,${second} `];
    for (const accept of accepting) expect(versionOf('/api/subscriptions/x', accept), accept).to.equal(2);
    const others = [
      undefined,
      '',
      '*/*',
      'application/json',
      'application/vnd.mambu.v1+json',
      `${second}x`,
      `x${second}`,
    ];
    for (const accept of others) expect(versionOf('/api/subscriptions/x', accept), accept).to.equal(1);
  });

  it('is none elsewhere', () => {
    for (const path of ['/subscriptions', '/api/loans', '/loans', '/api'])
      expect(versionOf(path, second)).to.equal(undefined);
  });

  it('decides the form of errors: that of lending for the second, and problems for the first', () => {
    const request = (path: string, accept?: string) => ({ path, headers: { accept } }) as Request;
    expect(hasLendingErrors(request('/api/subscriptions/x', second))).to.equal(true);
    expect(hasLendingErrors(request('/api/subscriptions/x'))).to.equal(false);
    expect(hasLendingErrors(request('/api/v1/subscriptions', second))).to.equal(false);
    expect(hasLendingErrors(request('/api/loans'))).to.equal(true);
    expect(hasLendingErrors(request('/subscriptions', second))).to.equal(false);
  });
});
