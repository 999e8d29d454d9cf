import type { Schemas } from '../../contract.ts';
import type { JsonSchema } from '../../schema-files.ts';

/** An event type as stored and as the API shows it (snake_case is the API's). */
export interface EventType {
  readonly name: string;
  readonly owning_application: string;
  readonly category: 'undefined' | 'data' | 'business';
  readonly enrichment_strategies: readonly 'metadata_enrichment'[];
  readonly partition_strategy: 'random' | 'hash' | 'user_defined';
  readonly partition_key_fields: readonly string[];
  readonly compatibility_mode: 'compatible' | 'forward' | 'none';
  readonly cleanup_policy: 'delete' | 'compact' | 'compact_and_delete';
  readonly schema: EventTypeSchema;
  readonly default_statistic: DefaultStatistic | null;
  readonly options: { readonly retention_time: number };
  readonly authorization: Readonly<Record<string, unknown>> | null;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ordering_key_fields: readonly string[];
  readonly ordering_instance_ids: readonly string[];
  readonly audience: Audience | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export type Audience = NonNullable<Schemas['EventType']['audience']>;

export interface EventTypeSchema {
  readonly type: 'json_schema';
  /** The JSON Schema as text, exactly as it was sent. */
  readonly schema: string;
  /** Semantic version, from 1.0.0. */
  readonly version: string;
  readonly created_at: string;
  /** Who put it in force, as in `published_by` of events. Absent for versions of the service itself. */
  readonly created_by?: string;
}

export interface DefaultStatistic {
  readonly messages_per_minute: number;
  readonly message_size: number;
  readonly read_parallelism: number;
  readonly write_parallelism: number;
}

/** The registry's record of an event type: the API's form, and what the API does not show. */
export interface EventTypeRecord {
  readonly eventType: EventType;
  readonly partitionCount: number;
  /** All versions, oldest first; the last one is in force. */
  readonly schemas: readonly EventTypeSchema[];
  /** Defined by the service itself: an admin may not change or delete it. */
  readonly system: boolean;
  /**
   * Hash strategy only: a missing key field counts as nothing instead of refusing the event; at least one must be
   * present. For `lendstream.loan-commands`, whose events are about a loan or about a product.
   */
  readonly absentKeyFieldsAllowed?: boolean;
  /** See {@link SystemEventType.keptUntilDone}. */
  readonly keptUntilDone?: boolean;
  /**
   * When compaction was added to it. Its topic is not compacted until the retention of the events from before that has
   * passed: they have no compaction key. Absent once its topic is compacted. RFC 3339.
   */
  readonly compactionAddedAt?: string;
  /** Only the service writes its events, see {@link SystemEventType.writtenByServiceAlone}. */
  readonly writtenByServiceAlone?: boolean;
  /**
   * Since when repeated events have been stored once without a break. RFC 3339. Absent where they have been
   * since its creation, and where they are not.
   */
  readonly deduplicatedSince?: string;
  /** It is being deleted, or a process died while deleting it: no new subscription may name it. */
  readonly deleting?: boolean;
}

/** An event type that a module of the service defines and that is registered at start. */
export interface SystemEventType {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly partitionCount: number;
  readonly partitionKeyFields: readonly string[];
  readonly retentionMilliseconds: number;
  /**
   * Its events are kept for at least the retention time, and until the service is done with them. The service deletes
   * them itself, and the topic has no time limit.
   */
  readonly keptUntilDone?: boolean;
  readonly absentKeyFieldsAllowed?: boolean;
  /** Its events report what the service did: from any other publisher they would be forged. */
  readonly writtenByServiceAlone?: boolean;
}
