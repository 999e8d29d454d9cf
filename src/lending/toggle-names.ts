/**
 * The feature toggles of the release. An admin switches them while the service runs. A command is decided under the
 * values read at that moment, and each event records them.
 */
export const toggleNames = ['ALLOW_NON_SCHEDULED_FEES', 'PRINCIPAL_OVERPAYMENT', 'fixInstallmentTaxOnPenalty'] as const;
export type ToggleName = (typeof toggleNames)[number];

export type Toggles = Readonly<Record<ToggleName, boolean>>;

export const allTogglesOff: Toggles = {
  ALLOW_NON_SCHEDULED_FEES: false,
  PRINCIPAL_OVERPAYMENT: false,
  fixInstallmentTaxOnPenalty: false,
};

/** Whether the text names a toggle, byte for byte. */
export function isToggleName(name: string): name is ToggleName {
  return (toggleNames as readonly string[]).includes(name);
}

/** Whether two sets of toggles have the same values. */
export function areSameToggles(one: Toggles, other: Toggles): boolean {
  return toggleNames.every((name) => one[name] === other[name]);
}
