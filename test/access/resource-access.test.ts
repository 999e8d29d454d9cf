import { expect } from 'chai';
import { describe, it } from 'mocha';
import { anonymous, restrictedPrincipal, userName, type Principal } from '../../src/access/principal.ts';
import { mayUseEventType, mayUseSubscription, type Access } from '../../src/access/resource-access.ts';
import type { EventTypeRecord } from '../../src/broker/definitions/event-type.ts';
import type { Subscription } from '../../src/broker/definitions/subscription.ts';

const accesses: readonly Access[] = ['see', 'read', 'write', 'manage'];

const key = (application: string, scopes: readonly string[] = ['consumer'], name = 'a-key'): Principal =>
  restrictedPrincipal(name, application, scopes, { kind: 'api-key' });

const user = (subject: string): Principal =>
  restrictedPrincipal(userName(subject), 'elsewhere', ['consumer'], { kind: 'access-token', expiresAt: Infinity });

type Attribute = readonly [type: string, value: string];

/** An authorization that names others, but for the given lists. */
function authorizationOf(lists: Readonly<Record<string, readonly Attribute[]>>): Record<string, unknown> {
  const others: readonly Attribute[] = [['application', 'others']];
  const listOf = (name: string) => (lists[name] ?? others).map(([data_type, value]) => ({ data_type, value }));
  return { admins: listOf('admins'), readers: listOf('readers'), writers: listOf('writers') };
}

const readers = (...attributes: readonly Attribute[]) => authorizationOf({ readers: attributes });

type Row = [title: string, principal: Principal, authorization: Record<string, unknown> | null, allowed: string];

const rows: readonly Row[] = [
  ['its owner everything', key('bank'), readers(['key', 'another']), 'see read write manage'],
  ['an open service everything', anonymous, readers(), 'see read write manage'],
  ['holders of any-application everything', key('x', ['any-application']), readers(), 'see read write manage'],
  ['readers to see and read', key('shop'), readers(['application', 'shop']), 'see read'],
  ['writers to see and write', key('shop'), authorizationOf({ writers: [['service', 'shop']] }), 'see write'],
  ['admins to see and manage', key('shop'), authorizationOf({ admins: [['key', 'a-key']] }), 'see manage'],
  ['a role by its name', key('shop', ['officer']), readers(['role', 'officer']), 'see read'],
  ['all by two stars', key('shop'), readers(['*', '*']), 'see read'],
  ['users by their subject', user('alice'), readers(['user', 'alice']), 'see read'],
  ['no user with the name of a key', user('alice'), readers(['key', 'alice'], ['key', 'user:alice']), ''],
  ['no key with the name of a user', key('shop', [], 'alice'), readers(['user', 'alice']), ''],
  ['no other application', key('shop'), readers(['application', 'shop2'], ['application', 'SHOP']), ''],
  ['nothing by one star', key('shop'), readers(['*', 'shop'], ['application', '*']), ''],
  ['nothing by an unknown type of attribute', key('shop'), readers(['team', 'shop']), ''],
  ['nothing by lists of another form', key('shop'), { readers: 'shop', writers: [7, null, 'shop'], admins: {} }, ''],
];

describe('access to a definition', () => {
  for (const [title, principal, authorization, allowed] of rows) {
    it(`allows ${title}`, () => {
      const owned = { owning_application: 'bank', authorization };
      const record = { eventType: owned, system: false } as unknown as EventTypeRecord;
      const subscription = owned as unknown as Subscription;
      expect(accesses.filter((access) => mayUseEventType(principal, record, access)).join(' ')).to.equal(allowed);
      expect(accesses.filter((access) => mayUseSubscription(principal, subscription, access)).join(' ')).to.equal(
        allowed,
      );
    });
  }

  it('without an authorization, allows all to read an event type, and its owner alone to use a subscription', () => {
    const owned = { owning_application: 'bank', authorization: null };
    const record = { eventType: owned, system: false } as unknown as EventTypeRecord;
    expect(accesses.filter((access) => mayUseEventType(key('shop'), record, access))).to.deep.equal(['see', 'read']);
    expect(
      accesses.filter((access) => mayUseSubscription(key('shop'), owned as unknown as Subscription, access)),
    ).to.deep.equal([]);
  });

  it('leaves the event types of the service to the permissions', () => {
    const record = {
      eventType: { owning_application: 'lendstream', authorization: null },
      system: true,
    } as unknown as EventTypeRecord;
    expect(accesses.every((access) => mayUseEventType(key('shop'), record, access))).to.equal(true);
  });
});
