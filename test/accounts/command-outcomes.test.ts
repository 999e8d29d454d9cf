import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError, isLendstreamError } from '../../src/errors.ts';
import {
  CommandOutcomes,
  outcomeWaitersMaximum,
  pendingCommandsMaximum,
  recentOutcomesBytesMaximum,
} from '../../src/accounts/command-outcomes.ts';

const never = new AbortController().signal;
const lengthOf = ({ length }: string): number => length;

describe('the outcomes of commands', () => {
  it('reach every waiter for that command, and no other', async () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    const waiting = [outcomes.waitFor('a', never), outcomes.waitFor('a', never)];
    const patience = new AbortController();
    const other = outcomes.waitFor('b', patience.signal);
    outcomes.add('a', 'committed');
    patience.abort();
    expect(await Promise.all([...waiting, other])).to.deep.equal(['committed', 'committed', undefined]);
  });

  it('reach a waiter only when they come after it began to wait', async () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    outcomes.add('a', 'refused');
    const waiting = outcomes.waitFor('a', never);
    outcomes.add('a', 'committed');
    expect(await waiting).to.equal('committed');
    expect(outcomes.recent('a')).to.equal('committed');
  });

  it('are not delivered to a waiter that has stopped waiting', async () => {
    expect(await new CommandOutcomes<string>(lengthOf).waitFor('a', AbortSignal.abort())).to.equal(undefined);
  });

  it('are dropped oldest first beyond the limit', () => {
    const outcomes = new CommandOutcomes<number>(() => 5, { recentBytesMaximum: 10 });
    outcomes.add('a', 1);
    outcomes.add('b', 2);
    outcomes.add('a', 3);
    outcomes.add('c', 4);
    expect(['a', 'b', 'c'].map((commandId) => outcomes.recent(commandId))).to.deep.equal([3, undefined, 4]);
  });

  it('take 16 MiB at most, however large each one is', () => {
    const mebibyte = 1024 * 1024;
    expect(recentOutcomesBytesMaximum).to.equal(16 * mebibyte);
    const outcomes = new CommandOutcomes<string>(lengthOf);
    const large = 'x'.repeat(4 * mebibyte);
    for (const commandId of ['a', 'b', 'c', 'd']) outcomes.add(commandId, large);
    expect(outcomes.recent('a')).to.equal(large);
    outcomes.add('e', 'x');
    const remembered = ['a', 'b', 'c', 'd', 'e'].filter((commandId) => outcomes.recent(commandId) !== undefined);
    expect(remembered).to.deep.equal(['a', 'c', 'd', 'e']);
  });

  it('have as many waiters as the limit allows, and each one that is served or stops frees a slot', async () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    const patience = Array.from({ length: outcomeWaitersMaximum }, () => new AbortController());
    const waiting = patience.slice(1).map(({ signal }, number) => outcomes.waitFor(`c${number}`, signal));
    const last = outcomes.waitFor('last', never);
    const refuses = (): void => {
      expect(() => outcomes.waitFor('more', never))
        .to.throw(LendstreamError)
        .with.property('code', 'OVERLOADED');
    };
    refuses();
    outcomes.add('last', 'committed');
    expect(await last).to.equal('committed');
    const more = outcomes.waitFor('more', patience[0]?.signal ?? never);
    refuses();
    for (const controller of patience) controller.abort();
    expect(new Set(await Promise.all([...waiting, more]))).to.deep.equal(new Set([undefined]));
    const again = patience.map(() => outcomes.waitFor('a', new AbortController().signal));
    refuses();
    outcomes.add('a', 'committed');
    expect(new Set(await Promise.all(again))).to.deep.equal(new Set(['committed']));
  });

  it('fail for all waiters when no more can come', async () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    const waiting = outcomes.waitFor('a', never).catch((error: unknown) => error);
    outcomes.close(new LendstreamError('LOG_CLOSED', 'Closed.'));
    expect(isLendstreamError(await waiting, 'LOG_CLOSED')).to.equal(true);
  });
});

describe('a command of this process', () => {
  it('is pending until it is decided or was not sent, with or without waiters', () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    outcomes.begin('a', 'digest');
    expect(outcomes.pendingDigest('a')).to.equal('digest');
    outcomes.add('a', 'committed');
    expect(outcomes.pendingDigest('a')).to.equal(undefined);
    outcomes.begin('b', 'digest');
    outcomes.abandon('b');
    expect(outcomes.pendingDigest('b')).to.equal(undefined);
  });

  it('is dropped when too many later ones are in progress, in the order of sending', () => {
    const outcomes = new CommandOutcomes<string>(lengthOf);
    for (let number = 0; number <= pendingCommandsMaximum; number += 1) outcomes.begin(`c${number}`, 'digest');
    expect(outcomes.pendingDigest('c0')).to.equal(undefined);
    expect(outcomes.pendingDigest('c1')).to.equal('digest');
    expect(outcomes.pendingDigest(`c${pendingCommandsMaximum}`)).to.equal('digest');
  });
});
