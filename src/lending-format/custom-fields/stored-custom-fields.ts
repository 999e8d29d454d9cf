import type { DefinitionIndex } from '../../broker/definitions/definition-views.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type {
  FieldDefinition,
  FieldDefinitions,
  FieldSetDefinition,
  RecordType,
} from '../../lending/custom-fields/definitions.ts';
import { type DefinitionRecord, hasDefinitions, knownDefinition } from '../stored-definitions.ts';
import { type CustomFieldFields, type FieldSetFields, valueFor } from './custom-field-payload.ts';

/** A set and a field as the registry keeps them. */
export type FieldSetRecord = DefinitionRecord<FieldSetFields>;
export type CustomFieldRecord = DefinitionRecord<CustomFieldFields>;

/** The definitions of custom fields that this process knows. Looking one up costs no more when there are more. */
export function fieldDefinitionsOf(registry: Registry): FieldDefinitions {
  return new StoredFieldDefinitions(registry);
}

/**
 * This is a class because the engine makes a hidden class for each object that is written with a getter of its own. It
 * is old from the start, so all that the getter refers to would live until the whole heap is collected.
 */
class StoredFieldDefinitions implements FieldDefinitions {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  get hasSets(): boolean {
    return hasDefinitions(this.#registry, 'custom-field-set');
  }

  set(id: string): FieldSetDefinition | undefined {
    const record = this.#registry.get<FieldSetRecord>('custom-field-set', id);
    return record === undefined ? undefined : { id, ...record.fields };
  }

  field(setId: string, id: string): FieldDefinition | undefined {
    const record = this.#registry.get<CustomFieldRecord>('custom-field', id);
    return record?.fields.setId === setId ? fieldDefinition(this.#registry, record) : undefined;
  }

  requiredFor(recordType: RecordType): readonly FieldDefinition[] {
    const required = this.#registry.listBy(requiredByRecordType, recordType);
    return required.map((record) => fieldDefinition(this.#registry, record));
  }
}

/** The fields of a set, in the order in which they were made. */
export function fieldsOfSet(registry: Registry, setId: string): readonly CustomFieldRecord[] {
  return registry.listBy(bySet, setId);
}

const bySet: DefinitionIndex<CustomFieldRecord> = { kind: 'custom-field', keysOf: ({ fields }) => [fields.setId] };

const requiredByRecordType: DefinitionIndex<CustomFieldRecord> = {
  kind: 'custom-field',
  keysOf: ({ fields: { usage, availableFor, state } }) =>
    state === 'ACTIVE' && usage.some(({ required }) => required) ? [availableFor] : [],
};

/** The selection of the same set on which a field depends; undefined when it depends on none. */
export function selectionOf(registry: Registry, { fields }: CustomFieldRecord): CustomFieldRecord | undefined {
  const { dependentFieldKey, setId } = fields;
  if (dependentFieldKey === undefined) return undefined;
  const found = knownDefinition<CustomFieldFields>(registry, 'custom-field', dependentFieldKey);
  return found?.fields.setId === setId ? found : undefined;
}

function fieldDefinition(registry: Registry, record: CustomFieldRecord): FieldDefinition {
  const { id, fields } = record;
  const parent = selectionOf(registry, record);
  return {
    id,
    setId: fields.setId,
    type: fields.type,
    isActive: fields.state === 'ACTIVE',
    usage: fields.usage.map(({ objectNames, required }) => ({
      objectNames: objectNames ?? null,
      isRequired: required,
    })),
    limits: fields.valueValidationSettings,
    selectionOptions: fields.selectionOptions.map((options) => ({
      forValue: parent === undefined ? null : (valueFor(options, parent.fields) ?? null),
      values: options.availableOptions.map(({ value }) => value),
    })),
    dependsOn: parent?.id ?? null,
  };
}
