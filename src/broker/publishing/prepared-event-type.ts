import { eventRules, type EventRules } from '../schemas/compiled-schemas.ts';
import { deduplicationMilliseconds } from '../definitions/deduplication.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';

export type { PreparedEventType };

/** What was prepared for an event type as it is defined now; a changed definition is another record. */
const preparedTypes = new WeakMap<EventTypeRecord, PreparedEventType>();

/** What publishing to an event type needs, once for each definition. */
export function prepareEventType(record: EventTypeRecord): PreparedEventType {
  const known = preparedTypes.get(record);
  if (known !== undefined) return known;
  const prepared = new PreparedEventType(record);
  preparedTypes.set(record, prepared);
  return prepared;
}

/**
 * The parts of an event type that each of its events needs. A class, so that all have one getter of their rules: a
 * definition that is only tried out is prepared as well.
 */
class PreparedEventType {
  readonly name: string;
  readonly version: string;
  readonly partitionCount: number;
  readonly partitionStrategy: 'random' | 'hash' | 'user_defined';
  /** Where the key fields lie in an event. */
  readonly keyPaths: readonly (readonly string[])[];
  readonly keyNames: readonly string[];
  readonly absentKeyFieldsAllowed: boolean;
  readonly isEnriched: boolean;
  readonly isCompacted: boolean;
  /** How long a repeated event is recognised; undefined where it is not. Milliseconds. */
  readonly deduplicationMilliseconds: number | undefined;
  readonly #record: EventTypeRecord;
  #rules: EventRules | undefined;

  constructor(record: EventTypeRecord) {
    const { eventType, partitionCount, absentKeyFieldsAllowed } = record;
    const prefix = eventType.category === 'data' ? ['data'] : [];
    this.name = eventType.name;
    this.version = eventType.schema.version;
    this.partitionCount = partitionCount;
    this.partitionStrategy = eventType.partition_strategy;
    this.keyPaths = eventType.partition_key_fields.map((path) => [...prefix, ...path.split('.')]);
    this.keyNames = eventType.partition_key_fields;
    this.absentKeyFieldsAllowed = absentKeyFieldsAllowed === true;
    this.isEnriched = eventType.category !== 'undefined';
    this.isCompacted = eventType.cleanup_policy !== 'delete';
    this.deduplicationMilliseconds = deduplicationMilliseconds(eventType);
    this.#record = record;
  }

  /** The rules that events are validated with, compiled at the first use: events of the service itself need none. */
  get rules(): EventRules {
    const { eventType, system } = this.#record;
    return (this.#rules ??= eventRules(eventType.schema.schema, eventType, system));
  }

  /** Compiles the rules. Returns whether that was not done before. */
  compile(): boolean {
    const isNew = this.#rules === undefined;
    void this.rules;
    return isNew;
  }
}
