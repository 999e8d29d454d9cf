import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ReadStop } from '../../src/ports/read-signal.ts';

describe('the signal that ends reads', () => {
  it('calls its listeners once, when it is aborted for the first time', () => {
    const stop = new ReadStop();
    const called: string[] = [];
    stop.addEventListener('abort', () => called.push(`first ${stop.aborted}`));
    stop.addEventListener('abort', () => called.push('second'));
    expect(stop.aborted).to.equal(false);
    stop.abort();
    stop.abort();
    expect(called).to.deep.equal(['first true', 'second']);
    expect(stop.aborted).to.equal(true);
  });

  it('does not call a listener that was removed', () => {
    const stop = new ReadStop();
    const called: string[] = [];
    const removed = (): void => void called.push('removed');
    stop.addEventListener('abort', removed);
    stop.addEventListener('abort', () => called.push('kept'));
    stop.removeEventListener('abort', removed);
    stop.abort();
    expect(called).to.deep.equal(['kept']);
  });
});
