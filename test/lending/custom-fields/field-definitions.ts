import type {
  FieldDefinition,
  FieldDefinitions,
  FieldSetDefinition,
} from '../../../src/lending/custom-fields/definitions.ts';

/** A field of free text that may stand everywhere, except for what is given. */
export function aField(setId: string, id: string, more: Partial<FieldDefinition> = {}): FieldDefinition {
  const field = { type: 'FREE_TEXT', isActive: true, usage: [], limits: {}, selectionOptions: [], dependsOn: null };
  return { setId, id, ...(field as Omit<FieldDefinition, 'setId' | 'id'>), ...more };
}

/** Definitions of these sets and fields. */
export function defined(
  sets: readonly FieldSetDefinition[],
  fields: readonly FieldDefinition[] = [],
): FieldDefinitions {
  return {
    hasSets: sets.length > 0,
    set: (id) => sets.find((set) => set.id === id),
    field: (setId, id) => fields.find((field) => field.setId === setId && field.id === id),
    requiredFor: (recordType) =>
      fields.filter(
        ({ setId, usage }) =>
          usage.some(({ isRequired }) => isRequired) &&
          sets.some(({ id, availableFor }) => id === setId && availableFor === recordType),
      ),
  };
}
