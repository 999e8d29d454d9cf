import { isDeepStrictEqual } from 'node:util';
import { FieldViolations, LendstreamError } from '../../errors.ts';
import { eventRules } from '../schemas/compiled-schemas.ts';
import { type TopicConfiguration, recordBytesMaximum } from '../../ports/event-log.ts';
import type { EventType, EventTypeRecord, EventTypeSchema, SystemEventType } from '../definitions/event-type.ts';
import { retentionMillisecondsDefault, type EventTypeDefinition } from './requested-event-type.ts';
import { checkChange } from './allowed-changes.ts';
import { partitionCountFor } from './partition-count.ts';
import { deduplicationMilliseconds, deduplicationViolations } from '../definitions/deduplication.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import { parseSchema } from '../schemas/schema-validator.ts';
import type { JsonSchema } from '../../schema-files.ts';
import { nextSchemaVersion } from '../schemas/schema-evolution.ts';
import { describesField } from '../schemas/schema-fields.ts';

/** The registry's record of an event type after it is defined or changed. Pure; `now` is RFC 3339. */

const firstVersion = '1.0.0';

/**
 * The largest record of an event type, with every version of its schema. The registry's wrapping and the mark of its
 * deletion still fit into a log record. Bytes.
 */
export const eventTypeBytesMaximum = recordBytesMaximum - 64 * 1024;

/**
 * The record of a new event type.
 * @param by Who defines it.
 * @throws UNPROCESSABLE for a schema that cannot validate any event, or a deduplication window that cannot be kept
 */
export function createdRecord(
  definition: EventTypeDefinition,
  now: string,
  { partitionsPerEventType, retentionMilliseconds: longestRetention }: StreamingLimits = defaultStreamingLimits,
  by?: string,
): EventTypeRecord {
  checkSchema(definition.schemaText, definition);
  const schema: EventTypeSchema = {
    type: 'json_schema',
    schema: definition.schemaText,
    version: firstVersion,
    created_at: now,
    ...createdBy(by),
  };
  return withDeduplication({
    eventType: {
      ...describe(definition),
      schema,
      default_statistic: definition.default_statistic,
      options: {
        retention_time: definition.retentionMilliseconds ?? Math.min(retentionMillisecondsDefault, longestRetention),
      },
      annotations: definition.annotations ?? {},
      labels: definition.labels ?? {},
      created_at: now,
      updated_at: now,
    },
    partitionCount: partitionCountFor(definition.default_statistic, partitionsPerEventType),
    schemas: [schema],
    system: false,
  });
}

/**
 * The record after a change. Retention, annotations and labels that the definition leaves out stay the same.
 * @throws UNPROCESSABLE for a forbidden change, or a record that would be too large
 */
export function changedRecord(
  record: EventTypeRecord,
  definition: EventTypeDefinition,
  now: string,
  by?: string,
): EventTypeRecord {
  const current = record.eventType;
  const statistic = checkChange(current, definition);
  const schemas = evolve(record, definition.schemaText, definition, { now, by });
  const addsCompaction = definition.cleanup_policy !== current.cleanup_policy;
  const { deduplicatedSince: _before, ...kept } = record;
  const changed = withDeduplication({
    ...kept,
    ...(addsCompaction ? { compactionAddedAt: now } : {}),
    eventType: {
      ...describe(definition),
      schema: schemas.at(-1) ?? current.schema,
      default_statistic: statistic,
      options: { retention_time: definition.retentionMilliseconds ?? current.options.retention_time },
      annotations: definition.annotations ?? current.annotations,
      labels: definition.labels ?? current.labels,
      created_at: current.created_at,
      updated_at: now,
    },
    schemas,
  });
  return withinLimit({ ...changed, ...deduplicatedSince(record, changed, now) });
}

/**
 * Since when repeated events are stored once. What was stored in a break is not in the index of published ids from
 * before it, so a new one is read from the log.
 */
function deduplicatedSince(
  before: EventTypeRecord,
  after: EventTypeRecord,
  now: string,
): Pick<EventTypeRecord, 'deduplicatedSince'> {
  if (deduplicationMilliseconds(after.eventType) === undefined) return {};
  if (deduplicationMilliseconds(before.eventType) === undefined) return { deduplicatedSince: now };
  return before.deduplicatedSince === undefined ? {} : { deduplicatedSince: before.deduplicatedSince };
}

/** @throws UNPROCESSABLE when its events cannot be stored once for as long as its annotation says */
function withDeduplication(record: EventTypeRecord): EventTypeRecord {
  const violations = deduplicationViolations(record.eventType);
  if (violations.length > 0) throw new FieldViolations(violations);
  return record;
}

/**
 * The record with this schema in force; the same record when it is in force already, byte for byte.
 * @throws UNPROCESSABLE for a schema that may not follow, or a record that would be too large
 */
export function recordWithSchema(
  record: EventTypeRecord,
  schemaText: string,
  now: string,
  by?: string,
): EventTypeRecord {
  const schemas = evolve(record, schemaText, record.eventType, { now, by });
  if (schemas === record.schemas) return record;
  const schema = schemas.at(-1) ?? record.eventType.schema;
  return withinLimit({ ...record, eventType: { ...record.eventType, schema, updated_at: now }, schemas });
}

/** @throws UNPROCESSABLE when all versions of its schema and the rest of it are too long together */
function withinLimit(record: EventTypeRecord): EventTypeRecord {
  const bytes = Buffer.byteLength(JSON.stringify(record));
  if (bytes <= eventTypeBytesMaximum) return record;
  throw new LendstreamError(
    'UNPROCESSABLE',
    `Event type ${record.eventType.name} with all versions of its schema would have ${bytes} bytes; the maximum is ` +
      `${eventTypeBytesMaximum}. Define another event type.`,
  );
}

type SchemaRules = Pick<
  EventType,
  'name' | 'category' | 'compatibility_mode' | 'cleanup_policy' | 'ordering_key_fields' | 'ordering_instance_ids'
>;

/** @throws UNPROCESSABLE when it cannot validate any event, or lacks fields that the event type names */
function checkSchema(schemaText: string, rules: SchemaRules): void {
  const { schema } = eventRules(schemaText, rules);
  for (const list of ['ordering_key_fields', 'ordering_instance_ids'] as const) {
    const absent = rules[list].filter((path) => !describesField(schema, path));
    if (absent.length > 0)
      throw new LendstreamError('UNPROCESSABLE', `${list} [${absent.join(', ')}] absent in schema`);
  }
}

/** The versions of an event type once this schema is in force. */
function evolve(
  record: EventTypeRecord,
  schemaText: string,
  rules: SchemaRules,
  { now, by }: { readonly now: string; readonly by: string | undefined },
): readonly EventTypeSchema[] {
  checkSchema(schemaText, rules);
  const current = record.eventType.schema;
  if (schemaText === current.schema) return record.schemas;
  const version = nextSchemaVersion(
    parseSchema(current.schema),
    parseSchema(schemaText),
    rules.compatibility_mode,
    current.version,
  );
  return [...record.schemas, { type: 'json_schema', schema: schemaText, version, created_at: now, ...createdBy(by) }];
}

function createdBy(by: string | undefined): Pick<EventTypeSchema, 'created_by'> {
  return by === undefined ? {} : { created_by: by };
}

/** The part of an event type that a definition states in full. */
function describe(definition: EventTypeDefinition) {
  const { name, owning_application, category, enrichment_strategies, partition_strategy } = definition;
  const { partition_key_fields, compatibility_mode, cleanup_policy, authorization } = definition;
  const { ordering_key_fields, ordering_instance_ids, audience } = definition;
  return {
    name,
    owning_application,
    category,
    enrichment_strategies,
    partition_strategy,
    partition_key_fields,
    compatibility_mode,
    cleanup_policy,
    authorization,
    ordering_key_fields,
    ordering_instance_ids,
    audience,
  };
}

/** How soon the events of a deleted key are due to be removed. Milliseconds. */
export const compactionLagMilliseconds = 86_400_000;

/** The topic that holds the events of a type. */
export function topicOf(record: EventTypeRecord): TopicConfiguration {
  const { eventType, partitionCount, keptUntilDone, compactionAddedAt } = record;
  const cleanupPolicy = compactionAddedAt === undefined ? eventType.cleanup_policy : 'delete';
  return {
    ...(cleanupPolicy === 'delete' ? {} : { compactionLagMilliseconds }),
    name: eventType.name,
    partitionCount,
    cleanupPolicy,
    retentionMilliseconds: keptUntilDone === true ? Infinity : eventType.options.retention_time,
  };
}

/** For how long another process may publish by the definition before the last one. Milliseconds. */
const earlierDefinitionMilliseconds = 60_000;

/** Whether the events from before compaction was added to a type have been kept for as long as it promises. */
export function isCompactionDue({ eventType, compactionAddedAt }: EventTypeRecord, now: number): boolean {
  if (compactionAddedAt === undefined) return false;
  const { retention_time: retentionMilliseconds } = eventType.options;
  return now >= Date.parse(compactionAddedAt) + retentionMilliseconds + earlierDefinitionMilliseconds;
}

/** The record of a type whose topic is compacted from now on. */
export function compactedRecord({ compactionAddedAt: _past, ...record }: EventTypeRecord): EventTypeRecord {
  return record;
}

/** The texts of the schemas of the service. Each is made once: a start asks for it several times. */
const ownTexts = new WeakMap<JsonSchema, string>();

function textOf(schema: JsonSchema): string {
  const text = ownTexts.get(schema) ?? JSON.stringify(schema);
  ownTexts.set(schema, text);
  return text;
}

/** Whether two texts are the same schema. Most often they are the same text, which takes no time to see. */
function isSameSchema(left: string, right: string): boolean {
  return left === right || isDeepStrictEqual(parseSchema(left), parseSchema(right));
}

function versionAfter(inForce: EventTypeSchema | undefined, schema: JsonSchema): string {
  if (inForce === undefined) return firstVersion;
  return nextSchemaVersion(parseSchema(inForce.schema), schema, 'none', inForce.version);
}

/** The record of an event type that a module of the service defines; a changed schema gets the next version. */
export function systemRecord(
  type: SystemEventType,
  current: EventTypeRecord | undefined,
  now: string,
): EventTypeRecord {
  const text = textOf(type.schema);
  const inForce = current?.schemas.at(-1);
  const isUnchanged = inForce !== undefined && isSameSchema(inForce.schema, text);
  const schema: EventTypeSchema = isUnchanged
    ? inForce
    : { type: 'json_schema', schema: text, version: versionAfter(inForce, type.schema), created_at: now };
  const described = {
    name: type.name,
    owning_application: 'lendstream',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    partition_strategy: type.partitionKeyFields.length === 0 ? 'random' : 'hash',
    partition_key_fields: type.partitionKeyFields,
    compatibility_mode: 'none',
    cleanup_policy: 'delete',
    schema,
    default_statistic: null,
    options: { retention_time: type.retentionMilliseconds },
    authorization: null,
    annotations: {},
    labels: {},
    ordering_key_fields: [],
    ordering_instance_ids: [],
    audience: null,
  } as const;
  const { created_at = now, updated_at = now, ...before } = current?.eventType ?? {};
  return {
    eventType: { ...described, created_at, updated_at: isDeepStrictEqual(before, described) ? updated_at : now },
    partitionCount: type.partitionCount,
    schemas: isUnchanged ? (current?.schemas ?? [schema]) : [...(current?.schemas ?? []), schema],
    system: true,
    ...(type.keptUntilDone === undefined ? {} : { keptUntilDone: type.keptUntilDone }),
    ...(type.absentKeyFieldsAllowed === undefined ? {} : { absentKeyFieldsAllowed: type.absentKeyFieldsAllowed }),
    ...(type.writtenByServiceAlone === undefined ? {} : { writtenByServiceAlone: type.writtenByServiceAlone }),
  };
}
