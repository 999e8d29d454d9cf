import type { Registry } from '../broker/definitions/registry.ts';
import { toTimestamp } from '../clock.ts';
import type { Schemas } from '../contract.ts';
import { type ToggleName, type Toggles, toggleNames } from '../lending/toggle-names.ts';

/** A toggle as the registry keeps it. A toggle without a record is off. */
export interface ToggleRecord {
  readonly enabled: boolean;
  /** RFC 3339: since when it has this value. */
  readonly switchedAt: string;
}

/** Every toggle as this process sees it now. */
export function readToggles(registry: Registry): Toggles {
  const enabled = (name: ToggleName): boolean => readToggle(registry, name)?.enabled === true;
  return {
    ALLOW_NON_SCHEDULED_FEES: enabled('ALLOW_NON_SCHEDULED_FEES'),
    PRINCIPAL_OVERPAYMENT: enabled('PRINCIPAL_OVERPAYMENT'),
    fixInstallmentTaxOnPenalty: enabled('fixInstallmentTaxOnPenalty'),
  };
}

/** One toggle's record; undefined when it was never switched. */
export function readToggle(registry: Registry, name: ToggleName): ToggleRecord | undefined {
  return registry.get<ToggleRecord>('toggle', name);
}

/** A toggle as the API shows it; `switchedAt` is null for one that was never switched, and off. */
export type ToggleView = Schemas['Toggle'];

/** One toggle as the API shows it. */
export function viewToggle(registry: Registry, name: ToggleName): ToggleView {
  const record = readToggle(registry, name);
  return { name, enabled: record?.enabled ?? false, switchedAt: record?.switchedAt ?? null };
}

/** All toggles in their order. */
export function listToggles(registry: Registry): ToggleView[] {
  return toggleNames.map((name) => viewToggle(registry, name));
}

/**
 * Switches a toggle durably and returns when this process sees it. Setting the current value changes nothing, so
 * `switchedAt` shows real changes only.
 * @param now Milliseconds since the epoch.
 */
export async function setToggle(registry: Registry, name: ToggleName, enabled: boolean, now: number): Promise<void> {
  if ((readToggle(registry, name)?.enabled ?? false) === enabled) return;
  await registry.put('toggle', name, { enabled, switchedAt: toTimestamp(now) } satisfies ToggleRecord);
}
