import { eventRules, type EventRules } from '../schemas/compiled-schemas.ts';
import { deduplicationMilliseconds } from '../definitions/deduplication.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';

/** The parts of an event type that each of its events needs. */
export interface PreparedEventType {
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
  /** The rules that events are validated with, compiled at the first use: events of the service itself need none. */
  readonly rules: EventRules;
  /** Compiles the rules. Returns whether that was not done before. */
  compile(): boolean;
}

/** What was prepared for an event type as it is defined now; a changed definition is another record. */
const preparedTypes = new WeakMap<EventTypeRecord, PreparedEventType>();

/** What publishing to an event type needs, once for each definition. */
export function prepareEventType(record: EventTypeRecord): PreparedEventType {
  const known = preparedTypes.get(record);
  if (known !== undefined) return known;
  const prepared = prepare(record);
  preparedTypes.set(record, prepared);
  return prepared;
}

function prepare(record: EventTypeRecord): PreparedEventType {
  const { eventType, partitionCount, absentKeyFieldsAllowed, system } = record;
  const prefix = eventType.category === 'data' ? ['data'] : [];
  let rules: EventRules | undefined;
  const compiled = (): EventRules => (rules ??= eventRules(eventType.schema.schema, eventType, system));
  return {
    name: eventType.name,
    version: eventType.schema.version,
    partitionCount,
    partitionStrategy: eventType.partition_strategy,
    keyPaths: eventType.partition_key_fields.map((path) => [...prefix, ...path.split('.')]),
    keyNames: eventType.partition_key_fields,
    absentKeyFieldsAllowed: absentKeyFieldsAllowed === true,
    isEnriched: eventType.category !== 'undefined',
    isCompacted: eventType.cleanup_policy !== 'delete',
    deduplicationMilliseconds: deduplicationMilliseconds(eventType),
    get rules() {
      return compiled();
    },
    compile() {
      const isNew = rules === undefined;
      compiled();
      return isNew;
    },
  };
}
