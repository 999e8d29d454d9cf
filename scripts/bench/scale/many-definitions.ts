import { subscriptionId } from '../../../src/broker/definitions/subscription-id.ts';
import { eventSchema } from '../events.ts';

/** The definitions of a benchmark with many of them. A number always gives the same one, in every process. */

/** How many subscriptions each event type has. */
export const subscriptionsPerEventType = 10;

const owningApplication = 'bench';

/** The schema has twelve fields: those of the published events, and nine more that no event has. */
const schema = {
  ...eventSchema,
  properties: {
    ...eventSchema.properties,
    ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`field_${index}`, { type: 'string' }])),
  },
};

/** The name of the event type with this number, from 0. */
export function eventTypeName(number: number): string {
  return `definitions.event_${String(number).padStart(6, '0')}`;
}

/** The request that defines the event type with this number. It has one partition. */
export function eventTypeRequest(name: string): Record<string, unknown> {
  return {
    name,
    owning_application: owningApplication,
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    partition_strategy: 'hash',
    partition_key_fields: ['account'],
    schema: { type: 'json_schema', schema: JSON.stringify(schema) },
  };
}

/** The request that creates the subscription with this number: those of one event type follow one another. */
export function subscriptionRequest(number: number): Record<string, unknown> {
  return {
    owning_application: owningApplication,
    event_types: [eventTypeName(Math.floor(number / subscriptionsPerEventType))],
    consumer_group: `group-${number % subscriptionsPerEventType}`,
    read_from: 'begin',
  };
}

/** The id of the subscription with this number. */
export function subscriptionIdOf(number: number): string {
  const eventType = eventTypeName(Math.floor(number / subscriptionsPerEventType));
  return subscriptionId(owningApplication, [eventType], `group-${number % subscriptionsPerEventType}`);
}

/** The id of the product with this number. */
export function productId(number: number): string {
  return `definitions-${number}`;
}

/** The command that creates the product with this number, as a producer sends it. */
export function productCommand(number: number): Record<string, unknown> {
  return {
    loanProductId: productId(number),
    type: 'CREATE_PRODUCT',
    payload: {
      id: productId(number),
      name: `Product ${number}`,
      type: 'FIXED_TERM_LOAN',
      currency: { code: 'EUR' },
      interestSettings: { interestRate: { defaultValue: 10 } },
      scheduleSettings: { numInstallments: { defaultValue: 12 } },
    },
  };
}
