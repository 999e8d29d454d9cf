import type { EventTypeRecord } from '../broker/definitions/event-type.ts';
import type { Registry, RegistryChange } from '../broker/definitions/registry.ts';
import type { Subscription } from '../broker/definitions/subscription.ts';
import { after, type Clock, type Timer } from '../clock.ts';
import { LendstreamError } from '../errors.ts';
import type { ApiKeys } from './api-keys.ts';
import { hasPermission, isRegistered, type Credential, type Principal } from './principal.ts';
import { mayUseEventType, mayUseSubscription, type Access } from './resource-access.ts';
import { readPermissionOf } from './system-event-types.ts';

/** A definition that a path names. */
export interface Subject {
  readonly kind: 'event-type' | 'subscription';
  readonly name: string;
}

/** A response that goes on as long as its reader may read. */
interface WatchedStream {
  readonly principal: Principal;
  readonly subject: Subject;
  readonly end: () => void;
}

/** Ends the watch over a stream. */
export interface StreamWatch {
  cancel(): void;
}

export interface AccessControlOptions {
  readonly registry: Registry;
  readonly keys: Pick<ApiKeys, 'currentPrincipal' | 'expiryOf'>;
  readonly clock: Clock;
}

/** Decides what principals may do with event types and subscriptions, and ends streams whose reader lost that right. */
export class AccessControl {
  readonly #options: AccessControlOptions;
  readonly #streams = new Set<WatchedStream>();
  readonly #stopListening: () => void;
  #revision = 0;

  constructor(options: AccessControlOptions) {
    this.#options = options;
    this.#stopListening = options.registry.onChange((change) => this.#onChange(change));
  }

  /** Another number after each change of an event type or subscription that this process sees. */
  get revision(): number {
    return this.#revision;
  }

  /** Ends no stream any more. */
  close(): void {
    this.#stopListening();
  }

  /**
   * Checks that a principal may do something with a definition. What it may not even see is refused in the same words
   * as what does not exist.
   * @returns undefined when this process knows the definition, and otherwise what looks for it: another process may
   *   have created it a moment ago
   * @throws NOT_FOUND, PERMISSION_MISSING, LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  check(principal: Principal, subject: Subject, access: Access): Promise<void> | undefined {
    if (principal.isUnrestricted) return undefined;
    const { registry } = this.#options;
    if (registry.get(subject.kind, subject.name) === undefined) {
      return registry.find(subject.kind, subject.name).then(() => this.#checkKnown(principal, subject, access));
    }
    this.#checkKnown(principal, subject, access);
    return undefined;
  }

  #checkKnown(principal: Principal, subject: Subject, access: Access): void {
    if (!this.#may(principal, subject, 'see')) throw unknownSubject(subject);
    if (this.#may(principal, subject, access)) return;
    const role = access === 'manage' ? 'admins' : access === 'write' ? 'writers' : 'readers';
    const thing = kindTexts[subject.kind];
    const detail = this.#hasAuthorization(subject)
      ? `The authorization of this ${thing} does not name ${principal.name} among its ${role}.`
      : `This ${thing} has no authorization, so only its owning application has that right, not ${principal.name}.`;
    throw new LendstreamError('PERMISSION_MISSING', detail);
  }

  #hasAuthorization({ kind, name }: Subject): boolean {
    const { registry } = this.#options;
    const definition =
      kind === 'event-type'
        ? registry.get<EventTypeRecord>(kind, name)?.eventType
        : registry.get<Subscription>(kind, name);
    return (definition?.authorization ?? null) !== null;
  }

  /** Whether a principal may see an event type. */
  maySeeEventType(principal: Principal, record: EventTypeRecord): boolean {
    return principal.isUnrestricted || mayUseEventType(principal, record, 'see');
  }

  /** Whether a principal may see a subscription. */
  maySeeSubscription(principal: Principal, subscription: Subscription): boolean {
    return principal.isUnrestricted || mayUseSubscription(principal, subscription, 'see');
  }

  /** Whether a principal may read the events of an event type that this process knows. */
  mayReadEvents(principal: Principal, eventType: string): boolean {
    if (principal.isUnrestricted) return true;
    const record = this.#options.registry.get<EventTypeRecord>('event-type', eventType);
    if (record === undefined || !mayUseEventType(principal, record, 'read')) return false;
    return hasPermission(principal, readPermissionOf(eventType));
  }

  /** As {@link mayReadEvents}, for an event type that another process may have created a moment ago. */
  async mayReadEventsOf(principal: Principal, eventType: string): Promise<boolean> {
    await this.#options.registry.find('event-type', eventType);
    return this.mayReadEvents(principal, eventType);
  }

  /**
   * Calls `end` as soon as the principal may no longer read: its key was revoked, its key, token or certificate has
   * expired, or an authorization changed. The right may have been lost a moment ago, so this asks first.
   */
  watch(principal: Principal, subject: Subject, end: () => void): StreamWatch {
    if (principal.isUnrestricted) return { cancel: () => {} };
    const stream = { principal, subject, end };
    this.#streams.add(stream);
    const timer = this.#endAtExpiry(stream);
    this.#endUnlessAllowed(stream);
    return {
      cancel: () => {
        timer?.cancel();
        this.#streams.delete(stream);
      },
    };
  }

  #endAtExpiry(stream: WatchedStream): Timer | undefined {
    const { keys, clock } = this.#options;
    const { principal } = stream;
    const keyExpiresAt = isRegistered(principal) ? keys.expiryOf(principal.name) : undefined;
    const expiresAt = Math.min(keyExpiresAt ?? Infinity, expiryOf(principal.credential));
    return expiresAt === Infinity
      ? undefined
      : after(clock, expiresAt - clock.now(), () => this.#endUnlessAllowed(stream));
  }

  #onChange({ kind, name }: RegistryChange): void {
    if (kind === 'event-type' || kind === 'subscription') this.#revision += 1;
    for (const stream of this.#streams) if (this.#concerns(stream, kind, name)) this.#endUnlessAllowed(stream);
  }

  #concerns({ principal, subject }: WatchedStream, kind: RegistryChange['kind'], name: string): boolean {
    if (kind === 'api-key') return isRegistered(principal) && principal.name === name;
    if (kind === subject.kind) return subject.name === name;
    return kind === 'event-type' && this.#eventTypesOf(subject).includes(name);
  }

  #endUnlessAllowed(stream: WatchedStream): void {
    const current = this.#currentOf(stream.principal);
    if (current !== undefined && this.#mayStream(current, stream.subject)) return;
    this.#streams.delete(stream);
    stream.end();
  }

  /** The principal with the rights that it has now; undefined when it has none any more. */
  #currentOf(principal: Principal): Principal | undefined {
    if (expiryOf(principal.credential) <= this.#options.clock.now()) return undefined;
    return isRegistered(principal) ? this.#options.keys.currentPrincipal(principal.name) : principal;
  }

  #mayStream(principal: Principal, subject: Subject): boolean {
    // A definition that is gone ends its streams itself.
    if (this.#options.registry.get(subject.kind, subject.name) === undefined) return true;
    if (subject.kind === 'event-type') return this.mayReadEvents(principal, subject.name);
    return hasPermission(principal, 'subscriptions:consume') && this.#may(principal, subject, 'read');
  }

  #eventTypesOf({ kind, name }: Subject): readonly string[] {
    if (kind === 'event-type') return [name];
    return this.#options.registry.get<Subscription>('subscription', name)?.event_types ?? [];
  }

  #may(principal: Principal, { kind, name }: Subject, access: Access): boolean {
    const { registry } = this.#options;
    if (kind === 'event-type') {
      const record = registry.get<EventTypeRecord>('event-type', name);
      return record !== undefined && mayUseEventType(principal, record, access);
    }
    const subscription = registry.get<Subscription>('subscription', name);
    if (subscription === undefined || !mayUseSubscription(principal, subscription, access)) return false;
    return access !== 'read' || subscription.event_types.every((type) => this.#mayReadKnown(principal, type));
  }

  /** A subscription of an event type that is gone can still be looked at. */
  #mayReadKnown(principal: Principal, eventType: string): boolean {
    const isKnown = this.#options.registry.get('event-type', eventType) !== undefined;
    return !isKnown || this.mayReadEvents(principal, eventType);
  }
}

/** When what was presented expires by itself, in milliseconds since the epoch; Infinity where that is not known. */
function expiryOf(credential: Credential): number {
  return 'expiresAt' in credential ? (credential.expiresAt ?? Infinity) : Infinity;
}

const kindTexts = { 'event-type': 'event type', subscription: 'subscription' } as const;

/** The response for what does not exist, and for what the principal may not see. */
function unknownSubject({ kind, name }: Subject): LendstreamError {
  const detail =
    kind === 'event-type' ? `EventType "${name}" does not exist.` : `Subscription with id "${name}" does not exist`;
  return new LendstreamError('NOT_FOUND', detail);
}
