import { LendstreamError } from '../../errors.ts';
import type { Registry } from './registry.ts';

/** The switches by which operators restrict what clients may define. All are off at first. */
export const switchableFeatures = [
  'delete_event_type_with_subscriptions',
  'disable_db_write_operations',
  'disable_event_type_creation',
  'disable_event_type_deletion',
  'disable_subscription_creation',
  'force_event_type_authz',
  'force_subscription_authz',
] as const;

export type Feature = (typeof switchableFeatures)[number];

/** A feature, and whether it is on. */
export interface FeatureState {
  readonly feature: Feature;
  readonly enabled: boolean;
}

/**
 * All features, also with what another process has switched a moment ago.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function newestFeatures(registry: Registry): Promise<FeatureState[]> {
  await registry.catchUp();
  return switchableFeatures.map((feature) => ({ feature, enabled: isSwitchedOn(registry, feature) }));
}

export function isSwitchedOn(registry: Registry, feature: Feature): boolean {
  return registry.get('feature', feature) === true;
}

/** Switches a feature on or off, on every process. */
export async function switchFeature(registry: Registry, feature: Feature, enabled: boolean): Promise<void> {
  await registry.catchUp();
  if (isSwitchedOn(registry, feature) !== enabled) await registry.put('feature', feature, enabled);
}

/**
 * Refuses a change of event types or subscriptions while definitions can only be read.
 * @throws SWITCHED_OFF
 */
export function refuseWhileReadOnly(registry: Registry): void {
  if (!isSwitchedOn(registry, 'disable_db_write_operations')) return;
  throw new LendstreamError(
    'SWITCHED_OFF',
    'Definitions can only be read: the feature disable_db_write_operations is on.',
  );
}

/**
 * Refuses a new definition without `authorization` where a feature demands it.
 * @throws UNPROCESSABLE
 */
export function refuseWithoutAuthorization(
  registry: Registry,
  feature: 'force_event_type_authz' | 'force_subscription_authz',
  authorization: unknown,
): void {
  if (authorization === null && isSwitchedOn(registry, feature)) {
    throw new LendstreamError('UNPROCESSABLE', 'Authorization section is mandatory');
  }
}
