import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { Request } from 'express';
import { Socket } from 'node:net';
import { restrictedPrincipal, type Principal } from '../../../src/access/principal.ts';
import { AllowedRequests } from '../../../src/http/access/allowed-requests.ts';

const principal = (): Principal => restrictedPrincipal('shop', 'shop', ['consumer'], { kind: 'api-key' });

const requestOn = (socket: Socket, method = 'POST', path = '/event-types/orders/events'): Request =>
  ({ socket, method, path }) as Request;

describe('what a connection knows to be allowed', () => {
  const holder = principal();
  const socket = new Socket();

  it('is the last request alone, of one principal and one connection', () => {
    const allowed = new AllowedRequests({ revision: 1 });
    allowed.add(requestOn(socket), holder);
    expect(allowed.has(requestOn(socket), holder)).to.equal(true);
    expect(allowed.has(requestOn(socket), principal())).to.equal(false);
    expect(allowed.has(requestOn(new Socket()), holder)).to.equal(false);
    expect(allowed.has(requestOn(socket, 'GET'), holder)).to.equal(false);
    expect(allowed.has(requestOn(socket, 'POST', '/event-types/loans/events'), holder)).to.equal(false);
    allowed.add(requestOn(socket, 'GET'), holder);
    expect(allowed.has(requestOn(socket), holder)).to.equal(false);
  });

  it('is forgotten as soon as a definition changes', () => {
    const access = { revision: 1 };
    const allowed = new AllowedRequests(access);
    allowed.add(requestOn(socket), holder);
    access.revision += 1;
    expect(allowed.has(requestOn(socket), holder)).to.equal(false);
  });
});
