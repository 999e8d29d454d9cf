import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError, isLendstreamError } from '../../src/errors.ts';
import { CommandOutcomes } from '../../src/views/command-outcomes.ts';

describe('the outcomes of commands', () => {
  it('reach everyone who waits for that command, and nobody else', async () => {
    const outcomes = new CommandOutcomes<string>();
    const waiting = [outcomes.next('a', 1_000), outcomes.next('a', 1_000)];
    const other = outcomes.next('b', 1);
    outcomes.add('a', 'committed');
    expect(await Promise.all([...waiting, other])).to.deep.equal(['committed', 'committed', undefined]);
  });

  it('are told to a waiter only when they come after it began to wait', async () => {
    const outcomes = new CommandOutcomes<string>();
    outcomes.add('a', 'refused');
    const waiting = outcomes.next('a', 1_000);
    outcomes.add('a', 'committed');
    expect(await waiting).to.equal('committed');
    expect(outcomes.recent('a')).to.equal('committed');
  });

  it('are waited for no longer than asked', async () => {
    expect(await new CommandOutcomes<string>().next('a', 5)).to.equal(undefined);
  });

  it('are waited for no longer than the request lives', async () => {
    const request = new AbortController();
    const waiting = new CommandOutcomes<string>().next('a', Infinity, request.signal);
    request.abort();
    expect(await waiting).to.equal(undefined);
    expect(await new CommandOutcomes<string>().next('a', Infinity, request.signal)).to.equal(undefined);
  });

  it('are forgotten oldest first beyond the limit', () => {
    const outcomes = new CommandOutcomes<number>(2);
    outcomes.add('a', 1);
    outcomes.add('b', 2);
    outcomes.add('a', 3);
    outcomes.add('c', 4);
    expect(['a', 'b', 'c'].map((commandId) => outcomes.recent(commandId))).to.deep.equal([3, undefined, 4]);
  });

  it('are waited for by a limited number, and a place becomes free again', async () => {
    const outcomes = new CommandOutcomes<string>(10, 1);
    const first = outcomes.next('a', 1_000);
    expect(() => outcomes.next('b', 1_000))
      .to.throw(LendstreamError)
      .with.property('code', 'OVERLOADED');
    outcomes.add('a', 'committed');
    await first;
    const second = outcomes.next('b', 1_000);
    outcomes.add('b', 'committed');
    expect(await second).to.equal('committed');
  });

  it('fail for everyone who waits when no more can come', async () => {
    const outcomes = new CommandOutcomes<string>();
    const waiting = outcomes.next('a', Infinity).catch((error: unknown) => error);
    outcomes.close(new LendstreamError('LOG_CLOSED', 'Closed.'));
    expect(isLendstreamError(await waiting, 'LOG_CLOSED')).to.equal(true);
  });
});
