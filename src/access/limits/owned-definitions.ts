import type { DefinitionIndex } from '../../broker/definitions/definition-views.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Subscription } from '../../broker/definitions/subscription.ts';
import { LendstreamError } from '../../errors.ts';
import type { Usage } from './usage.ts';

const subscriptionsByOwner: DefinitionIndex<Subscription> = {
  kind: 'subscription',
  keysOf: ({ owning_application: owner }) => [owner],
};

const eventTypesByOwner: DefinitionIndex<EventTypeRecord> = {
  kind: 'event-type',
  keysOf: ({ eventType }) => [eventType.owning_application],
};

const kinds = {
  subscription: { limit: 'subscriptions', text: 'subscriptions', index: subscriptionsByOwner },
  'event-type': { limit: 'event_types', text: 'event types', index: eventTypesByOwner },
} as const;

/** Keeps the number of definitions of an application within the limits of the principals that create them. */
export class OwnedDefinitions {
  readonly #registry: Registry;
  /** How many are being created, by kind and application. */
  readonly #pending = new Map<string, number>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /**
   * Creates a definition of an application.
   * @param usage Of the creator; undefined for one without limits.
   * @param create Calls what it is given before it creates something that does not exist yet.
   * @throws UNPROCESSABLE at the limit, and what `create` throws
   */
  async whileCreating<Result>(
    usage: Usage | undefined,
    kind: keyof typeof kinds,
    application: unknown,
    create: (refuseBeyondLimit: () => void) => Promise<Result>,
  ): Promise<Result> {
    if (usage === undefined || typeof application !== 'string') return create(() => {});
    const key = `${kind} ${application}`;
    let isCounted = false;
    try {
      return await create(() => {
        if (isCounted) return;
        this.#refuseBeyondLimit(usage, kind, application, this.#pending.get(key) ?? 0);
        this.#change(key, 1);
        isCounted = true;
      });
    } finally {
      if (isCounted) this.#change(key, -1);
    }
  }

  #refuseBeyondLimit(usage: Usage, kind: keyof typeof kinds, application: string, pending: number): void {
    const { limit: name, text, index } = kinds[kind];
    const limit = usage.limits[name];
    if (limit === Infinity) return;
    const owned = this.#registry.listBy<unknown>(index as DefinitionIndex<unknown>, application).length;
    if (owned + pending < limit) return;
    const detail = `The application ${application} may have ${limit} ${text}: delete those that are not needed.`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  }

  #change(key: string, by: number): void {
    const pending = (this.#pending.get(key) ?? 0) + by;
    if (pending === 0) this.#pending.delete(key);
    else this.#pending.set(key, pending);
  }
}
