import { wrongType } from '../definitions/json-fields.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { countViolations, lengthViolations } from '../definitions/length-limits.ts';
import { annotationViolations, labelsOf, labelViolations } from '../definitions/annotations-and-labels.ts';
import { readAuthorization } from '../definitions/authorization.ts';
import { deduplicationAnnotation } from '../definitions/deduplication.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import type { Audience, DefaultStatistic, EventType } from '../definitions/event-type.ts';
import { looseSpelling } from './similar-names.ts';

/** Reading an event type as a client sent it. Pure. */

export const retentionMillisecondsDefault = 172_800_000;
export const retentionMillisecondsMinimum = 10_800_000;

/** Characters of a name: a Kafka topic may have no more, and the topic of an event type has its name. */
export const eventTypeNameCharactersMaximum = 249;

/** Characters. Longer names are refused in Nakadi's words, which clients compare. */
const originalNameCharactersMaximum = 255;

/** Names with this prefix belong to the service: its own topics and event types. */
export const internalNamePrefix = 'lendstream.';

/** Most paths in each list of field paths. */
export const fieldPathsMaximum = 20;

/** Characters. */
export const fieldPathCharactersMaximum = 255;

/** The parts of an event type that a client sets; the service sets versions and times. */
export interface EventTypeDefinition extends Omit<
  EventType,
  'schema' | 'options' | 'annotations' | 'labels' | 'created_at' | 'updated_at'
> {
  /** The JSON Schema as text. */
  readonly schemaText: string;
  /** Absent: the default, or the current value when the type is changed. */
  readonly retentionMilliseconds: number | undefined;
  readonly annotations: EventType['annotations'] | undefined;
  readonly labels: EventType['labels'] | undefined;
}

/** Why an event type cannot have this type of schema. */
export const avroRefusal = '"avro_schema" is not supported: events are JSON, and their schema is a json_schema';

/**
 * Reads the JSON of an event type. Unknown fields and fields that only the service sets are ignored.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type or an unknown enum value; FieldViolations for all broken
 *   rules together
 */
export function readEventType(
  body: Readonly<Record<string, unknown>>,
  { retentionMilliseconds: longestRetention }: StreamingLimits = defaultStreamingLimits,
): EventTypeDefinition {
  const violations: FieldViolation[] = [];
  const needed = <Value>(field: string, value: Value | null): Value | null => {
    if (value === null) violations.push({ field, message: 'must not be null' });
    return value;
  };
  const name = needed('name', textField(body, 'name'));
  if (name !== null) violations.push(...nameViolations(name));
  const owningApplication = needed('owning_application', textField(body, 'owning_application'));
  const category = needed('category', enumField(body, 'category', categories));
  const schema = needed('schema', objectField(body, 'schema'));
  const schemaType = schema === null ? null : needed('schema.type', textField(schema, 'type', 'schema.type'));
  const schemaText = schema === null ? null : needed('schema.schema', textField(schema, 'schema', 'schema.schema'));
  if (schemaType?.toLowerCase() === 'avro_schema') violations.push({ field: 'schema.type', message: avroRefusal });
  else if (schemaType !== null) enumValue('schema.type', schemaType, ['json_schema']);
  const options = objectField(body, 'options');
  const retentionMilliseconds = options === null ? null : integerField(options, 'retention_time', 'options.');
  const authorization = readAuthorization(objectField(body, 'authorization'), roles, violations);
  const annotations = mapField(body, 'annotations');
  const labels = mapField(body, 'labels');

  const definition = {
    name: name ?? '',
    owning_application: owningApplication ?? '',
    category: category ?? 'undefined',
    enrichment_strategies: textListField(body, 'enrichment_strategies').map((strategy) =>
      enumValue('enrichment_strategies', strategy, ['metadata_enrichment']),
    ),
    // An unknown strategy is a finding like others, see strategyViolations.
    partition_strategy: (textField(body, 'partition_strategy') ?? 'random').toLowerCase() as PartitionStrategy,
    partition_key_fields: textListField(body, 'partition_key_fields'),
    compatibility_mode: enumField(body, 'compatibility_mode', ['compatible', 'forward', 'none']) ?? 'forward',
    cleanup_policy: enumField(body, 'cleanup_policy', ['delete', 'compact', 'compact_and_delete']) ?? 'delete',
    default_statistic: readStatistic(objectField(body, 'default_statistic')),
    authorization,
    ordering_key_fields: textListField(body, 'ordering_key_fields'),
    ordering_instance_ids: textListField(body, 'ordering_instance_ids'),
    audience: enumField(body, 'audience', audiences),
    schemaText: schemaText ?? '',
    retentionMilliseconds: retentionMilliseconds ?? undefined,
    annotations: annotations ?? undefined,
    labels: labels === null ? undefined : labelsOf(labels),
  } satisfies EventTypeDefinition;

  violations.push(
    ...retentionViolations(definition.retentionMilliseconds, longestRetention),
    ...statisticViolations(definition.default_statistic),
    ...lengthViolations('owning_application', definition.owning_application),
    ...pathViolations(definition),
    ...annotationViolations(annotations, [deduplicationAnnotation]),
    ...labelViolations(labels),
    ...unsupportedViolations(body),
    ...(category === null ? [] : strategyViolations(definition)),
  );
  if (violations.length > 0) throw new FieldViolations(violations);
  return definition;
}

const roles = ['admins', 'readers', 'writers'] as const;

const categories: readonly EventType['category'][] = ['undefined', 'data', 'business'];

const audiences: readonly Audience[] = [
  'component-internal',
  'business-unit-internal',
  'company-internal',
  'external-partner',
  'external-public',
];

type PartitionStrategy = EventType['partition_strategy'];

/** The response of `GET /registry/partition-strategies`. */
export const partitionStrategies: readonly PartitionStrategy[] = ['hash', 'user_defined', 'random'];

/** The response of `GET /registry/enrichment-strategies`. */
export const enrichmentStrategies: EventType['enrichment_strategies'] = ['metadata_enrichment'];

/** Words separated by dots. Matching is linear, because no two parts can match the same character. */
const namePattern = /^[a-zA-Z][-0-9a-zA-Z_]*(\.[0-9a-zA-Z][-0-9a-zA-Z_]*)*$/;

function nameViolations(name: string): FieldViolation[] {
  const violations: FieldViolation[] = [];
  const add = (message: string): void => void violations.push({ field: 'name', message });
  if (name.length < 1 || name.length > originalNameCharactersMaximum) {
    add(`the length of the name must be >= 1 and <= ${originalNameCharactersMaximum}`);
  } else if (name.length > eventTypeNameCharactersMaximum) {
    add(`must contain at most ${eventTypeNameCharactersMaximum} characters`);
  }
  if (!namePattern.test(name)) add('format not allowed');
  const spelling = `${looseSpelling(name)}.`;
  if (spelling.startsWith(looseSpelling(internalNamePrefix))) {
    add(`must not begin with "${internalNamePrefix}", in any spelling: the service uses such names`);
  }
  return violations;
}

function retentionViolations(milliseconds: number | undefined, longest: number): FieldViolation[] {
  if (milliseconds === undefined) return [];
  const field = 'options.retention_time';
  if (milliseconds > longest) {
    return [{ field, message: `can not be more than ${longest}` }];
  }
  if (milliseconds < retentionMillisecondsMinimum) {
    return [{ field, message: `can not be less than ${retentionMillisecondsMinimum}` }];
  }
  return [];
}

function readStatistic(statistic: Readonly<Record<string, unknown>> | null): DefaultStatistic | null {
  if (statistic === null) return null;
  const number = (name: keyof DefaultStatistic): number => integerField(statistic, name, 'default_statistic.') ?? 0;
  return {
    messages_per_minute: number('messages_per_minute'),
    message_size: number('message_size'),
    read_parallelism: number('read_parallelism'),
    write_parallelism: number('write_parallelism'),
  };
}

function statisticViolations(statistic: DefaultStatistic | null): FieldViolation[] {
  if (statistic === null) return [];
  const minimums: DefaultStatistic = {
    messages_per_minute: 0,
    message_size: 1,
    read_parallelism: 1,
    write_parallelism: 1,
  };
  return Object.entries(minimums)
    .filter(([name, minimum]) => statistic[name as keyof DefaultStatistic] < minimum)
    .map(([name, minimum]) => ({
      field: `default_statistic.${name}`,
      message: `must be greater than or equal to ${String(minimum)}`,
    }));
}

/** The rules between category, enrichment, partitioning, compaction and ordering. */
function strategyViolations(definition: EventTypeDefinition): FieldViolation[] {
  const violations: FieldViolation[] = [];
  const add = (field: string, message: string): void => void violations.push({ field, message });
  const { category, enrichment_strategies: enrichment, partition_strategy: strategy } = definition;
  if (category === 'undefined') {
    if (enrichment.length > 0) add('enrichment_strategies', 'must be empty in category undefined');
    if (strategy === 'user_defined') add('partition_strategy', 'can not be user_defined in category undefined');
    if (definition.cleanup_policy !== 'delete') add('cleanup_policy', 'must be delete in category undefined');
  } else {
    if (!enrichment.includes('metadata_enrichment')) {
      add('enrichment_strategies', `must contain metadata_enrichment in category ${category}`);
    }
    if (new Set(enrichment).size < enrichment.length) add('enrichment_strategies', 'must not contain duplicates');
  }
  if (!partitionStrategies.includes(strategy)) {
    add('partition_strategy', `does not exist: ${strategy}. Possible values: ${partitionStrategies.join(', ')}`);
  }
  if (strategy === 'hash' && definition.partition_key_fields.length === 0) {
    add('partition_key_fields', 'must be set for partition strategy hash');
  }
  if (definition.ordering_instance_ids.length > 0 && definition.ordering_key_fields.length === 0) {
    add('ordering_instance_ids', 'can not be set without ordering_key_fields');
  }
  return violations;
}

/** The lists that name fields of events. */
const pathLists = ['partition_key_fields', 'ordering_key_fields', 'ordering_instance_ids'] as const;

function pathViolations(definition: EventTypeDefinition): FieldViolation[] {
  return pathLists.flatMap((field) => {
    const tooMany = countViolations(field, definition[field], fieldPathsMaximum);
    if (tooMany.length > 0) return tooMany;
    return definition[field].flatMap((path, index) =>
      lengthViolations(`${field}[${index}]`, path, fieldPathCharactersMaximum),
    );
  });
}

/** Unsupported fields that would change which consumer gets which events. */
function unsupportedViolations(body: Readonly<Record<string, unknown>>): FieldViolation[] {
  if ((body['event_owner_selector'] ?? null) === null) return [];
  const message = 'is not supported: every consumer of an event type gets all of its events';
  return [{ field: 'event_owner_selector', message }];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textField(body: Readonly<Record<string, unknown>>, name: string, field = name): string | null {
  const value = body[name] ?? null;
  if (value !== null && typeof value !== 'string') throw wrongType(field, 'a string');
  return value;
}

function objectField(body: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> | null {
  const value = body[name] ?? null;
  if (value !== null && !isObject(value)) throw wrongType(name, 'an object');
  return value;
}

function integerField(body: Readonly<Record<string, unknown>>, name: string, parent: string): number | null {
  const value = body[name] ?? null;
  if (value !== null && !Number.isSafeInteger(value)) throw wrongType(`${parent}${name}`, 'a whole number');
  return value as number | null;
}

function textListField(body: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = body[name] ?? [];
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw wrongType(name, 'a list of strings');
  }
  return value as string[];
}

function mapField(body: Readonly<Record<string, unknown>>, name: string): Record<string, string | null> | null {
  const value = objectField(body, name);
  if (value === null) return null;
  if (Object.values(value).some((item) => item !== null && typeof item !== 'string')) {
    throw wrongType(name, 'an object of strings');
  }
  return value as Record<string, string | null>;
}

/** The value in lower case, whatever its case was. */
function enumValue<const Value extends string>(field: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((candidate) => candidate === value.toLowerCase());
  if (found === undefined) {
    const detail = `Field "${field}" cannot be "${value}". Possible values: ${allowed.join(', ')}`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return found;
}

function enumField<const Value extends string>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  allowed: readonly Value[],
): Value | null {
  const value = textField(body, name);
  return value === null ? null : enumValue(name, value, allowed);
}
