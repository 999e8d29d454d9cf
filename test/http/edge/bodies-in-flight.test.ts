import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Socket } from 'node:net';
import { BodiesInFlight, bodyBudgetDefault } from '../../../src/http/edge/bodies-in-flight.ts';
import { bodyBytesMaximum } from '../../../src/http/edge/request-body.ts';

const budget = { smallBodyBytes: 10, smallBytesMaximum: 25, largeBytesMaximum: 100, connectionBytesMaximum: 60 };

function claim(bodies: BodiesInFlight, socket = new Socket()): ReturnType<BodiesInFlight['claim']> {
  return bodies.claim(socket);
}

describe('the counted bytes of bodies in flight', () => {
  it('may use the whole budget, and not one byte more', () => {
    const bodies = new BodiesInFlight(budget);
    expect([claim(bodies).resize(60), claim(bodies).resize(40), bodies.bytes]).to.deep.equal([true, true, 100]);
    expect([claim(bodies).resize(11), bodies.bytes]).to.deep.equal([false, 100]);
  });

  it('of small bodies have their own budget', () => {
    const bodies = new BodiesInFlight(budget);
    claim(bodies).resize(60);
    claim(bodies).resize(40);
    expect([10, 10, 5, 1].map((bytes) => claim(bodies).resize(bytes))).to.deep.equal([true, true, true, false]);
    expect(bodies.bytes).to.equal(125);
  });

  it('move to the other budget when a body turns out to be large, and back', () => {
    const bodies = new BodiesInFlight(budget);
    const growing = claim(bodies);
    expect([growing.resize(10), growing.resize(11)]).to.deep.equal([true, true]);
    expect([claim(bodies).resize(10), claim(bodies).resize(10), claim(bodies).resize(5)]).to.not.include(false);
    expect([growing.resize(5), growing.bytes, bodies.bytes]).to.deep.equal([true, 5, 30]);
    growing.release();
    expect(bodies.bytes).to.equal(25);
  });

  it('of one connection may use its own budget, whatever else is free', () => {
    const bodies = new BodiesInFlight(budget);
    const socket = new Socket();
    const [first, second] = [claim(bodies, socket), claim(bodies, socket)];
    expect([first.resize(40), second.resize(21), second.resize(20)]).to.deep.equal([true, false, true]);
    expect(claim(bodies).resize(40)).to.equal(true);
    first.release();
    expect(claim(bodies, socket).resize(40)).to.equal(true);
  });

  it('are released once, and not counted again for a body that is gone', () => {
    const bodies = new BodiesInFlight(budget);
    const gone = claim(bodies);
    gone.resize(50);
    gone.release();
    gone.release();
    expect([gone.resize(1), bodies.bytes]).to.deep.equal([false, 0]);
  });

  it('are unchanged when they may not grow', () => {
    const bodies = new BodiesInFlight(budget);
    const body = claim(bodies);
    body.resize(50);
    expect([body.resize(61), body.bytes, bodies.bytes]).to.deep.equal([false, 50, 50]);
  });

  it('may hold the largest body, packed and unpacked, and one after it on the same connection', () => {
    expect(bodyBudgetDefault.connectionBytesMaximum).to.equal(3 * bodyBytesMaximum);
  });
});
