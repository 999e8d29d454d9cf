import { effectiveSchema, readAdminSchema, type ValidatedType } from './effective-schema.ts';
import { asksForDigits, compileValidator, type SchemaValidator, type ValidatorOptions } from './json-schema.ts';
import type { SchemaObject } from './json-schema-tree.ts';
import { refuseManyNotedNames } from './schema-cost.ts';

/**
 * What the events of a type are held against. Compiling it holds up the whole process, so that it is done once for a
 * definition, whether that is tried out, saved or published to; what describes violations waits for the first of them.
 */
export interface EventRules {
  /** Of whole events. */
  readonly schema: SchemaObject;
  /** Whether an event fits. Describes no violations. */
  readonly fits: SchemaValidator;
  /** Compiles, when it is first asked for, what finds all violations of an event. */
  readonly findAll: () => SchemaValidator;
  /** The same for the first violation, of events that are too large to go on. */
  readonly findFirst: () => SchemaValidator;
  /** Whether it has rules for which the digits of numbers matter. */
  readonly asksForDigits: boolean;
}

/** So many definitions are kept compiled for whoever asks for them next. One takes some megabytes at most. */
export const keptRulesMaximum = 16;

/** The one that was asked for last is the last. */
const kept = new Map<string, EventRules>();

/**
 * @param schemaText As an admin gave it.
 * @param isOfService The service's own schemas may describe the metadata that every event has.
 * @throws UNPROCESSABLE for a schema that no event could be validated with
 */
export function eventRules(schemaText: string, type: ValidatedType, isOfService = false): EventRules {
  const { name, category, compatibility_mode, cleanup_policy } = type;
  const key = JSON.stringify([name, category, compatibility_mode, cleanup_policy, isOfService, schemaText]);
  const rules = kept.get(key) ?? compileRules(schemaText, type, isOfService);
  kept.delete(key);
  kept.set(key, rules);
  const [oldest] = kept.keys();
  if (kept.size > keptRulesMaximum && oldest !== undefined) kept.delete(oldest);
  return rules;
}

function compileRules(schemaText: string, type: ValidatedType, isOfService: boolean): EventRules {
  const read = isOfService ? { ...type, category: 'undefined' as const } : type;
  const schema = effectiveSchema(readAdminSchema(schemaText, read), type);
  refuseManyNotedNames(schema);
  const onDemand = (options: ValidatorOptions): (() => SchemaValidator) => {
    let find: SchemaValidator | undefined;
    return () => (find ??= compileValidator(schema, options));
  };
  return {
    schema,
    fits: compileValidator(schema, { isUndescribed: true }),
    findAll: onDemand({}),
    findFirst: onDemand({ allViolations: false }),
    asksForDigits: asksForDigits(schema),
  };
}
