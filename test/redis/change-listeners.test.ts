import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import type { ChangeListener } from '../../src/ports/coordination.ts';
import type { Logger } from '../../src/logger.ts';
import { ChangeListeners, parseChangeNotification } from '../../src/redis/change-listeners.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('the listeners of a process', () => {
  let heard: string[];
  let errors: object[];
  let listeners: ChangeListeners;
  let one: ChangeListener;
  let other: ChangeListener;
  const listener =
    (name: string): ChangeListener =>
    (change, generation, committed) =>
      void heard.push([name, change, generation, committed?.length].filter((part) => part !== undefined).join(' '));

  beforeEach(() => {
    heard = [];
    errors = [];
    const logger: Logger = checkedLogger({ error: (fields) => void errors.push(fields) });
    listeners = new ChangeListeners(logger);
    one = listener('one');
    other = listener('other');
  });

  it('report whether one is the first or the last of a subscription', () => {
    expect(listeners.remove('a', one)).to.equal(false);
    expect(listeners.add('a', one)).to.equal(true);
    expect(listeners.add('a', other)).to.equal(false);
    expect(listeners.add('b', one)).to.equal(true);
    expect([...listeners.subscriptions()]).to.deep.equal(['a', 'b']);
    expect(listeners.remove('a', one)).to.equal(false);
    expect(listeners.remove('a', one), 'it is gone already').to.equal(false);
    expect(listeners.remove('a', other)).to.equal(true);
    expect([...listeners.subscriptions()]).to.deep.equal(['b']);
    listeners.clear();
    expect([...listeners.subscriptions()]).to.deep.equal([]);
  });

  it('show that other subscriptions are watched, and which ones are new', () => {
    const revisions = new Set([listeners.revision]);
    const expectChange = (isOther: boolean): void => {
      const { size } = revisions.add(listeners.revision);
      expect(size).to.equal(before + (isOther ? 1 : 0));
      before = size;
    };
    let before = 1;
    listeners.add('a', one);
    expectChange(true);
    listeners.add('a', other);
    listeners.remove('a', other);
    expectChange(false);
    listeners.add('b', one);
    expectChange(true);
    listeners.remove('b', one);
    expectChange(true);
    expect([...listeners.takeAdded()], 'only those that are still watched').to.deep.equal(['a']);
    expect([...listeners.takeAdded()]).to.deep.equal([]);
    listeners.clear();
    expectChange(true);
  });

  it('are notified only of changes of their subscription, each with its details', () => {
    listeners.add('a', one);
    listeners.add('a', other);
    listeners.notify('a', 'offsets', undefined, [{ eventType: 'x', partition: 0, offset: 1 }]);
    listeners.notify('b', 'offsets');
    listeners.remove('a', one);
    listeners.notify('a', 'topology', 4);
    expect(heard).to.deep.equal(['one offsets 1', 'other offsets 1', 'other topology 4']);
  });

  it('are notified of a generation once', () => {
    listeners.notifyGeneration('a', 1);
    listeners.add('a', one);
    for (const generation of [1, 1, 2, 2, 1]) listeners.notifyGeneration('a', generation);
    expect(heard).to.deep.equal(['one topology 1', 'one topology 2', 'one topology 1']);
  });

  it('are notified of both kinds of changes when some may have been missed', () => {
    listeners.add('a', one);
    listeners.add('b', other);
    listeners.notifyAll();
    expect(heard).to.deep.equal(['one topology', 'one offsets', 'other topology', 'other offsets']);
  });

  it('are notified only of the subscriptions that are concerned', () => {
    listeners.add('a', one);
    listeners.add('b', other);
    listeners.notifyAll((subscriptionId) => subscriptionId === 'b');
    expect(heard).to.deep.equal(['other topology', 'other offsets']);
  });

  it('are notified of a change although another listener failed', () => {
    listeners.add('a', () => {
      throw new Error('Broken');
    });
    listeners.add('a', one);
    listeners.notify('a', 'removed');
    expect(heard).to.deep.equal(['one removed']);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ subscriptionId: 'a', change: 'removed' });
  });
});

describe('a message about a change', () => {
  for (const [message, change] of [
    ['p2 topology', 'topology'],
    ['p2 offsets', 'offsets'],
    ['p2 reset', 'reset'],
    ['p2 removed', 'removed'],
    ['p1 topology', undefined],
    ['p2 other', undefined],
    ['p2', undefined],
    ['', undefined],
  ] as const) {
    it(`"${message}" is ${change ?? 'none'} for the process p1`, () => {
      expect(parseChangeNotification(message, 'p1')).to.equal(change);
    });
  }
});
