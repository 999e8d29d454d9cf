import { BoundedMap } from '../../bounded-map.ts';
import { effectiveSchema, type ValidatedType } from './effective-schema.ts';
import { readAdminSchema } from './admin-schema.ts';
import {
  requiresDigits,
  compileValidator,
  parseSchema,
  type SchemaValidator,
  type ValidatorOptions,
} from './schema-validator.ts';
import type { SchemaObject } from './schema-walk.ts';
import { refuseManyEvaluatedNames } from './schema-cost.ts';

/**
 * The rules that the events of a type are validated against. Compiling them blocks the whole process, so it is done
 * once for a definition, whether that is tried out, saved or published to. The validators that describe violations are
 * compiled at the first violation.
 */
export interface EventRules {
  /** The schema of whole events. */
  readonly schema: SchemaObject;
  /** Shows whether an event fits. Describes no violations. */
  readonly validate: SchemaValidator;
  /** Returns the validator that finds all violations of an event. Compiles it at the first call. */
  readonly findAll: () => SchemaValidator;
  /**
   * Returns the validator that finds only the first violation, for events too large to continue after it. Compiles it
   * at the first call.
   */
  readonly findFirst: () => SchemaValidator;
  /** Whether the schema has rules for which the digits of numbers matter. */
  readonly requiresDigits: boolean;
}

/** How many definitions are kept compiled for later use. Each takes some megabytes at most. */
export const cachedRulesMaximum = 16;

/** The least recently used go first. */
const cache = new BoundedMap<string, EventRules>(cachedRulesMaximum);

/**
 * How many of the service's own schemas are kept besides. Only that of loan commands is compiled, for the service alone
 * writes the other events. Each version of the service that starts while this process runs may bring another text.
 */
const ownRulesMaximum = 4;

/** They are the largest, so what users define does not displace them. */
const ownRules = new BoundedMap<string, EventRules>(ownRulesMaximum);

/**
 * The rules for the events of a type, compiled at the first call and kept for later ones.
 * @param schemaText The text that an admin gave.
 * @param isOfService Whether the schema is one of the service's own, which may describe the metadata that every event
 *   has.
 * @throws UNPROCESSABLE for a schema that cannot validate events.
 */
export function eventRules(schemaText: string, type: ValidatedType, isOfService = false): EventRules {
  const { name, category, compatibility_mode, cleanup_policy } = type;
  const key = JSON.stringify([name, category, compatibility_mode, cleanup_policy, isOfService, schemaText]);
  const kept = isOfService ? ownRules : cache;
  const rules = kept.get(key) ?? compileRules(schemaText, type, isOfService);
  kept.set(key, rules);
  return rules;
}

function compileRules(schemaText: string, type: ValidatedType, isOfService: boolean): EventRules {
  // The tests check the schemas of the service.
  const schema = effectiveSchema(isOfService ? parseSchema(schemaText) : readAdminSchema(schemaText, type), type);
  if (!isOfService) refuseManyEvaluatedNames(schema);
  const compile = (options: ValidatorOptions): SchemaValidator =>
    compileValidator(schema, { ...options, isKnownValid: isOfService });
  const onDemand = (options: ValidatorOptions): (() => SchemaValidator) => {
    let find: SchemaValidator | undefined;
    return () => (find ??= compile(options));
  };
  return {
    schema,
    validate: compile({ isUndescribed: true }),
    findAll: onDemand({}),
    findFirst: onDemand({ allViolations: false }),
    requiresDigits: requiresDigits(schema),
  };
}
