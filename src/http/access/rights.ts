import type { Response } from 'express';
import { createHash } from 'node:crypto';
import type { AccessControl, StreamWatch, Subject } from '../../access/access-control.ts';
import { isOwner } from '../../access/resource-access.ts';
import { hasPermission, type Principal } from '../../access/principal.ts';
import type { Permission } from '../../access/permissions.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import type { Subscription } from '../../broker/definitions/subscription.ts';
import { LendstreamError } from '../../errors.ts';

/**
 * What the sender of a request may do, for handlers whose rule is not in the table of operation-permissions.ts: what a
 * list shows, whom a new definition may belong to, and how long a stream may go on.
 */
export interface Rights {
  /** Whether anything is refused at all. */
  readonly isRestricted: boolean;
  /** A text that two senders share only if lists show both the same; part of the tags of lists. */
  readonly seenAs: string;
  has(permission: Permission): boolean;
  /** Whether lists may show an event type. */
  maySeeEventType(record: EventTypeRecord): boolean;
  /** Whether lists may show a subscription. */
  maySeeSubscription(subscription: Subscription): boolean;
  /** @throws PERMISSION_MISSING when a definition would belong to an application that the sender does not act for */
  requireOwner(owningApplication: unknown): void;
  /** @throws NOT_FOUND for a subscription that the sender may not see */
  requireSubscription(id: string): Promise<void>;
  /** @throws PERMISSION_MISSING when the sender may not read the events of one of these */
  requireReadableEvents(eventTypes: unknown): Promise<void>;
  /** Calls `end` as soon as the sender may no longer read what it reads now. */
  watch(subject: Subject, end: () => void): StreamWatch;
}

const unrestricted: Rights = {
  isRestricted: false,
  seenAs: 'all',
  has: () => true,
  maySeeEventType: () => true,
  maySeeSubscription: () => true,
  requireOwner: () => {},
  requireSubscription: () => Promise.resolve(),
  requireReadableEvents: () => Promise.resolve(),
  watch: () => ({ cancel: () => {} }),
};

/** Where the response keeps the rights of the sender of its request. */
const rightsName = 'rights';

/** The rights of the sender of a response's request: all of them, unless the authorization restricted them. */
export function rightsOf(response: Response): Rights {
  return (response.locals[rightsName] as Rights | undefined) ?? unrestricted;
}

/** Restricts what the handlers of a response do for the sender of its request. */
export function setRights(response: Response, rights: Rights): void {
  response.locals[rightsName] = rights;
}

/** So long that no two senders have the same by chance. */
const seenAsCharacters = 16;

/** The rights of a principal with restrictions. */
export class RestrictedRights implements Rights {
  readonly isRestricted = true;
  readonly #principal: Principal;
  readonly #access: AccessControl;

  constructor(principal: Principal, access: AccessControl) {
    this.#principal = principal;
    this.#access = access;
  }

  get seenAs(): string {
    const { name, application, scopes, credential } = this.#principal;
    // What decides in resource-access.ts. A digest, since a tag tells its reader nothing.
    const text = JSON.stringify([name, application, scopes, credential.kind]);
    return createHash('sha256').update(text).digest('base64url').slice(0, seenAsCharacters);
  }

  has(permission: Permission): boolean {
    return hasPermission(this.#principal, permission);
  }

  maySeeEventType(record: EventTypeRecord): boolean {
    return this.#access.maySeeEventType(this.#principal, record);
  }

  maySeeSubscription(subscription: Subscription): boolean {
    return this.#access.maySeeSubscription(this.#principal, subscription);
  }

  requireOwner(owningApplication: unknown): void {
    // What is no text is refused when the definition is read.
    if (typeof owningApplication !== 'string' || isOwner(this.#principal, owningApplication)) return;
    const own = this.#principal.application ?? 'none';
    const detail = `${this.#principal.name} acts for the application ${own}; others need the permission any-application.`;
    throw new LendstreamError('PERMISSION_MISSING', detail);
  }

  async requireSubscription(id: string): Promise<void> {
    await this.#access.check(this.#principal, { kind: 'subscription', name: id }, 'see');
  }

  async requireReadableEvents(eventTypes: unknown): Promise<void> {
    if (!Array.isArray(eventTypes)) return;
    for (const name of eventTypes) {
      if (typeof name !== 'string' || (await this.#access.mayReadEventsOf(this.#principal, name))) continue;
      // The same words whether it exists or not.
      throw new LendstreamError('PERMISSION_MISSING', `${this.#principal.name} may not read the events of "${name}".`);
    }
  }

  watch(subject: Subject, end: () => void): StreamWatch {
    return this.#access.watch(this.#principal, subject, end);
  }
}
