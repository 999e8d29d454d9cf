/**
 * The audit: who did what, from where and when, as events of `lendstream.audit` that the service alone can
 * write, and that cannot be changed unnoticed. In: entries about requests. Out: chained records in the log.
 * Start with the entry below; `audit-log.ts` stores entries, `chain-writer.ts` chains them in one partition, and
 * `access-refusals.ts` counts what was refused.
 */

import type { Principal } from '../access/principal.ts';
import { toTimestamp } from '../clock.ts';
import type { SystemEventType } from '../broker/definitions/event-type.ts';
import { loadSchema } from '../schema-files.ts';
import { auditEventType } from '../access/system-event-types.ts';

/** The version of the event type's schema, as in the `metadata.version` of its events. */
const schemaVersion = '1.0.0';

/**
 * One partition for each process that writes at the same time, so that each has a chain to itself. More processes than
 * this take turns.
 */
export const auditPartitionCount = 8;

/** The event type of the audit, to be registered at start. */
export function auditEventTypeOf(retentionMilliseconds: number): SystemEventType {
  return {
    name: auditEventType,
    schema: loadSchema('events/audit.json'),
    partitionCount: auditPartitionCount,
    partitionKeyFields: [],
    retentionMilliseconds,
    writtenByServiceAlone: true,
  };
}

/** What a record tells: that a change begins, how a request ended, or that access was refused. */
export type AuditStage = 'started' | 'finished' | 'refused';

/** What a request is about. */
export interface AuditSubject {
  readonly kind: string;
  /** Null for what has no name, or none yet. */
  readonly name: string | null;
}

/** One record, before it has its place in a chain. */
export interface AuditEntry {
  readonly stage: AuditStage;
  /** The same in both records of a request. */
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly flowId: string;
  readonly who: Pick<Principal, 'name' | 'application' | 'credential'> | null;
  /** The address of the client; null for the refusals of many. */
  readonly from: string | null;
  /** An `operationId` of the API description; null where no operation was meant. */
  readonly operation: string | null;
  readonly subject: AuditSubject | null;
  /** The HTTP status; absent at the start. */
  readonly status?: number;
  /** The definition before and after; absent where there is none to show, null where it does not exist. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly commandId?: string | undefined;
  /** How many loan commands of each type a request published. */
  readonly commandTypes?: Readonly<Record<string, number>> | undefined;
  /** How many refusals a record stands for. */
  readonly count?: number;
}

/** Where a record stands in its chain. */
export interface ChainPlace {
  readonly partition: number;
  readonly sequence: number;
  readonly previousHash: string;
}

/** The JSON of a record. Its text has one form: what reads it and writes it again gets the same. */
export function auditRecordText(
  eid: string,
  entry: AuditEntry,
  { partition, sequence, previousHash }: ChainPlace,
  receivedAt: number,
): string {
  const { stage, requestId, who, from, operation, subject, status, commandId, commandTypes, count } = entry;
  return JSON.stringify({
    metadata: {
      occurred_at: toTimestamp(entry.at),
      published_by: 'lendstream',
      eid,
      event_type: auditEventType,
      partition: String(partition),
      received_at: toTimestamp(receivedAt),
      flow_id: entry.flowId,
      version: schemaVersion,
    },
    sequence,
    previous_hash: previousHash,
    stage,
    request_id: requestId,
    who: who === null ? null : { name: who.name, application: who.application, credential: who.credential.kind },
    from,
    operation,
    subject,
    ...(status === undefined ? {} : { status, outcome: outcomeOf(status) }),
    ...(commandId === undefined ? {} : { command_id: commandId }),
    ...(commandTypes === undefined ? {} : { command_types: commandTypes }),
    ...(count === undefined ? {} : { count }),
    ...(entry.before === undefined ? {} : { before: entry.before }),
    ...(entry.after === undefined ? {} : { after: entry.after }),
  });
}

/** What a status means for the change: done, refused without any change, or failed, and then perhaps done. */
function outcomeOf(status: number): 'done' | 'refused' | 'failed' {
  if (status < 400) return 'done';
  return status < 500 ? 'refused' : 'failed';
}
