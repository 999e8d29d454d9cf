import type { ClientContract } from './types.generated.ts';

/** The JSON that the service sends and takes, in the names of docs/api.md, docs/events.md and docs/lending.md. */

type Schemas = Immutable<ClientContract['schemas']>;

/** Where a stream stands in a partition. An `offset` is a text of the service: keep it, and do not compute with it. */
export type Cursor = Schemas['SubscriptionCursor'];

/** A position without its token: of a stream that has no subscription, or to move a subscription to. */
export interface Position {
  readonly partition: string;
  /** An offset of the service, `BEGIN`, or `TIME:2026-01-31T12:00:00Z`. */
  readonly offset: string;
}

export type StreamParameters = Schemas['StreamParameters'];
export type StreamBatch = Schemas['StreamBatch'];
/** The `info.code` of a stream's last line. */
export type StreamEndCode = NonNullable<NonNullable<StreamBatch['info']>['code']>;
export type SubscriptionDefinition = Schemas['SubscriptionDefinition'];
export type Subscription = Schemas['Subscription'];
export type SubscriptionStatistics = Schemas['SubscriptionStatistics'];
export type EventTypeStatistics = SubscriptionStatistics['items'][number];
export type EventType = Schemas['EventType'];
/** A definition: what is left out has the default of docs/api.md. */
export type EventTypeDefinition = Schemas['EventTypeDefinition'];
export type EventTypeSchema = Schemas['EventTypeSchema'];
export type Partition = Schemas['Partition'];
export type PublishedItem = Schemas['PublishedItems'][number];
export type CommandStatus = Schemas['CommandStatus'];

/** The metadata of an event. Events of the category `undefined` have none. */
export interface EventMetadata {
  /** The event's id, the same in every delivery. */
  readonly eid: string;
  readonly occurred_at: string;
  readonly event_type: string;
  readonly partition: string;
  readonly received_at: string;
  readonly version: string;
  readonly flow_id: string;
  readonly published_by: string;
  readonly partition_compaction_key?: string;
  readonly span_ctx?: Readonly<Record<string, string>>;
}

/** An event of whose fields nothing is known but its metadata. */
export interface AnyEvent {
  readonly metadata?: EventMetadata;
  readonly [field: string]: unknown;
}

type Delivered<Event> = Event extends object ? Omit<Event, 'metadata'> & { readonly metadata: EventMetadata } : Event;

/** The lending events, by event type. Amounts have the type `Numeric`: `String(amount)` has all digits. */
export interface LendingEvents {
  readonly business_day_closed: Delivered<Schemas['BusinessDayClosed']>;
  readonly command_rejected: Delivered<Schemas['CommandRejected']>;
  readonly loan_account_changed: Delivered<Schemas['LoanAccountChanged']>;
  readonly loan_balance_changed: Delivered<Schemas['LoanBalanceChanged']>;
  readonly loan_fee_event: Delivered<Schemas['LoanFeeEvent']>;
  readonly loan_schedule_changed: Delivered<Schemas['LoanScheduleChanged']>;
  readonly loan_state_changed: Delivered<Schemas['LoanStateChanged']>;
  readonly loan_transaction_posted: Delivered<Schemas['LoanTransactionPosted']>;
}

/** One of the lending events; its `metadata.event_type` tells which, and {@link isEventOf} narrows to it. */
export type LendingEvent = LendingEvents[keyof LendingEvents];

/** Whether an event is of this event type. */
export function isEventOf<Name extends keyof LendingEvents>(
  eventType: Name,
  event: { readonly metadata?: { readonly event_type?: string } | undefined },
): event is LendingEvents[Name] {
  return event.metadata?.event_type === eventType;
}

type LoanCommands = Immutable<ClientContract['commands']>;

/** A loan command with its payload: docs/lending.md and the schema have all of their fields. */
export type LoanCommand = {
  [Type in keyof LoanCommands]: LoanCommands[Type] & { readonly type: Type; readonly commandId?: string };
}[keyof LoanCommands];

type Immutable<Value> = Value extends object ? { readonly [Field in keyof Value]: Immutable<Value[Field]> } : Value;
