/* Generated from schemas/ by `npm run generate`. Do not edit. */

import type { Numeric } from './exact-json.ts';

type EventTypeStatistics = {
  event_type: string;
  partitions: {
    partition: string;
    state: 'unassigned' | 'reassigning' | 'assigned';
    /**
     * Before the first stream of the subscription, the events from where it would begin.
     */
    unconsumed_events?: number;
    /**
     * How long ago the first unconsumed event was stored. Only with show_time_lag.
     */
    consumer_lag_seconds?: number;
    /**
     * Only while the next event has failed, for subscriptions with a policy for events that their consumer cannot process.
     */
    failed_deliveries?: {
      /**
       * How many streams in a row ended without the commit of the next event.
       */
      failures: number;
      /**
       * Whether events are sent one by one, to find the one that fails.
       */
      one_by_one: boolean;
    };
    /**
     * Empty when the partition is not assigned.
     */
    stream_id: string;
    /**
     * Absent when the partition is not assigned.
     */
    assignment_type?: 'auto' | 'direct';
  }[];
}[];
/**
 * The outcome for each event of a batch, in the order of the request.
 */
type PublishedItems = {
  publishing_status: 'submitted' | 'failed' | 'aborted';
  detail: string;
  step: 'none' | 'validating' | 'partitioning' | 'enriching' | 'publishing';
  /**
   * Empty when the event has none.
   */
  eid: string;
  partition: string | null;
  /**
   * Only if `item_details` names it: whether sending the event again, as it is, can succeed. True for what the log did not take, also if it is not known whether it did (`timed out`: the event may then be stored twice), and for what was not stored because of another event. False for what is stored and for what breaks a rule.
   */
  retryable?: boolean;
}[];
/**
 * @maxItems 200
 */
type LoanCommandDays = (number | string)[] | null;
/**
 * The channel of the payment, returned with the transaction. Deposit accounts cannot be named: there are none.
 */
type LoanCommandTransactionDetails = {
  transactionChannelId?: string | null;
  transactionChannelKey?: string | null;
  /**
   * Only what means off.
   */
  internalTransfer?: false | 'false' | '' | null;
} | null;
/**
 * The default for an account, and the range that an account may choose from.
 */
type LoanCommandBoundedNumber = {
  /**
   * A number, or a text that is one.
   */
  defaultValue?: Numeric | string | null;
  /**
   * A number, or a text that is one.
   */
  minValue?: Numeric | string | null;
  /**
   * A number, or a text that is one.
   */
  maxValue?: Numeric | string | null;
  /**
   * Accepted, not stored.
   */
  encodedKey?: {
    [k: string]: unknown;
  };
} | null;
/**
 * The default for an account, and the range that an account may choose from.
 */
type LoanCommandBoundedCount = {
  /**
   * A whole number, or a text that is one.
   */
  defaultValue?: number | string | null;
  /**
   * A whole number, or a text that is one.
   */
  minValue?: number | string | null;
  /**
   * A whole number, or a text that is one.
   */
  maxValue?: number | string | null;
  /**
   * Accepted, not stored.
   */
  encodedKey?: {
    [k: string]: unknown;
  };
} | null;
type DeleteProductPayload = {} | null;

/**
 * The JSON that the service and its clients exchange, with exact numbers.
 */
export interface ClientContract {
  schemas: {
    StreamParameters: StreamParameters;
    StreamBatch: StreamBatch;
    SubscriptionDefinition: SubscriptionDefinition;
    Subscription: Subscription;
    SubscriptionCursor: SubscriptionCursor;
    SubscriptionStatistics: SubscriptionStatistics;
    PublishedItems: PublishedItems;
    Partition: Partition;
    EventType: EventType;
    EventTypeDefinition: EventTypeDefinition;
    EventTypeSchema: EventTypeSchema;
    CommandStatus: CommandStatus;
    BusinessDayClosed: BusinessDayClosed;
    CommandRejected: CommandRejected;
    LoanAccountChanged: LoanAccountChanged;
    LoanBalanceChanged: LoanBalanceChanged;
    LoanFeeEvent: LoanFeeEvent;
    LoanScheduleChanged: LoanScheduleChanged;
    LoanStateChanged: LoanStateChanged;
    LoanTransactionPosted: LoanTransactionPosted;
  };
  commands: {
    CREATE_LOAN: {
      loanAccountId: string;
      payload: CreateLoanPayload;
    };
    DELETE_LOAN: {
      loanAccountId: string;
      payload?: DeleteLoanPayload;
    };
    UPDATE_LOAN: {
      loanAccountId: string;
      payload: UpdateLoanPayload;
    };
    CHANGE_STATE: {
      loanAccountId: string;
      payload: ChangeStatePayload;
    };
    DISBURSE: {
      loanAccountId: string;
      payload?: DisbursePayload;
    };
    REPAY: {
      loanAccountId: string;
      payload: RepayPayload;
    };
    APPLY_FEE: {
      loanAccountId: string;
      payload?: ApplyFeePayload;
    };
    APPLY_PENALTY: {
      loanAccountId: string;
      payload: ApplyPenaltyPayload;
    };
    ADJUST_TRANSACTION: {
      loanAccountId: string;
      payload: AdjustTransactionPayload;
    };
    PRINCIPAL_OVERPAYMENT: {
      loanAccountId: string;
      payload: PrincipalOverpaymentPayload;
    };
    UNLOCK: {
      loanAccountId: string;
      payload?: UnlockPayload;
    };
    LOCK: {
      loanAccountId: string;
      payload?: LockPayload;
    };
    UNDO_WRITE_OFF: {
      loanAccountId: string;
      payload?: UndoWriteOffPayload;
    };
    WRITE_OFF: {
      loanAccountId: string;
      payload?: WriteOffPayload;
    };
    REDUCE_PENALTIES: {
      loanAccountId: string;
      payload: ReducePenaltiesPayload;
    };
    REDUCE_FEES: {
      loanAccountId: string;
      payload: ReduceFeesPayload;
    };
    REDUCE_INTEREST: {
      loanAccountId: string;
      payload: ReduceInterestPayload;
    };
    PAY_OFF: {
      loanAccountId: string;
      payload?: PayOffPayload;
    };
    APPLY_INTEREST: {
      loanAccountId: string;
      payload: ApplyInterestPayload;
    };
    START_BUSINESS_DAY: {
      loanAccountId: string;
      payload: StartBusinessDayPayload;
    };
    CREATE_PRODUCT: {
      loanProductId: string;
      payload: LoanProductPayload;
    };
    UPDATE_PRODUCT: {
      loanProductId: string;
      payload: LoanProductPayload;
    };
    PATCH_PRODUCT: {
      loanProductId: string;
      payload: PatchProductPayload;
    };
    DELETE_PRODUCT: {
      loanProductId: string;
      payload?: DeleteProductPayload;
    };
    END_OF_DAY: {
      partition: number;
      payload: EndOfDayPayload;
    };
    REFUND: {
      loanAccountId: string;
      payload: RefundPayload;
    };
    TERMINATE: {
      loanAccountId: string;
      payload: TerminatePayload;
    };
    RECALCULATE_DUE_DATES: {
      loanAccountId: string;
      payload: RecalculateDueDatesPayload;
    };
    ERASE_PERSONAL_DATA: {
      loanAccountId: string;
      payload: ErasePersonalDataPayload;
    };
    RESCHEDULE: {
      loanAccountId: string;
      payload: ReschedulePayload;
    };
    REFINANCE: {
      loanAccountId: string;
      payload: RefinancePayload;
    };
    UNDO_RESCHEDULE: {
      loanAccountId: string;
      payload?: UndoReschedulePayload;
    };
    UNDO_REFINANCE: {
      loanAccountId: string;
      payload?: UndoRefinancePayload;
    };
  };
}
/**
 * The parameters of a stream. Other fields are ignored.
 */
interface StreamParameters {
  /**
   * The most events in a batch.
   */
  batch_limit?: number | null;
  /**
   * Seconds after which an incomplete batch is sent, even an empty one.
   */
  batch_flush_timeout?: number | null;
  /**
   * The most seconds between the publishing times of the events in a batch; 0 for no limit.
   */
  batch_timespan?: number | null;
  /**
   * The most events that may be sent and not committed.
   */
  max_uncommitted_events?: number | null;
  /**
   * The number of events after which the stream ends; 0 for no limit.
   */
  stream_limit?: number | null;
  /**
   * Seconds after which the stream ends, from 1 to 4200; default about an hour.
   */
  stream_timeout?: number | null;
  /**
   * The number of consecutive empty batches on every partition after which the stream ends; 0 for no limit.
   */
  stream_keep_alive_limit?: number | null;
  /**
   * Seconds that events may stay uncommitted; 0 for the default. More than 60 need an annotation of the subscription.
   */
  commit_timeout?: number | null;
  /**
   * Refuses commits of events that this stream was not sent.
   */
  strict_commits?: boolean | null;
  /**
   * Seconds to wait for a slot instead of being refused.
   */
  wait_for_slot?: number | null;
  /**
   * Lets a commit of what is committed already restart the commit timeout.
   */
  commit_heartbeat?: boolean | null;
  /**
   * Delivers only the events that have this value at this place: a JSON Pointer, `=`, and a value. Of several, an event must meet all.
   *
   * @maxItems 10
   */
  filter?: string[] | string | null;
  /**
   * The partitions to read, taken from other streams. By default, the stream gets its share.
   */
  partitions?:
    | {
        event_type: string;
        partition: string | Numeric;
      }[]
    | null;
}
/**
 * One line of a stream: consecutive events of one partition, and the cursor to commit once they are processed. A line without events shows that the stream is alive.
 */
interface StreamBatch {
  cursor: SubscriptionCursor;
  /**
   * They follow the schema of their event type. The schemas of the lending events are part of this description.
   *
   * @minItems 1
   */
  events?: {
    [k: string]: unknown;
  }[];
  info?: StreamBatchInfo;
}
interface SubscriptionCursor {
  partition: string;
  /**
   * The last event that was processed; `001-0001--1` before the first. Treat it as opaque.
   */
  offset: string;
  event_type: string;
  cursor_token: string;
}
interface StreamBatchInfo {
  debug: string;
  /**
   * Why the stream ends; only on its last line.
   */
  code?:
    | 'stream_timeout'
    | 'stream_limit'
    | 'commit_timeout'
    | 'keep_alive_limit'
    | 'cursors_reset'
    | 'repartitioned'
    | 'handover_timeout'
    | 'no_partitions'
    | 'no_free_slots'
    | 'consumption_blocked'
    | 'access_revoked'
    | 'subscription_deleted'
    | 'event_type_deleted'
    | 'session_lost'
    | 'server_shutdown'
    | 'log_error'
    | 'coordination_error';
}
/**
 * A subscription as a client defines it. Other fields are ignored; constants may have any letter case.
 */
interface SubscriptionDefinition {
  owning_application: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types: string[];
  consumer_group?: string;
  read_from?: 'begin' | 'end' | 'cursors';
  /**
   * One for each partition, when read_from is cursors.
   *
   * @maxItems 100
   */
  initial_cursors?:
    | {
        event_type: string | Numeric;
        partition: string | Numeric;
        offset: string | Numeric;
      }[]
    | null;
  /**
   * Stored and returned; permissions are not checked yet.
   */
  authorization?: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    admins: {
      data_type: string;
      value: string;
    }[];
    /**
     * @minItems 1
     * @maxItems 100
     */
    readers: {
      data_type: string;
      value: string;
    }[];
  } | null;
  /**
   * `lendstream/commit-timeout-seconds-maximum` (1 to 3600) replaces the longest `commit_timeout` of its streams. Others that begin with `lendstream/` are refused. Those of Nakadi for events that cannot be processed have their meaning there.
   */
  annotations?: {
    [k: string]: string | null;
  } | null;
  labels?: {
    [k: string]: string | null;
  } | null;
}
/**
 * A consumer group, the event types it reads, and one set of committed cursors.
 */
interface Subscription {
  owning_application: string;
  /**
   * Sorted.
   *
   * @minItems 1
   */
  event_types: string[];
  consumer_group: string;
  read_from: 'begin' | 'end' | 'cursors';
  initial_cursors: {
    event_type: string;
    partition: string;
    offset: string;
  }[];
  authorization: {
    [k: string]: unknown;
  } | null;
  annotations: {
    [k: string]: string | null;
  };
  labels: {
    [k: string]: string;
  };
  /**
   * The id is the same for the same owner, event types and consumer group.
   */
  id: string;
  created_at: string;
  updated_at: string;
  /**
   * In lists, only with show_lag.
   */
  lag?: {
    /**
     * Of all its event types. Null while it is not known.
     */
    unconsumed_events: number | null;
    history?: LagHistory;
  };
  status?: EventTypeStatistics;
}
/**
 * What a subscription lacked in up to an hour, as the process that answers saw it. The 1,000 subscriptions that lacked most have one.
 */
interface LagHistory {
  /**
   * From one value to the next.
   */
  interval_seconds: number;
  /**
   * When the last value was seen; null when there is none.
   */
  last_at: string | null;
  /**
   * The oldest first; null where it was not known. Of intervals longer than 10 seconds, the largest value.
   *
   * @maxItems 360
   */
  unconsumed_events: (number | null)[];
}
/**
 * The assigned stream and the lag of each partition of a subscription.
 */
interface SubscriptionStatistics {
  items: EventTypeStatistics;
}
/**
 * A partition of an event type, and the range of its events that can be read.
 */
interface Partition {
  /**
   * The last event that was processed; `001-0001--1` before the first. Treat it as opaque.
   */
  oldest_available_offset: string;
  /**
   * The offset before that of the next event to be stored.
   */
  newest_available_offset: string;
  partition: string;
  /**
   * The number of events after the requested offset; negative for an offset beyond the end.
   */
  unconsumed_events?: number;
}
/**
 * An event type: its owner, the schema of its events and how they are partitioned.
 */
interface EventType {
  name: string;
  owning_application: string;
  category: 'undefined' | 'data' | 'business';
  enrichment_strategies: 'metadata_enrichment'[];
  partition_strategy: 'hash' | 'user_defined' | 'random';
  partition_key_fields: string[];
  compatibility_mode: 'compatible' | 'forward' | 'none';
  cleanup_policy: 'delete' | 'compact' | 'compact_and_delete';
  schema: EventTypeSchema;
  default_statistic: EventTypeStatistic | null;
  options: {
    /**
     * Milliseconds.
     */
    retention_time: number;
  };
  authorization: {
    [k: string]: unknown;
  } | null;
  annotations: {
    [k: string]: string | null;
  };
  labels: {
    [k: string]: string;
  };
  ordering_key_fields: string[];
  ordering_instance_ids: string[];
  /**
   * Absent when none was set.
   */
  audience?:
    | 'component-internal'
    | 'business-unit-internal'
    | 'company-internal'
    | 'external-partner'
    | 'external-public';
  created_at: string;
  /**
   * In lists, only with show_lag.
   */
  lag?: {
    /**
     * How many partitions it has.
     */
    partitions: number;
    /**
     * How many subscriptions name it, of those that the sender may see.
     */
    subscriptions: number;
    /**
     * What all of them have not committed, added up. Null without subscriptions.
     */
    unconsumed_events: number | null;
  };
  updated_at: string;
}
interface EventTypeSchema {
  type: 'json_schema';
  /**
   * The JSON Schema as text, exactly as sent.
   */
  schema: string;
  version: string;
  created_at: string;
  /**
   * Who put the version in force, as in `published_by` of events. In lists of versions; absent for versions of the service and of earlier releases.
   */
  created_by?: string;
}
interface EventTypeStatistic {
  messages_per_minute: number;
  message_size: number;
  read_parallelism: number;
  write_parallelism: number;
}
/**
 * An event type as a client defines it. Other fields are ignored; constants may have any letter case.
 */
interface EventTypeDefinition {
  /**
   * Must not begin with `lendstream.` in any spelling, or differ from another name only in dots and underscores.
   */
  name: string;
  owning_application: string;
  category: 'undefined' | 'data' | 'business';
  /**
   * `metadata_enrichment` in categories data and business, otherwise empty.
   */
  enrichment_strategies?: 'metadata_enrichment'[] | null;
  partition_strategy?: 'hash' | 'user_defined' | 'random' | null;
  /**
   * Dotted paths; required for strategy hash.
   *
   * @maxItems 20
   */
  partition_key_fields?: string[] | null;
  compatibility_mode?: 'compatible' | 'forward' | 'none' | null;
  cleanup_policy?: 'delete' | 'compact' | 'compact_and_delete' | null;
  schema: {
    type: 'json_schema';
    /**
     * The JSON Schema as text.
     */
    schema: string;
  };
  /**
   * Determines the number of partitions, at most 8; fixed at creation.
   */
  default_statistic?: {
    messages_per_minute?: number;
    message_size?: number;
    read_parallelism?: number;
    write_parallelism?: number;
  } | null;
  options?: {
    /**
     * Milliseconds.
     */
    retention_time?: number | null;
  } | null;
  /**
   * Stored and returned; permissions are not checked yet.
   */
  authorization?: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    admins: {
      data_type: string;
      value: string;
    }[];
    /**
     * @minItems 1
     * @maxItems 100
     */
    readers: {
      data_type: string;
      value: string;
    }[];
    /**
     * @minItems 1
     * @maxItems 100
     */
    writers: {
      data_type: string;
      value: string;
    }[];
  } | null;
  /**
   * `lendstream/deduplication-window-seconds` (60 to 86400) stores an event whose eid is repeated within that time once. Others that begin with `lendstream/` are refused, and all others only stored.
   */
  annotations?: {
    [k: string]: string | null;
  } | null;
  labels?: {
    [k: string]: string | null;
  } | null;
  /**
   * Dotted paths of fields in the schema. Stored and returned.
   *
   * @maxItems 20
   */
  ordering_key_fields?: string[] | null;
  /**
   * Dotted paths of fields in the schema; only with ordering_key_fields. Stored and returned.
   *
   * @maxItems 20
   */
  ordering_instance_ids?: string[] | null;
  audience?:
    | 'component-internal'
    | 'business-unit-internal'
    | 'company-internal'
    | 'external-partner'
    | 'external-public'
    | null;
  /**
   * Not supported.
   */
  event_owner_selector?: null;
}
/**
 * The outcome of a command.
 */
interface CommandStatus {
  commandId: string;
  status: 'PENDING' | 'COMMITTED' | 'REFUSED' | 'FAILED';
  /**
   * Id of a loan account or a product.
   */
  loanAccountId?: string;
  /**
   * Id of a loan account or a product.
   */
  loanProductId?: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey?: string | null;
  errors?: ApiError[];
}
interface ApiError {
  errorCode: number;
  errorReason: string;
  errorSource: string;
  errorMessage?: string;
}
/**
 * The end of a business day is done for all accounts of a partition: every event of that day was published before this one.
 */
interface BusinessDayClosed {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * The partition of accounts.
   */
  partition: number;
  /**
   * The day that was closed.
   */
  businessDate: string;
  /**
   * The business date from then on.
   */
  nextBusinessDate: string;
  causationCommandId: string;
  creationDate: string;
}
/**
 * The rules of lending rejected a command, and it changed nothing. The command is for a loan or, with CREATE_PRODUCT, UPDATE_PRODUCT, PATCH_PRODUCT and DELETE_PRODUCT, for a product.
 */
interface CommandRejected {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId?: string;
  /**
   * Id of a loan account or a product.
   */
  loanProductId?: string;
  causationCommandId: string;
  commandType:
    | 'CREATE_LOAN'
    | 'DELETE_LOAN'
    | 'UPDATE_LOAN'
    | 'CHANGE_STATE'
    | 'DISBURSE'
    | 'REPAY'
    | 'APPLY_FEE'
    | 'APPLY_PENALTY'
    | 'ADJUST_TRANSACTION'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'APPLY_INTEREST'
    | 'START_BUSINESS_DAY'
    | 'PAY_OFF'
    | 'REDUCE_INTEREST'
    | 'REDUCE_FEES'
    | 'REDUCE_PENALTIES'
    | 'WRITE_OFF'
    | 'UNDO_WRITE_OFF'
    | 'LOCK'
    | 'UNLOCK'
    | 'REFUND'
    | 'TERMINATE'
    | 'RECALCULATE_DUE_DATES'
    | 'ERASE_PERSONAL_DATA'
    | 'RESCHEDULE'
    | 'REFINANCE'
    | 'UNDO_RESCHEDULE'
    | 'UNDO_REFINANCE'
    | 'CREATE_PRODUCT'
    | 'UPDATE_PRODUCT'
    | 'END_OF_DAY'
    | 'PATCH_PRODUCT'
    | 'DELETE_PRODUCT';
  creationDate: string;
  toggles: Toggles;
  /**
   * @minItems 1
   */
  errors: ApiError[];
}
/**
 * The toggles under which the event was made.
 */
interface Toggles {
  ALLOW_NON_SCHEDULED_FEES: boolean;
  PRINCIPAL_OVERPAYMENT: boolean;
  fixInstallmentTaxOnPenalty: boolean;
}
/**
 * What the account says of itself changed, and not its money.
 */
interface LoanAccountChanged {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  /**
   * The account with all details, as GET /loans/{id} shows it afterwards.
   */
  account: {
    [k: string]: unknown;
  };
  /**
   * The personal data of the account was erased, that of its transactions too: what a consumer keeps of both must go. Absent in all other events.
   */
  personalDataErased?: true;
}
/**
 * One for each posted transaction: the balances that it changed, and every balance after it. The toggle ALLOW_NON_SCHEDULED_FEES determines the names of the fee balances.
 */
interface LoanBalanceChanged {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  changes: LoanBalanceChangedBalanceChange[];
  balances: LoanBalanceChangedBalances | LoanBalanceChangedBalancesWithNonScheduledFees;
}
interface LoanBalanceChangedBalanceChange {
  type:
    | 'principalDue'
    | 'principalPaid'
    | 'principalBalance'
    | 'interestDue'
    | 'interestPaid'
    | 'interestBalance'
    | 'feesDue'
    | 'feesPaid'
    | 'feesBalance'
    | 'scheduledFeesDue'
    | 'scheduledFeesPaid'
    | 'scheduledFeesBalance'
    | 'nonScheduledFeeBalance'
    | 'nonScheduledFeePaidBalance'
    | 'penaltyDue'
    | 'penaltyPaid'
    | 'penaltyBalance';
  /**
   * Exact, with the digits of the loan's currency.
   */
  amount: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  balanceAfter: Numeric;
  applicationDate: string;
  creationDate: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * Null where no transaction changed the balance, but the start of a business day.
   */
  loanTransactionEncodedKey: string | null;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off. A loan with a fee outside the schedule still shows the amounts owed and paid for it.
 */
interface LoanBalanceChangedBalances {
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance?: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance?: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyBalance: Numeric;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
interface LoanBalanceChangedBalancesWithNonScheduledFees {
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyBalance: Numeric;
}
/**
 * One for each fee that was charged, paid, capitalised or reversed.
 */
interface LoanFeeEvent {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  feeEvent: 'APPLIED' | 'PAID' | 'ADJUSTED' | 'CAPITALISED';
  /**
   * For ADJUSTED: whether a charge or a payment is reversed.
   */
  adjusts?: 'APPLIED' | 'PAID';
  /**
   * An encodedKey.
   */
  feeKey: string;
  /**
   * Null for an arbitrary fee.
   */
  predefinedFeeKey: string | null;
  feeName: string;
  trigger:
    | 'MANUAL'
    | 'DISBURSEMENT'
    | 'CAPITALIZED_DISBURSEMENT'
    | 'UPFRONT_DISBURSEMENT'
    | 'PAYMENT_DUE'
    | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
    | 'LATE_REPAYMENT'
    | 'ARBITRARY';
  /**
   * Tax included; negative for a reversal.
   */
  amount: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  tax: Numeric;
  allocation: 'INSTALLMENT' | 'NO_ALLOCATION';
  /**
   * An encodedKey.
   */
  installmentKey?: string;
  installmentNumber?: number;
  balances: LoanFeeEventFeeBalances | LoanFeeEventFeeBalancesWithNonScheduled;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off. A loan with a fee outside the schedule still shows the amounts owed and paid for it.
 */
interface LoanFeeEventFeeBalances {
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance?: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance?: Numeric;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
interface LoanFeeEventFeeBalancesWithNonScheduled {
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesDue: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesPaid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance: Numeric;
}
/**
 * The complete installments that changed, and the removed ones. All events of a loan together give its schedule.
 */
interface LoanScheduleChanged {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  reason:
    | 'DISBURSED'
    | 'REPAID'
    | 'PREPAYMENT_RECALCULATED'
    | 'FEE_APPLIED'
    | 'PENALTY_APPLIED'
    | 'INTEREST_APPLIED'
    | 'REDUCED'
    | 'WRITTEN_OFF'
    | 'REFUNDED'
    | 'TERMINATED'
    | 'HOLIDAY_CHANGED'
    | 'TRANSFERRED'
    | 'LOCKED'
    | 'UNLOCKED'
    | 'ADJUSTED'
    | 'LATE'
    | 'INTEREST_ACCRUED'
    | 'TOGGLE_SWITCHED';
  /**
   * Counts the schedule events of the loan, from 1.
   */
  scheduleVersion: number;
  changedInstallments: LoanScheduleChangedInstallment[];
  /**
   * Items: An encodedKey.
   */
  removedInstallmentKeys: string[];
  summary: {
    count: number;
    nextDueDate: string | null;
    /**
     * Exact, with the digits of the loan's currency.
     */
    totalDue: Numeric;
  };
}
interface LoanScheduleChangedInstallment {
  /**
   * An encodedKey.
   */
  encodedKey: string;
  /**
   * An encodedKey.
   */
  parentAccountKey: string;
  number: string;
  dueDate: string;
  state: 'PENDING' | 'LATE' | 'PARTIALLY_PAID' | 'PAID' | 'GRACE';
  isPaymentHoliday: boolean;
  lastPaidDate?: string;
  repaidDate?: string;
  lastPenaltyAppliedDate?: string;
  principal: {
    amount: LoanScheduleChangedPortion;
  };
  interest: LoanScheduleChangedTaxedPortion;
  fee: {
    amount: {
      /**
       * Exact, with the digits of the loan's currency.
       */
      expected: Numeric;
      /**
       * Exact, with the digits of the loan's currency.
       */
      paid: Numeric;
      /**
       * Exact, with the digits of the loan's currency.
       */
      due: Numeric;
      /**
       * Exact, with the digits of the loan's currency.
       */
      expectedUnapplied: Numeric;
    };
    tax: LoanScheduleChangedPortion;
  };
  penalty: LoanScheduleChangedTaxedPortion;
  /**
   * Only with the toggle PRINCIPAL_OVERPAYMENT on.
   */
  nonScheduledPrincipalBalanceOverpayment?: Numeric;
}
/**
 * expected = paid + due
 */
interface LoanScheduleChangedPortion {
  /**
   * Exact, with the digits of the loan's currency.
   */
  expected: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  paid: Numeric;
  /**
   * Exact, with the digits of the loan's currency.
   */
  due: Numeric;
}
/**
 * The amount contains the tax.
 */
interface LoanScheduleChangedTaxedPortion {
  amount: LoanScheduleChangedPortion;
  tax: LoanScheduleChangedPortion;
}
/**
 * The account changed its state.
 */
interface LoanStateChanged {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  name:
    | 'loan_created'
    | 'loan_deleted'
    | 'loan_approval_requested'
    | 'loan_set_incomplete'
    | 'loan_approved'
    | 'loan_approval_undone'
    | 'loan_rejected'
    | 'loan_rejection_undone'
    | 'loan_withdrawn'
    | 'loan_withdrawal_undone'
    | 'loan_activated'
    | 'loan_deactivated'
    | 'loan_closed'
    | 'loan_written_off'
    | 'loan_reopened'
    | 'loan_in_arrears'
    | 'loan_out_of_arrears'
    | 'loan_locked'
    | 'loan_unlocked'
    | 'loan_terminated'
    | 'loan_termination_undone'
    | 'loan_rescheduled'
    | 'loan_refinanced';
  accountState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'ACTIVE_IN_ARREARS' | 'CLOSED';
  accountSubState:
    | 'LOCKED'
    | 'LOCKED_CAPPING'
    | 'REPAID'
    | 'REJECTED'
    | 'WITHDRAWN'
    | 'WRITTEN_OFF'
    | 'RESCHEDULED'
    | 'REFINANCED'
    | 'TERMINATED'
    | null;
  previousAccountState:
    | 'PARTIAL_APPLICATION'
    | 'PENDING_APPROVAL'
    | 'APPROVED'
    | 'ACTIVE'
    | 'ACTIVE_IN_ARREARS'
    | 'CLOSED'
    | null;
  previousAccountSubState:
    | 'LOCKED'
    | 'LOCKED_CAPPING'
    | 'REPAID'
    | 'REJECTED'
    | 'WITHDRAWN'
    | 'WRITTEN_OFF'
    | 'RESCHEDULED'
    | 'REFINANCED'
    | 'TERMINATED'
    | null;
}
/**
 * A transaction was posted to the account.
 */
interface LoanTransactionPosted {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  /**
   * Id of a loan account or a product.
   */
  loanAccountId: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: string;
  /**
   * An encodedKey, or null where there is none.
   */
  transactionEncodedKey: string | null;
  transactionType:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  name:
    | 'loan_disbursed'
    | 'loan_repayment'
    | 'loan_fee_applied'
    | 'loan_penalty_applied'
    | 'loan_principal_overpaid'
    | 'loan_disbursement_reversed'
    | 'loan_repayment_reversed'
    | 'loan_fee_reversed'
    | 'loan_penalty_reversed'
    | 'loan_principal_overpayment_reversed'
    | 'loan_interest_applied'
    | 'loan_interest_application_reversed'
    | 'loan_interest_reduced'
    | 'loan_interest_reduction_reversed'
    | 'loan_fees_reduced'
    | 'loan_fee_reduction_reversed'
    | 'loan_penalties_reduced'
    | 'loan_penalty_reduction_reversed'
    | 'loan_write_off'
    | 'loan_write_off_reversed'
    | 'loan_interest_locked'
    | 'loan_interest_unlocked'
    | 'loan_fees_locked'
    | 'loan_fees_unlocked'
    | 'loan_penalties_locked'
    | 'loan_penalties_unlocked'
    | 'loan_refund'
    | 'loan_refund_reversed'
    | 'loan_termination'
    | 'loan_termination_reversed'
    | 'loan_due_dates_changed'
    | 'loan_due_date_change_reversed'
    | 'loan_transfer'
    | 'loan_transfer_reversed';
  transaction: LoanTransactionPostedTransaction;
}
interface LoanTransactionPostedTransaction {
  /**
   * An encodedKey.
   */
  encodedKey: string;
  id: string;
  /**
   * An encodedKey.
   */
  parentAccountKey: string;
  type:
    | 'DISBURSEMENT'
    | 'REPAYMENT'
    | 'FEE_CHARGED'
    | 'PENALTY_APPLIED'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
    | 'INTEREST_APPLIED'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_LOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_LOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT';
  /**
   * Negative for an adjustment.
   */
  amount: Numeric;
  valueDate: string;
  bookingDate: string;
  creationDate: string;
  currency: {
    code: string;
  };
  affectedAmounts: {
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalAmount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestAmount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    feesAmount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    penaltyAmount: Numeric;
    /**
     * Always 0.
     */
    interestFromArrearsAmount?: Numeric;
    /**
     * Always 0.
     */
    deferredInterestAmount?: Numeric;
    /**
     * Always 0.
     */
    paymentHolidaysInterestAmount?: Numeric;
    /**
     * Always 0.
     */
    fundersInterestAmount?: Numeric;
    /**
     * Always 0.
     */
    organizationCommissionAmount?: Numeric;
  };
  taxes: {
    /**
     * Percent.
     */
    taxRate: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnInterestAmount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnFeesAmount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnPenaltyAmount: Numeric;
    /**
     * Always 0.
     */
    taxOnInterestFromArrearsAmount?: Numeric;
    /**
     * Always 0.
     */
    deferredTaxOnInterestAmount?: Numeric;
    /**
     * Always 0.
     */
    taxOnPaymentHolidaysInterest?: Numeric;
  };
  terms: {
    interestSettings: {
      /**
       * Percent.
       */
      interestRate: Numeric;
    };
    periodicPayment?: Numeric;
  };
  /**
   * What the account owed after the transaction.
   */
  accountBalances: {
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalBalance: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    totalBalance: Numeric;
    /**
     * What was paid of installments that were not due yet.
     */
    advancePosition?: Numeric;
    /**
     * What installments that were late still owed.
     */
    arrearsPosition?: Numeric;
    /**
     * Always 0.
     */
    expectedPrincipalRedraw?: Numeric;
    /**
     * Always 0.
     */
    redrawBalance?: Numeric;
  };
  fees: {
    /**
     * Empty for an arbitrary fee.
     */
    predefinedFeeKey: string;
    name: string;
    trigger:
      | 'MANUAL'
      | 'DISBURSEMENT'
      | 'CAPITALIZED_DISBURSEMENT'
      | 'UPFRONT_DISBURSEMENT'
      | 'PAYMENT_DUE'
      | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
      | 'LATE_REPAYMENT'
      | 'ARBITRARY';
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: Numeric;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxAmount: Numeric;
  }[];
  customPaymentAmounts: {
    customPaymentAmountType:
      | 'PRINCIPAL'
      | 'INTEREST'
      | 'MANUAL_FEE'
      | 'UPFRONT_DISBURSEMENT_FEE'
      | 'PAYMENT_DUE_FEE'
      | 'LATE_REPAYMENT_FEE'
      | 'PENALTY'
      | 'NON_SCHEDULED_FEE';
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: Numeric;
    predefinedFeeKey?: string;
  }[];
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  /**
   * An encodedKey.
   */
  installmentEncodedKey?: string;
  /**
   * No two transactions have the same one, unless one of them was adjusted.
   */
  externalId?: string;
  /**
   * Who posted it: see GET /users. Absent when the end of a day did.
   */
  userKey?: string;
  notes?: string;
  /**
   * The channel of the payment, as the command named it; empty where it named none.
   */
  transactionDetails: {
    transactionChannelId?: string;
    transactionChannelKey?: string;
    internalTransfer?: boolean;
  };
  /**
   * An encodedKey.
   */
  adjustmentTransactionKey?: string;
  /**
   * An encodedKey.
   */
  originalTransactionKey?: string;
  /**
   * The branch of the account when the transaction was posted.
   */
  branchKey?: string;
  centreKey?: string;
  originalCurrencyCode?: string;
  /**
   * Always empty: no money moves between accounts here.
   */
  transferDetails: {};
  shiftAdjustableInterestPeriods?: boolean;
  feeCapitalisation?: boolean;
  principalOverpaymentAmount?: Numeric;
  /**
   * Of a refund: the disbursement that it takes back.
   */
  parentLoanTransactionKey?: string;
}
interface CreateLoanPayload {
  id?: string | null;
  loanName?: string | null;
  accountHolderKey?: string | null;
  accountHolderType?: 'CLIENT' | 'GROUP' | '' | null;
  /**
   * encodedKey or id of the product.
   */
  productTypeKey: string;
  /**
   * A number, or a text that is one.
   */
  loanAmount: Numeric | string;
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  encodedKey?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  accountState?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  accountSubState?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  accruedInterest?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  accruedPenalty?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  activationTransactionKey?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  approvedDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  balances?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  closedDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  creationDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  daysInArrears?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  daysLate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  futurePayments?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  interestAccruedInBillingCycle?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  interestFromArrearsAccrued?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastAccountAppraisalDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastInterestAppliedDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastInterestReviewDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastLockedDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastModifiedDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastSetToArrearsDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lastTaxRateReviewDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  lockedOperations?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  originalAccountKey?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  paymentHolidaysAccruedInterest?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  rescheduledAccountKey?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored: responses contain it, and clients may send it back.
   */
  terminationDate?: {
    [k: string]: unknown;
  };
  /**
   * The same as of the product.
   */
  allowOffset?: string | null | Numeric | boolean;
  /**
   * The same as of the product.
   */
  futurePaymentsAcceptance?: string | null | Numeric | boolean;
  /**
   * The same as of the product.
   */
  latePaymentsRecalculationMethod?: string | null | Numeric | boolean;
  /**
   * The same as of the product.
   */
  modifyInterestForFirstInstallment?: string | null | Numeric | boolean;
  /**
   * The same as of the product.
   */
  paymentMethod?: string | null | Numeric | boolean;
  /**
   * The same as of the product.
   */
  taxRate?: string | null | Numeric | boolean;
  assignedBranchKey?: string | null;
  assignedCentreKey?: string | null;
  assignedUserKey?: string | null;
  migrationEventKey?: string | null;
  /**
   * Only what means off.
   */
  adjustTotalDueForInstallmentsWithDifferentInterval?: false | 'false' | '' | null;
  /**
   * Days for which late installments are tolerated; by default the days of the product.
   */
  arrearsTolerancePeriod?: number | string | null;
  /**
   * Only what means none.
   */
  interestCommission?: 0 | '0' | '' | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  feesSettings?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  fundingSources?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  plannedInstallmentFees?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  tranches?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  redrawSettings?: {
    /**
     * Only what means off.
     */
    restrictNextDueWithdrawal?: false | 'false' | '' | null;
  } | null;
  principalPaymentSettings?: {
    /**
     * Only what means off.
     */
    includeFeesInFloorAmount?: false | 'false' | '' | null;
    /**
     * Only what means off.
     */
    includeInterestInFloorAmount?: false | 'false' | '' | null;
  } | null;
  interestSettings?: {
    /**
     * The same as of the product.
     */
    accrueInterestAfterMaturity?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    accrueLateInterest?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestApplicationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestBalanceCalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestCalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestChargeFrequency?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestRateSource?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    interestType?: string | null | Numeric | boolean;
    /**
     * A number, or a text that is one.
     */
    interestRate?: Numeric | string | null;
    /**
     * Accepted, not stored: responses contain it, and clients may send it back.
     */
    effectiveInterestRate?: {
      [k: string]: unknown;
    };
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    accountInterestRateSettings?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    pmtAdjustmentThreshold?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    /**
     * Only what means none.
     */
    interestRateReviewCount?: 0 | '0' | '' | null;
    /**
     * Only what means none.
     */
    interestSpread?: 0 | '0' | '' | null;
  } | null;
  scheduleSettings?: {
    /**
     * A whole number, or a text that is one.
     */
    repaymentInstallments?: number | string | null;
    /**
     * A whole number, or a text that is one.
     */
    repaymentPeriodCount?: number | string | null;
    /**
     * A whole number, or a text that is one.
     */
    gracePeriod?: number | string | null;
    /**
     * A whole number, or a text that is one.
     */
    principalRepaymentInterval?: number | string | null;
    /**
     * A whole number, or a text that is one.
     */
    defaultFirstRepaymentDueDateOffset?: number | string | null;
    fixedDaysOfMonth?: LoanCommandDays;
    repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | '' | null;
    /**
     * The same as of the product.
     */
    gracePeriodType?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    repaymentScheduleMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    scheduleDueDatesMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    shortMonthHandlingMethod?: string | null | Numeric | boolean;
    /**
     * Accepted, not stored: responses contain it, and clients may send it back.
     */
    hasCustomSchedule?: {
      [k: string]: unknown;
    };
    /**
     * Only what means none.
     */
    amortizationPeriod?: 0 | '0' | '' | null;
    /**
     * Only what means none.
     */
    periodicPayment?: 0 | '0' | '' | null;
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    billingCycle?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    paymentPlan?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    previewSchedule?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
  } | null;
  disbursementDetails?: {
    /**
     * A calendar day. Of an instant, the day as its sender wrote it.
     */
    expectedDisbursementDate?: string | null;
    /**
     * A calendar day. Of an instant, the day as its sender wrote it.
     */
    firstRepaymentDate?: string | null;
    /**
     * Accepted, not stored: responses contain it, and clients may send it back.
     */
    disbursementDate?: {
      [k: string]: unknown;
    };
    /**
     * Accepted, not stored: responses contain it, and clients may send it back.
     */
    encodedKey?: {
      [k: string]: unknown;
    };
    /**
     * Optional fees of the product that the disbursement charges.
     *
     * @maxItems 200
     */
    fees?:
      | {
          /**
           * The encodedKey or id of the fee.
           */
          predefinedFeeEncodedKey: string;
          /**
           * A number, or a text that is one.
           */
          amount?: Numeric | string | null;
          /**
           * Of a fee whose percentage the product leaves open.
           */
          percentage?: Numeric | string | null;
          /**
           * Accepted, not stored: responses contain it, and clients may send it back.
           */
          encodedKey?: {
            [k: string]: unknown;
          };
        }[]
      | null;
    transactionDetails?: {
      /**
       * Accepted, not stored: responses contain it, and clients may send it back.
       */
      encodedKey?: {
        [k: string]: unknown;
      };
      transactionChannelId?: string | null;
      transactionChannelKey?: string | null;
      /**
       * Only what means off.
       */
      internalTransfer?: false | 'false' | '' | null;
    } | null;
  } | null;
  penaltySettings?: {
    /**
     * The same as of the product.
     */
    loanPenaltyCalculationMethod?: string | null | Numeric | boolean;
    /**
     * A number, or a text that is one.
     */
    penaltyRate?: Numeric | string | null;
  } | null;
  currency?: {
    /**
     * The same as of the product.
     */
    code?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    currencyCode?: string | null | Numeric | boolean;
  } | null;
  prepaymentSettings?: {
    /**
     * The same as of the product.
     */
    applyInterestOnPrepaymentMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    elementsRecalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    prepaymentRecalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    principalPaidInstallmentStatus?: string | null | Numeric | boolean;
  } | null;
  accountArrearsSettings?: {
    /**
     * The same as of the product.
     */
    dateCalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    monthlyToleranceDay?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    nonWorkingDaysMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    toleranceCalculationMethod?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    toleranceFloorAmount?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    tolerancePercentageOfOutstandingPrincipal?: string | null | Numeric | boolean;
    /**
     * The same as of the product.
     */
    tolerancePeriod?: string | null | Numeric | boolean;
    /**
     * Accepted, not stored: responses contain it, and clients may send it back.
     */
    encodedKey?: {
      [k: string]: unknown;
    };
  } | null;
  /**
   * Kept and given back, where the product allows them.
   *
   * @maxItems 200
   */
  assets?:
    | {
        assetName: string;
        depositAccountKey?: string | null;
        encodedKey?: string | null;
        guarantorKey?: string | null;
        guarantorType?: 'CLIENT' | 'GROUP' | '' | null;
        /**
         * A number, or a text that is one.
         */
        amount: Numeric | string;
        /**
         * A number, or a text that is one.
         */
        originalAmount?: Numeric | string | null;
        originalCurrency?: {
          code?: string | null;
          currencyCode?: string | null;
        } | null;
      }[]
    | null;
  /**
   * Kept and given back, where the product allows them.
   *
   * @maxItems 200
   */
  guarantors?:
    | {
        assetName?: string | null;
        depositAccountKey?: string | null;
        encodedKey?: string | null;
        guarantorKey: string;
        guarantorType: 'CLIENT' | 'GROUP';
        /**
         * A number, or a text that is one.
         */
        amount: Numeric | string;
      }[]
    | null;
  notes?: string | null;
}
interface DeleteLoanPayload {}
/**
 * Either operations, a JSON Patch of the account as GET shows it with all details, or its whole new body.
 */
interface UpdateLoanPayload {
  /**
   * @minItems 1
   * @maxItems 200
   */
  operations?: {
    op: 'ADD' | 'REPLACE' | 'REMOVE' | 'MOVE' | 'add' | 'replace' | 'remove' | 'move';
    /**
     * The path of a field, with or without a slash in front.
     */
    path: string;
    /**
     * What ADD and REPLACE set.
     */
    value?: {
      [k: string]: unknown;
    };
    /**
     * The path that MOVE takes the value from.
     */
    from?: string | null;
  }[];
  account?: CreateLoanPayload;
}
interface ChangeStatePayload {
  action:
    | 'REQUEST_APPROVAL'
    | 'SET_INCOMPLETE'
    | 'APPROVE'
    | 'UNDO_APPROVE'
    | 'REJECT'
    | 'UNDO_REJECT'
    | 'WITHDRAW'
    | 'UNDO_WITHDRAW'
    | 'CLOSE'
    | 'UNDO_CLOSE';
  notes?: string | null;
}
interface DisbursePayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  firstRepaymentDate?: string | null;
  /**
   * @maxItems 200
   */
  fees?:
    | {
        predefinedFeeKey: string;
        /**
         * A number, or a text that is one.
         */
        amount?: Numeric | string | null;
        /**
         * A number, or a text that is one.
         */
        percentage?: Numeric | string | null;
        /**
         * Accepted, not stored: responses contain it, and clients may send it back.
         */
        encodedKey?: {
          [k: string]: unknown;
        };
      }[]
    | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
  /**
   * The amount of the loan, if given.
   */
  amount?: Numeric | string | null;
  /**
   * Only what means off.
   */
  shiftAdjustableInterestPeriods?: false | 'false' | '' | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  transferDetails?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
}
interface RepayPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * @maxItems 200
   */
  customPaymentAmounts?:
    | {
        customPaymentAmountType:
          | 'PRINCIPAL'
          | 'INTEREST'
          | 'MANUAL_FEE'
          | 'UPFRONT_DISBURSEMENT_FEE'
          | 'PAYMENT_DUE_FEE'
          | 'LATE_REPAYMENT_FEE'
          | 'PENALTY'
          | 'NON_SCHEDULED_FEE';
        /**
         * A number, or a text that is one.
         */
        amount: Numeric | string;
        predefinedFeeKey?: string | null;
      }[]
    | null;
  /**
   * An encodedKey, or null where there is none.
   */
  installmentEncodedKey?: string | null;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | ''
    | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
  /**
   * Only what means none.
   */
  principalOverpaymentAmount?: 0 | '0' | '' | null;
}
interface ApplyFeePayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  predefinedFeeKey?: string | null;
  /**
   * A number, or a text that is one.
   */
  amount?: Numeric | string | null;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
  /**
   * Only what means off.
   */
  feeCapitalisation?: false | 'false' | '' | null;
}
interface ApplyPenaltyPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
interface AdjustTransactionPayload {
  /**
   * encodedKey or id of the transaction to undo.
   */
  transactionId: string;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  notes?: string | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  installments?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
}
interface PrincipalOverpaymentPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | ''
    | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
interface UnlockPayload {
  notes?: string | null;
}
interface LockPayload {
  /**
   * What is locked; all of it when it is absent or empty.
   */
  lockedOperations?: ('APPLY_INTEREST' | 'APPLY_FEES' | 'APPLY_PENALTIES')[] | null;
  /**
   * A locked account shows all that it owes.
   */
  lockedAccountTotalDueType?: 'BALANCE_AMOUNT' | null;
  notes?: string | null;
}
interface UndoWriteOffPayload {
  notes?: string | null;
}
interface WriteOffPayload {
  notes?: string | null;
}
interface ReducePenaltiesPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
interface ReduceFeesPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
interface ReduceInterestPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
interface PayOffPayload {
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * How much is paid of what is owed. The rest of it is forgiven. What is absent is paid in full.
   */
  payOffAdjustableAmounts?: {
    /**
     * A number, or a text that is one.
     */
    interestPaid?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    feesPaid?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    penaltyPaid?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    nonScheduledFeeAmount?: Numeric | string | null;
    interestFromArrearsPaid?: 0 | null;
    interestBearingFeeAmount?: 0 | null;
    interestBearingFeeInterestAmount?: 0 | null;
    carriedForwardPrincipalInArrearsAmount?: 0 | null;
    carriedForwardInterestAmount?: 0 | null;
    carriedForwardInterestFromArrearsAmount?: 0 | null;
  } | null;
}
interface ApplyInterestPayload {
  /**
   * The day up to which interest is applied.
   */
  interestApplicationDate: string;
  /**
   * There are no payment holidays.
   */
  isPaymentHolidaysInterest?: false | null;
  paymentHolidaysInterestAmount?: 0 | null;
  /**
   * No interest is kept apart for arrears.
   */
  isInterestFromArrears?: false | null;
  notes?: string | null;
}
interface StartBusinessDayPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  businessDate: string;
}
/**
 * All that a product is. A setting that no rule reads is stored and given back while it means "off"; any other value of it is rejected.
 */
interface LoanProductPayload {
  /**
   * An encodedKey, or null where there is none.
   */
  encodedKey?: string | null;
  id?: string | null;
  name: string;
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN';
  state?: 'ACTIVE' | 'INACTIVE' | '' | null;
  notes?: string | null;
  /**
   * Accepted, not stored.
   */
  creationDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not stored.
   */
  lastModifiedDate?: {
    [k: string]: unknown;
  };
  currency: {
    code: string;
    /**
     * The same code, if given.
     */
    currencyCode?: string | null;
    /**
     * The digits of the currency, if given: EUR 2, JPY 0, JOD 3, BTC 8.
     */
    digits?: number | null;
  };
  loanAmountSettings?: {
    loanAmount?: LoanCommandBoundedNumber;
    trancheSettings?: {
      maxNumberOfTranches?: 1 | '1' | '' | null;
    } | null;
  } | null;
  interestSettings?: {
    interestRate?: LoanCommandBoundedNumber;
    interestChargeFrequency?:
      | 'ANNUALIZED'
      | 'EVERY_MONTH'
      | 'EVERY_FOUR_WEEKS'
      | 'EVERY_WEEK'
      | 'EVERY_DAY'
      | 'EVERY_X_DAYS'
      | ''
      | null;
    /**
     * A whole number, or a text that is one.
     */
    interestChargeFrequencyCount?: number | string | null;
    interestType?: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST' | '' | null;
    interestCalculationMethod?: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED' | '' | null;
    daysInYear?:
      | 'ACTUAL_365_FIXED'
      | 'ACTUAL_364'
      | 'ACTUAL_360'
      | 'ACTUAL_ACTUAL_ISDA'
      | 'E30_360'
      | 'E30_42_365'
      | ''
      | null;
    scheduleInterestDaysCountMethod?: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT' | '' | null;
    /**
     * Level payments: those of rows due within these days are not computed again.
     */
    pmtAdjustmentThreshold?: {
      method?: 'CALENDAR_DAYS' | '' | null;
      /**
       * A whole number, or a text that is one.
       */
      numberOfDays?: number | string | null;
    } | null;
    /**
     * A boolean, or a text that is one.
     */
    accrueLateInterest?: true | false | 'true' | 'false' | '' | null;
    indexRateSettings?: {
      interestRate?: LoanCommandBoundedNumber;
      interestChargeFrequency?:
        | 'ANNUALIZED'
        | 'EVERY_MONTH'
        | 'EVERY_FOUR_WEEKS'
        | 'EVERY_WEEK'
        | 'EVERY_DAY'
        | 'EVERY_X_DAYS'
        | ''
        | null;
      /**
       * A whole number, or a text that is one.
       */
      interestChargeFrequencyCount?: number | string | null;
      /**
       * Accepted, not stored.
       */
      encodedKey?: {
        [k: string]: unknown;
      };
      interestRateSource?: 'FIXED_INTEREST_RATE' | '' | null;
      interestRateTerms?: 'FIXED' | '' | null;
      /**
       * @maxItems 0
       */
      interestRateTiers?: unknown[] | null;
      /**
       * A boolean, or a text that is one.
       */
      accrueInterestAfterMaturity?: true | false | 'true' | 'false' | '' | null;
      allowNegativeInterestRate?: false | 'false' | '' | null;
    } | null;
    /**
     * @maxItems 0
     */
    interestRateSettings?: unknown[] | null;
    decoupleInterestFromArrears?: false | 'false' | '' | null;
    compoundingFrequency?: 'DAILY' | '' | null;
    interestBalanceCalculationMethod?: 'ONLY_PRINCIPAL' | '' | null;
    interestApplicationMethod?: 'AFTER_DISBURSEMENT' | 'REPAYMENT_DUE_DATE' | '' | null;
  } | null;
  scheduleSettings?: {
    scheduleDueDatesMethod?: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH' | '' | null;
    repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | '' | null;
    /**
     * A whole number, or a text that is one.
     */
    defaultRepaymentPeriodCount?: number | string | null;
    fixedDaysOfMonth?: LoanCommandDays;
    shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH' | '' | null;
    numInstallments?: LoanCommandBoundedCount;
    firstRepaymentDueDateOffset?: LoanCommandBoundedCount;
    /**
     * A whole number, or a text that is one.
     */
    defaultPrincipalRepaymentInterval?: number | string | null;
    roundingSettings?: {
      roundingMode?: 'HALF_UP' | 'HALF_EVEN' | '' | null;
      repaymentCurrencyRounding?:
        | 'NO_ROUNDING'
        | 'ROUND_TO_NEAREST_WHOLE_UNIT'
        | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT'
        | ''
        | null;
      repaymentElementsRoundingMethod?: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE' | '' | null;
      roundingRepaymentScheduleMethod?:
        | 'NO_ROUNDING'
        | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
        | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT'
        | ''
        | null;
    } | null;
    repaymentScheduleMethod?: 'FIXED' | 'DYNAMIC' | '' | null;
    /**
     * Where a due date goes that falls on a non-working day or a holiday of the organization.
     */
    repaymentReschedulingMethod?: 'NONE' | 'NEXT_WORKING_DAY' | 'PREVIOUS_WORKING_DAY' | 'EXTEND_SCHEDULE' | '' | null;
    repaymentMethod?: 'INSTALLMENTS' | '' | null;
    interestAccrualSince?: 'DISBURSEMENT' | '' | null;
    keepInstallmentsEqualIfLongFirstPeriod?: false | 'false' | '' | null;
    amortizationPeriod?: {} | null;
    billingCycles?: {
      enabled?: false | 'false' | '' | null;
      /**
       * @maxItems 0
       */
      startDays?: unknown[] | null;
    } | null;
    previewSchedule?: {
      previewScheduleEnabled?: false | 'false' | '' | null;
      /**
       * Given back as it was sent.
       */
      numberOfPreviewedInstalments?: {
        [k: string]: unknown;
      };
    } | null;
    repaymentScheduleEditOptions?:
      | (
          | 'ADJUST_PAYMENT_DATES'
          | 'ADJUST_PRINCIPAL_PAYMENT_SCHEDULE'
          | 'ADJUST_INTEREST_PAYMENT_SCHEDULE'
          | 'ADJUST_FEE_PAYMENT_SCHEDULE'
          | 'ADJUST_PENALTY_PAYMENT_SCHEDULE'
          | 'ADJUST_NUMBER_OF_INSTALLMENTS'
          | 'ADJUST_PAYMENT_HOLIDAYS'
        )[]
      | null;
    scheduleEditOptionDetails?: {
      paymentHolidaysSettings?: {
        paymentHolidaysLoanTermOption?: 'EXTEND_LOAN_TERM' | 'KEEP_THE_SAME_LOAN_TERM' | '' | null;
      } | null;
    } | null;
  } | null;
  gracePeriodSettings?: {
    gracePeriodType?: 'NONE' | 'PAY_INTEREST_ONLY' | '' | null;
    gracePeriod?: LoanCommandBoundedCount;
  } | null;
  paymentSettings?: {
    amortizationMethod?: 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS' | '' | null;
    paymentMethod?: 'HORIZONTAL' | 'VERTICAL' | '' | null;
    /**
     * @minItems 4
     * @maxItems 4
     */
    repaymentAllocationOrder?: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[] | null;
    prepaymentSettings?: {
      prepaymentAcceptance?: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS' | '' | null;
      elementsRecalculationMethod?: 'PRINCIPAL_EXPECTED_FIXED' | 'TOTAL_EXPECTED_FIXED' | '' | null;
      applyInterestOnPrepaymentMethod?: 'AUTOMATIC' | 'MANUAL' | '' | null;
      principalPaidInstallmentStatus?: 'PARTIALLY_PAID' | 'PAID' | '' | null;
      prepaymentRecalculationMethod?:
        | 'NO_RECALCULATION'
        | 'RESCHEDULE_REMAINING_REPAYMENTS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
        | 'REDUCE_AMOUNT_PER_INSTALLMENT'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
        | ''
        | null;
      futurePaymentsAcceptance?: 'NO_FUTURE_PAYMENTS' | 'ACCEPT_FUTURE_PAYMENTS' | 'ACCEPT_OVERPAYMENTS' | '' | null;
      ercFreeAllowance?: 0 | '0' | '' | null;
    } | null;
    principalPaymentSettings?: {
      /**
       * A whole number, or a text that is one.
       */
      defaultPrincipalRepaymentInterval?: number | string | null;
      /**
       * Accepted, not stored.
       */
      encodedKey?: {
        [k: string]: unknown;
      };
      amount?: {} | null;
      percentage?: {} | null;
      includeFeesInFloorAmount?: false | 'false' | '' | null;
      includeInterestInFloorAmount?: false | 'false' | '' | null;
    } | null;
    latePaymentsRecalculationMethod?:
      | 'OVERDUE_INSTALLMENTS_INCREASE'
      | 'LAST_INSTALLMENT_INCREASE'
      | 'NO_RECALCULATION'
      | ''
      | null;
  } | null;
  feesSettings?: {
    /**
     * A boolean, or a text that is one.
     */
    allowArbitraryFees?: true | false | 'true' | 'false' | '' | null;
    /**
     * @maxItems 200
     */
    fees?:
      | {
          /**
           * An encodedKey, or null where there is none.
           */
          encodedKey?: string | null;
          id?: string | null;
          name: string;
          trigger:
            | 'MANUAL'
            | 'DISBURSEMENT'
            | 'CAPITALIZED_DISBURSEMENT'
            | 'UPFRONT_DISBURSEMENT'
            | 'PAYMENT_DUE'
            | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
            | 'LATE_REPAYMENT'
            | 'ARBITRARY';
          amountCalculationMethod?:
            | 'FLAT'
            | 'LOAN_AMOUNT_PERCENTAGE'
            | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
            | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
            | 'FLAT_NUMBER_OF_INSTALLMENTS'
            | ''
            | null;
          /**
           * A number, or a text that is one.
           */
          amount?: Numeric | string | null;
          /**
           * A number, or a text that is one.
           */
          percentageAmount?: Numeric | string | null;
          feeApplication?: 'REQUIRED' | 'OPTIONAL' | '' | null;
          state?: 'ACTIVE' | 'INACTIVE' | '' | null;
          allocation?: 'INSTALLMENT' | 'NO_ALLOCATION' | '' | null;
          interestBearing?: false | 'false' | '' | null;
          /**
           * @maxItems 0
           */
          accountingRules?: unknown[] | null;
          amortizationSettings?: {
            amortizationProfile?: 'NONE' | '' | null;
            /**
             * Accepted, not stored.
             */
            encodedKey?: {
              [k: string]: unknown;
            };
          } | null;
          taxSettings?: {
            taxableCalculationMethod?: 'DEFAULT' | 'NON_TAXABLE' | 'CUSTOM_TAX' | '' | null;
          } | null;
          scheduleAllocationMethod?: 'ON_INSTALLMENT' | 'NO_ALLOCATION' | '' | null;
          /**
           * Accepted, not stored.
           */
          creationDate?: {
            [k: string]: unknown;
          };
          /**
           * Accepted, not stored.
           */
          lastModifiedDate?: {
            [k: string]: unknown;
          };
        }[]
      | null;
  } | null;
  taxSettings?: {
    /**
     * A number, or a text that is one.
     */
    taxRate?: Numeric | string | null;
    taxCalculationMethod?: 'INCLUSIVE' | 'EXCLUSIVE' | '' | null;
    /**
     * A boolean, or a text that is one.
     */
    taxesOnInterestEnabled?: true | false | 'true' | 'false' | '' | null;
    /**
     * A boolean, or a text that is one.
     */
    taxesOnFeesEnabled?: true | false | 'true' | 'false' | '' | null;
    /**
     * A boolean, or a text that is one.
     */
    taxesOnPenaltyEnabled?: true | false | 'true' | 'false' | '' | null;
    taxSourceKey?: string | null;
  } | null;
  newAccountSettings?: {
    accountInitialState?: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | '' | null;
    idGeneratorType?: 'INCREMENTAL_NUMBER' | 'RANDOM_PATTERN' | '' | null;
    /**
     * The form of ids that the service chooses: @ is a letter, # a digit, $ either, and any other character itself.
     */
    idPattern?: string | null;
  } | null;
  /**
   * Whether the first level payment includes the interest difference of a first period of irregular length.
   */
  adjustInterestForFirstInstallment?: true | false | 'true' | 'false' | '' | null;
  /**
   * A boolean, or a text that is one.
   */
  allowCustomRepaymentAllocation?: true | false | 'true' | 'false' | '' | null;
  /**
   * Not stored. A change that has it is rejected when the product has another version by then.
   */
  version?: Numeric | null;
  category?:
    | 'PERSONAL_LENDING'
    | 'PURCHASE_FINANCING'
    | 'RETAIL_MORTGAGES'
    | 'SME_LENDING'
    | 'COMMERCIAL'
    | 'UNCATEGORIZED'
    | ''
    | null;
  /**
   * Given back as they were sent.
   */
  templates?: {
    [k: string]: unknown;
  };
  adjustTotalDueForInstallmentsWithDifferentInterval?: false | 'false' | '' | null;
  useFeeIncludedInPMT?: false | 'false' | '' | null;
  accountingSettings?: {
    accountingMethod?: 'NONE' | '' | null;
    /**
     * @maxItems 0
     */
    accountingRules?: unknown[] | null;
    interestAccrualCalculation?: 'NONE' | '' | null;
    interestAccruedAccountingMethod?: 'NONE' | '' | null;
  } | null;
  accountLinkSettings?: {
    enabled?: false | 'false' | '' | null;
    linkableDepositProductKey?: string | null;
    linkedAccountOptions?: ('AUTO_LINK_ACCOUNTS' | 'AUTO_CREATE_LINKED_ACCOUNTS')[] | null;
    settlementMethod?: 'FULL_DUE_AMOUNTS' | 'PARTIAL_DUE_AMOUNTS' | 'NO_AUTOMATED_TRANSFERS' | '' | null;
  } | null;
  availabilitySettings?: {
    availableFor?: ('INDIVIDUALS' | 'PURE_GROUPS' | 'SOLIDARITY_GROUPS')[] | null;
    branchSettings?: {
      /**
       * A boolean, or a text that is one.
       */
      forAllBranches?: true | false | 'true' | 'false' | '' | null;
      availableProductBranches?: string[] | null;
    } | null;
  } | null;
  creditArrangementSettings?: {
    creditArrangementRequirement?: 'OPTIONAL' | 'NOT_REQUIRED' | '' | null;
  } | null;
  fundingSettings?: {
    enabled?: false | 'false' | '' | null;
    funderInterestCommission?: {} | null;
    funderInterestCommissionAllocationType?: 'PERCENTAGE_OF_LOAN_FUNDING' | 'FIXED_INTEREST_COMMISSIONS' | '' | null;
    /**
     * A boolean, or a text that is one.
     */
    lockFundsAtApproval?: true | false | 'true' | 'false' | '' | null;
    organizationInterestCommission?: {} | null;
    requiredFunds?: 0 | '0' | '' | null;
  } | null;
  internalControls?: {
    /**
     * A whole number, or a text that is one.
     */
    dormancyPeriodDays?: number | string | null;
    fourEyesPrinciple?: {
      activeForLoanApproval?: false | 'false' | '' | null;
    } | null;
    /**
     * When the end of a day locks accounts in arrears. The three settings of the cap come together.
     */
    lockSettings?: {
      cappingConstraintType?: 'SOFT_CAP' | 'HARD_CAP' | '' | null;
      cappingMethod?: 'OUTSTANDING_PRINCIPAL_PERCENTAGE' | 'ORIGINAL_PRINCIPAL_PERCENTAGE' | '' | null;
      /**
       * A number, or a text that is one.
       */
      cappingPercentage?: Numeric | string | null;
      /**
       * A whole number, or a text that is one.
       */
      lockPeriodDays?: number | string | null;
    } | null;
  } | null;
  offsetSettings?: {
    allowOffset?: false | 'false' | '' | null;
  } | null;
  redrawSettings?: {
    allowRedraw?: false | 'false' | '' | null;
  } | null;
  securitySettings?: {
    isCollateralEnabled?: false | 'false' | '' | null;
    isGuarantorsEnabled?: false | 'false' | '' | null;
    requiredGuaranties?: 0 | '0' | '' | null;
  } | null;
  arrearsSettings?: {
    toleranceCalculationMethod?: 'ARREARS_TOLERANCE_PERIOD' | 'MONTHLY_ARREARS_TOLERANCE_DAY' | '' | null;
    tolerancePeriod?: LoanCommandBoundedCount;
    /**
     * A whole number, or a text that is one.
     */
    monthlyToleranceDay?: number | string | null;
    tolerancePercentageOfOutstandingPrincipal?: LoanCommandBoundedNumber;
    /**
     * A number, or a text that is one.
     */
    toleranceFloorAmount?: Numeric | string | null;
    /**
     * Whether non-working days and holidays of the organization count as tolerated days and as days in arrears.
     */
    nonWorkingDaysMethod?: 'INCLUDED' | 'EXCLUDED' | '' | null;
    dateCalculationMethod?:
      | 'ACCOUNT_FIRST_WENT_TO_ARREARS'
      | 'LAST_LATE_REPAYMENT'
      | 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD'
      | ''
      | null;
    /**
     * Accepted, not stored.
     */
    encodedKey?: {
      [k: string]: unknown;
    };
  } | null;
  penaltySettings?: {
    loanPenaltyCalculationMethod?:
      | 'NONE'
      | 'OVERDUE_BALANCE'
      | 'OVERDUE_BALANCE_AND_INTEREST'
      | 'OVERDUE_BALANCE_INTEREST_AND_FEE'
      | 'OUTSTANDING_PRINCIPAL'
      | ''
      | null;
    /**
     * A whole number, or a text that is one.
     */
    loanPenaltyGracePeriod?: number | string | null;
    penaltyRate?: LoanCommandBoundedNumber;
  } | null;
}
interface PatchProductPayload {
  /**
   * Changes (RFC 6902), made in this order, all or none.
   *
   * @minItems 1
   * @maxItems 200
   */
  operations: {
    /**
     * ADD and REPLACE both set a field, and make the objects on the way to it; in a list, ADD inserts an item and REPLACE replaces one.
     */
    op: 'ADD' | 'REPLACE' | 'REMOVE' | 'MOVE' | 'add' | 'replace' | 'remove' | 'move';
    /**
     * The place of the field, with or without a leading slash: `/scheduleSettings/fixedDaysOfMonth`.
     */
    path: string;
    /**
     * The value of ADD and REPLACE.
     */
    value?: {
      [k: string]: unknown;
    };
    /**
     * The place that MOVE takes the value from.
     */
    from?: string | null;
  }[];
}
interface EndOfDayPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  businessDate: string;
}
interface RefundPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A number, or a text that is one.
   */
  amount: Numeric | string;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
  /**
   * The encodedKey of the disbursement that is refunded. The transaction gives it back as its parentLoanTransactionKey.
   */
  linkedDisbursementKey: string;
}
interface TerminatePayload {
  /**
   * The day on which all that is outstanding becomes due.
   */
  valueDate: string;
  notes?: string | null;
}
interface RecalculateDueDatesPayload {
  notes?: string | null;
}
/**
 * No fields: all that is personal goes.
 */
interface ErasePersonalDataPayload {}
interface ReschedulePayload {
  /**
   * The new account. What it does not name is as of the product; holder, branch, officer and custom fields are those of the old account.
   */
  loanAccount: {
    /**
     * Of the same partition as the account that is replaced; by default, one is made.
     */
    id?: string | null;
    /**
     * Accepted, not stored.
     */
    encodedKey?: {
      [k: string]: unknown;
    };
    interestCommission?: 0 | null;
    loanName?: string | null;
    notes?: string | null;
    /**
     * encodedKey or id of the product, in the same currency.
     */
    productTypeKey: string;
    accountArrearsSettings?: {
      /**
       * A whole number, or a text that is one.
       */
      tolerancePeriod?: number | string | null;
      tolerancePercentageOfOutstandingPrincipal?: 0 | null;
    } | null;
    disbursementDetails: {
      /**
       * A calendar day. Of an instant, the day as its sender wrote it.
       */
      firstRepaymentDate: string;
    };
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    guarantors?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    interestSettings?: {
      /**
       * A number, or a text that is one.
       */
      interestRate?: Numeric | string | null;
      interestSpread?: 0 | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      accountInterestRateSettings?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      pmtAdjustmentThreshold?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
    } | null;
    penaltySettings?: {
      /**
       * A number, or a text that is one.
       */
      penaltyRate?: Numeric | string | null;
    } | null;
    principalPaymentSettings?: {
      amount?: 0 | null;
      percentage?: 0 | null;
    } | null;
    scheduleSettings?: {
      /**
       * A whole number, or a text that is one.
       */
      repaymentInstallments?: number | string | null;
      /**
       * A whole number, or a text that is one.
       */
      repaymentPeriodCount?: number | string | null;
      repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | '' | null;
      /**
       * A whole number, or a text that is one.
       */
      gracePeriod?: number | string | null;
      fixedDaysOfMonth?: Numeric | string[] | null;
      amortizationPeriod?: 0 | null;
      periodicPayment?: 0 | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      billingCycleDays?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      paymentPlan?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      previewSchedule?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
    } | null;
  };
  /**
   * What is given up of what the account owes. All the rest goes to the new account.
   */
  writeOffAmounts?: {
    /**
     * A number, or a text that is one.
     */
    principal?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    interest?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    fee?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    penalty?: Numeric | string | null;
    interestBearingFees?: 0 | null;
    interestBearingFeesInterest?: 0 | null;
    interestFromArrears?: 0 | null;
  } | null;
  keepSameAccountId?: false | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  carryForwardOptions?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
}
interface RefinancePayload {
  /**
   * The new account. What it does not name is as of the product; holder, branch, officer and custom fields are those of the old account.
   */
  loanAccount: {
    /**
     * Of the same partition as the account that is replaced; by default, one is made.
     */
    id?: string | null;
    /**
     * Accepted, not stored.
     */
    encodedKey?: {
      [k: string]: unknown;
    };
    loanName?: string | null;
    notes?: string | null;
    /**
     * encodedKey or id of the product, in the same currency.
     */
    productTypeKey: string;
    accountArrearsSettings?: {
      /**
       * A whole number, or a text that is one.
       */
      tolerancePeriod?: number | string | null;
      tolerancePercentageOfOutstandingPrincipal?: 0 | null;
    } | null;
    disbursementDetails: {
      /**
       * The day of the refinancing; by default, today.
       */
      expectedDisbursementDate?: string | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      fees?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * A calendar day. Of an instant, the day as its sender wrote it.
       */
      firstRepaymentDate: string;
    };
    /**
     * Only empty: what it would name does not exist here.
     *
     * @maxItems 0
     */
    guarantors?:
      | {
          [k: string]: unknown;
        }
      | unknown[]
      | null;
    interestSettings?: {
      /**
       * A number, or a text that is one.
       */
      interestRate?: Numeric | string | null;
      interestSpread?: 0 | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      accountInterestRateSettings?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      pmtAdjustmentThreshold?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
    } | null;
    penaltySettings?: {
      /**
       * A number, or a text that is one.
       */
      penaltyRate?: Numeric | string | null;
    } | null;
    principalPaymentSettings?: {
      amount?: 0 | null;
      percentage?: 0 | null;
    } | null;
    scheduleSettings?: {
      /**
       * A whole number, or a text that is one.
       */
      repaymentInstallments?: number | string | null;
      /**
       * A whole number, or a text that is one.
       */
      repaymentPeriodCount?: number | string | null;
      repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | '' | null;
      /**
       * A whole number, or a text that is one.
       */
      gracePeriod?: number | string | null;
      fixedDaysOfMonth?: Numeric | string[] | null;
      amortizationPeriod?: 0 | null;
      periodicPayment?: 0 | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      billingCycleDays?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      paymentPlan?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
      /**
       * Only empty: what it would name does not exist here.
       *
       * @maxItems 0
       */
      previewSchedule?:
        | {
            [k: string]: unknown;
          }
        | unknown[]
        | null;
    } | null;
  };
  /**
   * What is given up of what the account owes. All the rest goes to the new account.
   */
  writeOffAmounts?: {
    /**
     * A number, or a text that is one.
     */
    interest?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    fee?: Numeric | string | null;
    /**
     * A number, or a text that is one.
     */
    penalty?: Numeric | string | null;
    interestBearingFees?: 0 | null;
    interestBearingFeesInterest?: 0 | null;
    interestFromArrears?: 0 | null;
  } | null;
  keepSameAccountId?: false | null;
  /**
   * Only empty: what it would name does not exist here.
   *
   * @maxItems 0
   */
  carryForwardOptions?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  /**
   * What is paid out in addition.
   */
  topUpAmount: Numeric | string;
}
interface UndoReschedulePayload {
  notes?: string | null;
}
interface UndoRefinancePayload {
  notes?: string | null;
}
