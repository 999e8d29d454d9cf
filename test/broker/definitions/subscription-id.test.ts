import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { subscriptionId } from '../../../src/broker/definitions/subscription-id.ts';

describe('the id of a subscription', () => {
  it('is determined for ever by application, event types and consumer group', () => {
    expect(subscriptionId('core', ['loans', 'accounts'], 'default')).to.equal('c023c1b5-6e7e-55a5-9554-64c003ef5c87');
  });

  it('does not depend on the order of event types or on duplicates', () => {
    expect(subscriptionId('core', ['b', 'a', 'b'], 'g')).to.equal(subscriptionId('core', ['a', 'b'], 'g'));
  });

  it('differs when any of them differs', () => {
    const text = fc.string({ maxLength: 4 });
    const identity = fc.record({ application: text, eventTypes: fc.uniqueArray(text, { maxLength: 3 }), group: text });
    fc.assert(
      fc.property(identity, identity, (left, right) => {
        const spell = ({ application, eventTypes, group }: typeof left): string =>
          JSON.stringify([application, [...eventTypes].sort(), group]);
        const same = spell(left) === spell(right);
        const leftId = subscriptionId(left.application, left.eventTypes, left.group);
        const rightId = subscriptionId(right.application, right.eventTypes, right.group);
        expect(leftId === rightId).to.equal(same);
      }),
    );
  });
});
