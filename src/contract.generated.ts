/* Made from schemas/ by `npm run generate`. Do not edit. */

/**
 * The channel that the money came or went through, given back with the transaction. Deposit accounts cannot be named: there are none.
 */
type LoanCommandTransactionDetails = {
  transactionChannelId?: string | null;
  transactionChannelKey?: string | null;
} | null;
/**
 * @maxItems 200
 */
type LoanCommandDays = number[] | null;
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
type LoanCommandBoundedNumber = {
  defaultValue?: number | null;
  minValue?: number | null;
  maxValue?: number | null;
} | null;
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
type LoanCommandBoundedCount = {
  defaultValue?: number | null;
  minValue?: number | null;
  maxValue?: number | null;
} | null;
/**
 * Pairs of positions.
 *
 * @maxItems 1000
 */
type CursorDistanceQueries = {
  initial_cursor: PositionQuery;
  final_cursor: PositionQuery;
}[];
/**
 * How many events lie between two positions of a partition, in the order of the request.
 */
type CursorDistances = {
  initial_cursor: SentPosition;
  final_cursor: SentPosition;
  distance: number;
}[];
/**
 * Positions whose distance to the end is asked for.
 *
 * @maxItems 1000
 */
type CursorLagQueries = {
  /**
   * One that the event type has.
   */
  partition: string;
  /**
   * As answered; a plain number of up to 15 digits or BEGIN as well.
   */
  offset: string;
}[];
/**
 * Positions and by how many events each is to be moved.
 *
 * @maxItems 1000
 */
type CursorShiftQueries = {
  partition: string;
  /**
   * As answered; a plain number of up to 15 digits or BEGIN as well.
   */
  offset: string;
  shift?: number;
}[];
type EventTypeStatistics = {
  event_type: string;
  partitions: {
    partition: string;
    state: 'unassigned' | 'reassigning' | 'assigned';
    /**
     * Absent before the subscription was first streamed.
     */
    unconsumed_events?: number;
    /**
     * How long ago the first unconsumed event was stored. Only when asked for with show_time_lag.
     */
    consumer_lag_seconds?: number;
    /**
     * Empty when nobody holds the partition.
     */
    stream_id: string;
    /**
     * Absent when nobody holds the partition.
     */
    assignment_type?: 'auto' | 'direct';
  }[];
}[];
/**
 * Events of one type, each as its schema has it. Those of categories data and business need `metadata` with `eid` and `occurred_at`.
 */
type Events = {
  metadata?: {
    eid?: string;
    occurred_at?: string;
  };
  [k: string]: unknown;
}[];
/**
 * The balances of a loan, named as the toggles say.
 */
type LoanBalances = LoanBalanceChangedBalances | LoanBalanceChangedBalancesWithNonScheduledFees;
/**
 * What to change of a product, one operation after the other.
 *
 * @minItems 1
 * @maxItems 50
 */
type ProductPatch = {
  /**
   * Both set the field.
   */
  op: 'ADD' | 'REPLACE' | 'add' | 'replace';
  /**
   * `state`, `name` or `notes`, with a slash before it or without.
   */
  path: string;
  /**
   * ACTIVE or INACTIVE; a name of 256, notes of 2000 characters.
   */
  value: {
    [k: string]: unknown;
  };
}[];
/**
 * What became of each event of a batch, in the order of the request.
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
}[];
/**
 * The positions that many events further, in the order of the request.
 */
type ShiftedCursors = Position[];

/**
 * What the service and its clients send each other.
 */
export interface Contract {
  /**
   * Every schema of the description by its name.
   */
  schemas: {
    AdjustTransactionPayload: AdjustTransactionPayload;
    ApiError: ApiError;
    ApplyFeePayload: ApplyFeePayload;
    ApplyPenaltyPayload: ApplyPenaltyPayload;
    ChangeStatePayload: ChangeStatePayload;
    CommandRejected: CommandRejected;
    CommandStatus: CommandStatus;
    Commit: Commit;
    CommitResults: CommitResults;
    ComparedSchema: ComparedSchema;
    Compatibility: Compatibility;
    CountBounds: CountBounds;
    CreateLoanPayload: CreateLoanPayload;
    CreateProductPayload: CreateProductPayload;
    CursorDistanceQueries: CursorDistanceQueries;
    CursorDistances: CursorDistances;
    CursorLagQueries: CursorLagQueries;
    CursorReset: CursorReset;
    CursorShiftQueries: CursorShiftQueries;
    DisbursePayload: DisbursePayload;
    EventType: EventType;
    EventTypeBatch: EventTypeBatch;
    EventTypeCheck: EventTypeCheck;
    EventTypeCheckRequest: EventTypeCheckRequest;
    EventTypeDefinition: EventTypeDefinition;
    EventTypeSchema: EventTypeSchema;
    EventTypeSchemas: EventTypeSchemas;
    EventTypeStatistic: EventTypeStatistic;
    EventTypeStatistics: EventTypeStatistics;
    Events: Events;
    Health: Health;
    LendingErrors: LendingErrors;
    Links: Links;
    LoanAccount: LoanAccount;
    LoanBalanceChanged: LoanBalanceChanged;
    LoanBalanceChangedBalanceChange: LoanBalanceChangedBalanceChange;
    LoanBalanceChangedBalances: LoanBalanceChangedBalances;
    LoanBalanceChangedBalancesWithNonScheduledFees: LoanBalanceChangedBalancesWithNonScheduledFees;
    LoanBalanceChangedClosedBalance: LoanBalanceChangedClosedBalance;
    LoanBalances: LoanBalances;
    LoanCommand: LoanCommand;
    LoanCommandBoundedCount: LoanCommandBoundedCount;
    LoanCommandBoundedNumber: LoanCommandBoundedNumber;
    LoanCommandDays: LoanCommandDays;
    LoanCommandTransactionDetails: LoanCommandTransactionDetails;
    LoanEvents: LoanEvents;
    LoanFeeEvent: LoanFeeEvent;
    LoanFeeEventFeeBalances: LoanFeeEventFeeBalances;
    LoanFeeEventFeeBalancesWithNonScheduled: LoanFeeEventFeeBalancesWithNonScheduled;
    LoanProduct: LoanProduct;
    LoanSchedule: LoanSchedule;
    LoanScheduleChanged: LoanScheduleChanged;
    LoanScheduleChangedInstallment: LoanScheduleChangedInstallment;
    LoanScheduleChangedPortion: LoanScheduleChangedPortion;
    LoanScheduleChangedTaxedPortion: LoanScheduleChangedTaxedPortion;
    LoanStateChanged: LoanStateChanged;
    LoanTransactionPosted: LoanTransactionPosted;
    LoanTransactionPostedTransaction: LoanTransactionPostedTransaction;
    Metrics: Metrics;
    NumberBounds: NumberBounds;
    Partition: Partition;
    Position: Position;
    PositionQuery: PositionQuery;
    PrincipalOverpaymentPayload: PrincipalOverpaymentPayload;
    Problem: Problem;
    ProductPatch: ProductPatch;
    PublishedItems: PublishedItems;
    Readiness: Readiness;
    RepayPayload: RepayPayload;
    SchemaDefinition: SchemaDefinition;
    SentPosition: SentPosition;
    ShiftedCursors: ShiftedCursors;
    StreamBatch: StreamBatch;
    StreamBatchInfo: StreamBatchInfo;
    StreamParameters: StreamParameters;
    Subscription: Subscription;
    SubscriptionCursor: SubscriptionCursor;
    SubscriptionCursors: SubscriptionCursors;
    SubscriptionDefinition: SubscriptionDefinition;
    SubscriptionStatistics: SubscriptionStatistics;
    SubscriptionStreams: SubscriptionStreams;
    Subscriptions: Subscriptions;
    Toggle: Toggle;
    ToggleSwitch: ToggleSwitch;
    Toggles: Toggles;
    TransactionAdjustment: TransactionAdjustment;
    UpdateProductPayload: UpdateProductPayload;
    Version: Version;
  };
  /**
   * The JSON that operations are sent, by operationId.
   */
  requests: {
    createEventType: EventTypeDefinition;
    updateEventType: EventTypeDefinition;
    addSchema: SchemaDefinition;
    checkCompatibility: ComparedSchema;
    checkEventType: EventTypeCheckRequest;
    publishEvents: Events;
    measureCursorDistances: CursorDistanceQueries;
    shiftCursors: CursorShiftQueries;
    measureCursorLag: CursorLagQueries;
    createSubscription: SubscriptionDefinition;
    updateSubscription: SubscriptionDefinition;
    openStreamWithBody: StreamParameters;
    resetCursors: CursorReset;
    commitCursors: Commit;
    switchToggle: ToggleSwitch;
    createLoanProduct: CreateProductPayload;
    patchLoanProduct: ProductPatch;
    createLoan: CreateLoanPayload;
    changeLoanState: ChangeStatePayload;
    disburseLoan: DisbursePayload;
    applyFee: ApplyFeePayload;
    repayLoan: RepayPayload;
    applyPenalty: ApplyPenaltyPayload;
    overpayPrincipal: PrincipalOverpaymentPayload;
    adjustTransaction: TransactionAdjustment;
  };
  /**
   * The JSON that operations answer with when they succeed, by operationId; of a stream a line.
   */
  answers: {
    listEventTypes: EventType[];
    getEventType: EventType;
    listSchemas: EventTypeSchemas;
    addSchema: EventTypeSchema;
    getSchema: EventTypeSchema;
    listPartitions: Partition[];
    getPartition: Partition;
    listEnrichmentStrategies: 'metadata_enrichment'[];
    listPartitionStrategies: ('hash' | 'user_defined' | 'random')[];
    checkCompatibility: Compatibility;
    checkEventType: EventTypeCheck;
    publishEvents: PublishedItems;
    readEvents: EventTypeBatch;
    measureCursorDistances: CursorDistances;
    shiftCursors: ShiftedCursors;
    measureCursorLag: Partition[];
    createSubscription: Subscription;
    listSubscriptions: Subscriptions;
    getSubscription: Subscription;
    getSubscriptionStatistics: SubscriptionStatistics;
    listSubscriptionStreams: SubscriptionStreams;
    openStream: StreamBatch;
    openStreamWithBody: StreamBatch;
    listCursors: SubscriptionCursors;
    commitCursors: CommitResults;
    listToggles: Toggle[];
    getToggle: Toggle;
    switchToggle: Toggle;
    createLoanProduct: LoanProduct | CommandStatus;
    listLoanProducts: LoanProduct[];
    getLoanProduct: LoanProduct;
    patchLoanProduct: CommandStatus;
    createLoan: LoanAccount | CommandStatus;
    listLoans: LoanAccount[];
    getLoan: LoanAccount;
    changeLoanState: LoanAccount | CommandStatus;
    getLoanSchedule: LoanSchedule;
    getLoanBalances: LoanBalances;
    listLoanEvents: LoanEvents;
    disburseLoan: LoanTransactionPostedTransaction | CommandStatus;
    applyFee: LoanTransactionPostedTransaction | CommandStatus;
    repayLoan: LoanTransactionPostedTransaction | CommandStatus;
    applyPenalty: LoanTransactionPostedTransaction | CommandStatus;
    overpayPrincipal: LoanTransactionPostedTransaction | CommandStatus;
    adjustTransaction: LoanTransactionPostedTransaction | CommandStatus;
    listTransactions: LoanTransactionPostedTransaction[];
    getCommand: CommandStatus;
    getHealth: Health;
    getReadiness: Readiness;
    getMetrics: Metrics;
    getVersion: Version;
    getDescription: {
      [k: string]: unknown;
    };
  };
}
interface AdjustTransactionPayload {
  /**
   * encodedKey or id of the transaction to undo.
   */
  transactionId: string;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  notes?: string | null;
}
interface ApiError {
  errorCode: number;
  errorReason: string;
  errorSource: string | null;
  errorMessage?: string;
}
interface ApplyFeePayload {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  predefinedFeeKey?: string | null;
  amount?: number | null;
  installmentNumber?: number | null;
}
interface ApplyPenaltyPayload {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  amount: number;
  installmentNumber?: number | null;
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
    | 'UNDO_WITHDRAW';
  notes?: string | null;
}
/**
 * A command was refused by the rules of lending and changed nothing. It is about a loan or, for CREATE_PRODUCT and UPDATE_PRODUCT, about a product.
 */
interface CommandRejected {
  /**
   * As every published event has it.
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
    | 'CHANGE_STATE'
    | 'DISBURSE'
    | 'REPAY'
    | 'APPLY_FEE'
    | 'APPLY_PENALTY'
    | 'ADJUST_TRANSACTION'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'CREATE_PRODUCT'
    | 'UPDATE_PRODUCT';
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
 * What became of a command.
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
/**
 * Cursors to commit, as they came with batches of the stream.
 */
interface Commit {
  /**
   * @minItems 1
   * @maxItems 10000
   */
  items: {
    event_type: string | number;
    partition: string | number;
    offset: string | number;
    cursor_token: string;
  }[];
}
/**
 * What became of each cursor of a commit, in the order of the request; answered when not every one moved its partition forward.
 */
interface CommitResults {
  items: {
    cursor: {
      event_type: string;
      partition: string;
      /**
       * As it was sent.
       */
      offset: string;
      cursor_token: string;
    };
    result: 'committed' | 'outdated';
  }[];
}
/**
 * A schema that may come to follow another.
 */
interface ComparedSchema {
  /**
   * May be left out.
   */
  type?: 'json_schema' | null;
  /**
   * The JSON Schema as text.
   */
  schema: string;
}
/**
 * Whether a schema may follow another.
 */
interface Compatibility {
  compatible: boolean;
  compatibility_mode: 'compatible' | 'forward' | 'none';
  /**
   * Of the schema it was compared with.
   */
  version: string;
  error: string | null;
}
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
interface CountBounds {
  defaultValue?: number;
  minValue?: number;
  maxValue?: number;
}
interface CreateLoanPayload {
  id?: string | null;
  loanName?: string | null;
  accountHolderKey?: string | null;
  accountHolderType?: 'CLIENT' | 'GROUP' | null;
  /**
   * encodedKey or id of the product.
   */
  productTypeKey: string;
  loanAmount: number;
  interestSettings?: {
    interestRate?: number | null;
  } | null;
  scheduleSettings?: {
    repaymentInstallments?: number | null;
    repaymentPeriodCount?: number | null;
    gracePeriod?: number | null;
    principalRepaymentInterval?: number | null;
    defaultFirstRepaymentDueDateOffset?: number | null;
    fixedDaysOfMonth?: LoanCommandDays;
  } | null;
  disbursementDetails?: {
    /**
     * A calendar day; of an instant, the day as its sender wrote it.
     */
    expectedDisbursementDate?: string | null;
    /**
     * A calendar day; of an instant, the day as its sender wrote it.
     */
    firstRepaymentDate?: string | null;
  } | null;
  penaltySettings?: {
    penaltyRate?: number | null;
  } | null;
  notes?: string | null;
}
interface CreateProductPayload {
  /**
   * An encodedKey, or null where there is none.
   */
  encodedKey?: string | null;
  id?: string | null;
  name: string;
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN';
  state?: 'ACTIVE' | 'INACTIVE' | null;
  notes?: string | null;
  /**
   * Accepted, not kept.
   */
  creationDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not kept.
   */
  lastModifiedDate?: {
    [k: string]: unknown;
  };
  currency: {
    code: string;
    /**
     * The code once more, if it is given.
     */
    currencyCode?: string | null;
    /**
     * As the code says, if it is given: EUR 2, JPY 0, JOD 3, BTC 8.
     */
    digits?: number | null;
  };
  loanAmountSettings?: {
    loanAmount?: LoanCommandBoundedNumber;
  } | null;
  interestSettings?: {
    interestRate?: LoanCommandBoundedNumber;
    interestChargeFrequency?:
      'ANNUALIZED' | 'EVERY_MONTH' | 'EVERY_FOUR_WEEKS' | 'EVERY_WEEK' | 'EVERY_DAY' | 'EVERY_X_DAYS' | null;
    interestChargeFrequencyCount?: number | null;
    interestType?: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST' | null;
    interestCalculationMethod?: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED' | null;
    daysInYear?:
      'ACTUAL_365_FIXED' | 'ACTUAL_364' | 'ACTUAL_360' | 'ACTUAL_ACTUAL_ISDA' | 'E30_360' | 'E30_42_365' | null;
    scheduleInterestDaysCountMethod?: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT' | null;
    accrueLateInterest?: boolean | null;
  } | null;
  scheduleSettings?: {
    scheduleDueDatesMethod?: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH' | null;
    repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | null;
    defaultRepaymentPeriodCount?: number | null;
    fixedDaysOfMonth?: LoanCommandDays;
    shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH' | null;
    numInstallments?: LoanCommandBoundedCount;
    firstRepaymentDueDateOffset?: LoanCommandBoundedCount;
    defaultPrincipalRepaymentInterval?: number | null;
    roundingSettings?: {
      roundingMode?: 'HALF_UP' | 'HALF_EVEN' | null;
      repaymentCurrencyRounding?:
        'NO_ROUNDING' | 'ROUND_TO_NEAREST_WHOLE_UNIT' | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT' | null;
      repaymentElementsRoundingMethod?: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE' | null;
      roundingRepaymentScheduleMethod?:
        | 'NO_ROUNDING'
        | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
        | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT'
        | null;
    } | null;
  } | null;
  gracePeriodSettings?: {
    gracePeriodType?: 'NONE' | 'PAY_INTEREST_ONLY' | null;
    gracePeriod?: LoanCommandBoundedCount;
  } | null;
  paymentSettings?: {
    amortizationMethod?: 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS' | null;
    paymentMethod?: 'HORIZONTAL' | null;
    /**
     * @minItems 4
     * @maxItems 4
     */
    repaymentAllocationOrder?: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[] | null;
    prepaymentSettings?: {
      prepaymentAcceptance?: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS' | null;
      prepaymentRecalculationMethod?:
        | 'NO_RECALCULATION'
        | 'RESCHEDULE_REMAINING_REPAYMENTS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
        | 'REDUCE_AMOUNT_PER_INSTALLMENT'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
        | null;
    } | null;
  } | null;
  feesSettings?: {
    allowArbitraryFees?: boolean | null;
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
            | 'ARBITRARY';
          amountCalculationMethod?:
            | 'FLAT'
            | 'LOAN_AMOUNT_PERCENTAGE'
            | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
            | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
            | 'FLAT_NUMBER_OF_INSTALLMENTS'
            | null;
          amount?: number | null;
          percentageAmount?: number | null;
          feeApplication?: 'REQUIRED' | 'OPTIONAL' | null;
          state?: 'ACTIVE' | 'INACTIVE' | null;
          allocation?: 'INSTALLMENT' | 'NO_ALLOCATION' | null;
        }[]
      | null;
  } | null;
  taxSettings?: {
    taxRate?: number | null;
    taxCalculationMethod?: 'INCLUSIVE' | 'EXCLUSIVE' | null;
    taxesOnInterestEnabled?: boolean | null;
    taxesOnFeesEnabled?: boolean | null;
    taxesOnPenaltyEnabled?: boolean | null;
  } | null;
  newAccountSettings?: {
    accountInitialState?: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | null;
  } | null;
  /**
   * Whether the first level payment carries what a first period of irregular length earns more or less.
   */
  adjustInterestForFirstInstallment?: boolean | null;
  allowCustomRepaymentAllocation?: boolean | null;
}
interface PositionQuery {
  partition: string;
  /**
   * As answered; a plain number of up to 15 digits or BEGIN as well.
   */
  offset: string;
}
/**
 * As it was sent.
 */
interface SentPosition {
  partition: string;
  offset: string;
}
/**
 * Where a subscription is to go on. An empty list only settles where one begins that never streamed.
 */
interface CursorReset {
  /**
   * @maxItems 10000
   */
  items: {
    event_type: string | number;
    partition: string | number;
    offset: string | number;
  }[];
}
interface DisbursePayload {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  firstRepaymentDate?: string | null;
  /**
   * @maxItems 200
   */
  fees?:
    | {
        predefinedFeeKey: string;
        amount?: number | null;
      }[]
    | null;
}
/**
 * A kind of event: who owns it, what its events look like and how they are laid over partitions.
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
   * Absent when nobody named one.
   */
  audience?:
    'component-internal' | 'business-unit-internal' | 'company-internal' | 'external-partner' | 'external-public';
  created_at: string;
  updated_at: string;
}
interface EventTypeSchema {
  type: 'json_schema';
  /**
   * The JSON Schema as text, exactly as it was sent.
   */
  schema: string;
  version: string;
  created_at: string;
}
interface EventTypeStatistic {
  messages_per_minute: number;
  message_size: number;
  read_parallelism: number;
  write_parallelism: number;
}
/**
 * One line of a stream without a subscription: events of one partition that follow one another.
 */
interface EventTypeBatch {
  cursor: {
    partition: string;
    /**
     * The last event that was processed; `001-0001--1` before the first. To be treated as opaque.
     */
    offset: string;
  };
  /**
   * @minItems 1
   */
  events?: {
    [k: string]: unknown;
  }[];
  info?: StreamBatchInfo;
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
    | 'handover_timeout'
    | 'no_partitions'
    | 'no_free_slots'
    | 'subscription_deleted'
    | 'session_lost'
    | 'server_shutdown'
    | 'log_error'
    | 'coordination_error';
}
/**
 * What would become of a definition, and of an event under it; nothing is saved or published.
 */
interface EventTypeCheck {
  valid: boolean;
  /**
   * Why it would be refused.
   */
  detail: string | null;
  violations: {
    field: string;
    message: string;
  }[];
  /**
   * The version of the schema in force.
   */
  current_version: string | null;
  /**
   * The version that the schema would have.
   */
  version: string | null;
  /**
   * What differs from the schema in force.
   */
  changes: {
    kind: 'breaking' | 'narrowing' | 'extending' | 'wording';
    pointer: string;
    message: string;
  }[];
  /**
   * Null when no event was sent, or the definition would be refused.
   */
  event: {
    valid: boolean;
    violations: {
      /**
       * JSON pointer into the event.
       */
      pointer: string;
      message: string;
    }[];
  } | null;
}
/**
 * A definition, or the name of an event type, and perhaps an event to hold against it.
 */
interface EventTypeCheckRequest {
  event_type:
    | EventTypeDefinition
    | string
    | {
        [k: string]: unknown;
      };
  /**
   * Of any kind.
   */
  event?: {
    [k: string]: unknown;
  };
}
/**
 * What a client says of an event type. Other fields are ignored; the letter case of fixed words does not matter.
 */
interface EventTypeDefinition {
  /**
   * Must not begin with `lendstream.` in any spelling, nor differ from another name in dots and underscores alone.
   */
  name: string;
  owning_application: string;
  category: 'undefined' | 'data' | 'business';
  /**
   * `metadata_enrichment` in categories data and business, else empty.
   */
  enrichment_strategies?: 'metadata_enrichment'[] | null;
  partition_strategy?: 'hash' | 'user_defined' | 'random' | null;
  /**
   * Dotted paths; needed for strategy hash.
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
   * Says how many partitions it gets, at most 8; fixed at creation.
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
   * Kept and shown; who may do what is not checked yet.
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
  annotations?: {
    [k: string]: string | null;
  } | null;
  labels?: {
    [k: string]: string | null;
  } | null;
  /**
   * Dotted paths of fields that the schema names. Kept and shown.
   *
   * @maxItems 20
   */
  ordering_key_fields?: string[] | null;
  /**
   * Dotted paths of fields that the schema names; not without ordering_key_fields. Kept and shown.
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
 * The versions of an event type's schema, newest first.
 */
interface EventTypeSchemas {
  items: EventTypeSchema[];
  _links: Links;
}
/**
 * Where the pages beside this one are.
 */
interface Links {
  prev?: {
    href: string;
  };
  next?: {
    href: string;
  };
}
/**
 * How each part of this process does.
 */
interface Health {
  /**
   * Whether every part is ready.
   */
  ready: boolean;
  parts: {
    /**
     * E.g. log-writer, disk, data-folder, definitions, loan-view, log, coordination.
     */
    name: string;
    ready: boolean;
    /**
     * Since when it has been ready, or has not.
     */
    since: string;
    /**
     * Why it is not ready; null while it is.
     */
    reason: string | null;
  }[];
}
/**
 * What the lending API answers to a request it refuses: one finding or more.
 */
interface LendingErrors {
  /**
   * @minItems 1
   */
  errors: ApiError[];
}
/**
 * A loan account. Its fee balances keep their names whatever the toggles say.
 */
interface LoanAccount {
  /**
   * An encodedKey.
   */
  encodedKey: string;
  /**
   * Id of a loan account or a product.
   */
  id: string;
  loanName: string | null;
  accountHolderKey: string | null;
  accountHolderType: 'CLIENT' | 'GROUP' | null;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  accountState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED';
  accountSubState: 'REPAID' | 'REJECTED' | 'WITHDRAWN' | null;
  /**
   * Exact, with the digits of the loan's currency.
   */
  loanAmount: number;
  currency: {
    code: string;
  };
  creationDate: string;
  lastModifiedDate: string;
  approvedDate: string | null;
  closedDate: string | null;
  /**
   * An encodedKey, or null where there is none.
   */
  activationTransactionKey: string | null;
  paymentMethod: 'HORIZONTAL';
  notes: string | null;
  /**
   * Percent.
   */
  taxRate: number;
  /**
   * Dynamic loans: interest earned and not yet due.
   */
  accruedInterest: number;
  balances: {
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalDue: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalPaid: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestDue: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestPaid: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    feesDue: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    feesPaid: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    feesBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    penaltyDue: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    penaltyPaid: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    penaltyBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestFromArrearsBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestFromArrearsDue: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestFromArrearsPaid: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    holdBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    redrawBalance: number;
  };
  interestSettings: {
    /**
     * Percent.
     */
    interestRate: number;
    interestChargeFrequency:
      'ANNUALIZED' | 'EVERY_MONTH' | 'EVERY_FOUR_WEEKS' | 'EVERY_WEEK' | 'EVERY_DAY' | 'EVERY_X_DAYS';
    interestType: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST';
    interestCalculationMethod: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED';
    accrueLateInterest: boolean;
  };
  modifyInterestForFirstInstallment: boolean;
  scheduleSettings: {
    repaymentInstallments: number;
    repaymentPeriodCount: number | null;
    repaymentPeriodUnit: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | null;
    gracePeriod: number;
    gracePeriodType: 'NONE' | 'PAY_INTEREST_ONLY';
    principalRepaymentInterval: number;
    scheduleDueDatesMethod: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
    fixedDaysOfMonth: number[];
    shortMonthHandlingMethod: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH' | null;
    defaultFirstRepaymentDueDateOffset: number;
    hasCustomSchedule: boolean;
  };
  prepaymentSettings: {
    prepaymentRecalculationMethod:
      | 'NO_RECALCULATION'
      | 'RESCHEDULE_REMAINING_REPAYMENTS'
      | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
      | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
      | 'REDUCE_AMOUNT_PER_INSTALLMENT'
      | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  };
  penaltySettings: {
    /**
     * Percent.
     */
    penaltyRate: number | null;
  };
  disbursementDetails: {
    expectedDisbursementDate: string | null;
    disbursementDate: string | null;
    firstRepaymentDate: string | null;
  };
}
/**
 * One for each transaction that was posted: what it changed, and every balance after it. The fee balances have the names that the toggle ALLOW_NON_SCHEDULED_FEES asks for.
 */
interface LoanBalanceChanged {
  /**
   * As every published event has it.
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
  amount: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  balanceAfter: number;
  applicationDate: string;
  creationDate: string;
  /**
   * An encodedKey.
   */
  loanAccountEncodedKey: string;
  /**
   * An encodedKey.
   */
  loanTransactionEncodedKey: string;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off. A loan that has a fee outside the schedule shows what is owed and paid of it all the same.
 */
interface LoanBalanceChangedBalances {
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance?: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance?: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyBalance: number;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
interface LoanBalanceChangedBalancesWithNonScheduledFees {
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  penaltyBalance: number;
}
/**
 * A name that the toggle has switched off since the last event: its balance goes on under another name.
 */
interface LoanBalanceChangedClosedBalance {
  balanceAfter?: 0;
}
/**
 * A command for a loan or, for CREATE_PRODUCT and UPDATE_PRODUCT, for a product. The payload has the fields of the REST body of the same request; that of UPDATE_PRODUCT the fields that its patch sets. A number may have at most fifteen significant digits.
 */
interface LoanCommand {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * A command sent twice under one id changes the loan once. Absent: the event's eid.
   */
  commandId?: string;
  type:
    | 'CREATE_LOAN'
    | 'CHANGE_STATE'
    | 'DISBURSE'
    | 'REPAY'
    | 'APPLY_FEE'
    | 'APPLY_PENALTY'
    | 'ADJUST_TRANSACTION'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'CREATE_PRODUCT'
    | 'UPDATE_PRODUCT';
  /**
   * Id of a loan account or a product.
   */
  loanAccountId?: string;
  /**
   * Id of a loan account or a product.
   */
  loanProductId?: string;
  payload?: {
    [k: string]: unknown;
  };
}
/**
 * What was published of a loan and is still held, in the loan's order, each event as its consumers got it.
 */
interface LoanEvents {
  items: (
    LoanTransactionPosted | LoanFeeEvent | LoanBalanceChanged | LoanScheduleChanged | LoanStateChanged | CommandRejected
  )[];
  /**
   * Whether the first event of the loan is among them.
   */
  complete: boolean;
}
/**
 * A transaction was posted to the account.
 */
interface LoanTransactionPosted {
  /**
   * As every published event has it.
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
    | 'loan_principal_overpayment_reversed';
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
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT';
  /**
   * Negative for an adjustment.
   */
  amount: number;
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
    principalAmount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    interestAmount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    feesAmount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    penaltyAmount: number;
  };
  taxes: {
    /**
     * Percent.
     */
    taxRate: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnInterestAmount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnFeesAmount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxOnPenaltyAmount: number;
  };
  terms: {
    interestSettings: {
      /**
       * Percent.
       */
      interestRate: number;
    };
    periodicPayment: number | null;
  };
  accountBalances: {
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    totalBalance: number;
  };
  fees: {
    predefinedFeeKey: string | null;
    name: string;
    trigger:
      'MANUAL' | 'DISBURSEMENT' | 'CAPITALIZED_DISBURSEMENT' | 'UPFRONT_DISBURSEMENT' | 'PAYMENT_DUE' | 'ARBITRARY';
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    taxAmount: number;
  }[];
  customPaymentAmounts: {
    customPaymentAmountType:
      | 'PRINCIPAL'
      | 'INTEREST'
      | 'MANUAL_FEE'
      | 'UPFRONT_DISBURSEMENT_FEE'
      | 'PAYMENT_DUE_FEE'
      | 'PENALTY'
      | 'NON_SCHEDULED_FEE';
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: number;
    predefinedFeeKey?: string;
  }[];
  prepaymentRecalculationMethod:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
  /**
   * An encodedKey, or null where there is none.
   */
  installmentEncodedKey: string | null;
  externalId: string | null;
  notes: string | null;
  /**
   * The channel that the money came or went through, as the command named it.
   */
  transactionDetails: {
    transactionChannelId?: string;
    transactionChannelKey?: string;
  } | null;
  /**
   * An encodedKey, or null where there is none.
   */
  adjustmentTransactionKey: string | null;
  /**
   * An encodedKey, or null where there is none.
   */
  originalTransactionKey: string | null;
}
/**
 * One for each fee that was charged, paid, capitalised or taken back.
 */
interface LoanFeeEvent {
  /**
   * As every published event has it.
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
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  feeEvent: 'APPLIED' | 'PAID' | 'ADJUSTED' | 'CAPITALISED';
  /**
   * Of ADJUSTED: whether a charge or a payment is taken back.
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
    'MANUAL' | 'DISBURSEMENT' | 'CAPITALIZED_DISBURSEMENT' | 'UPFRONT_DISBURSEMENT' | 'PAYMENT_DUE' | 'ARBITRARY';
  /**
   * Tax included; negative when it takes back.
   */
  amount: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  tax: number;
  allocation: 'INSTALLMENT' | 'NO_ALLOCATION';
  /**
   * An encodedKey.
   */
  installmentKey?: string;
  installmentNumber?: number;
  balances: LoanFeeEventFeeBalances | LoanFeeEventFeeBalancesWithNonScheduled;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off. A loan that has a fee outside the schedule shows what is owed and paid of it all the same.
 */
interface LoanFeeEventFeeBalances {
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  feesBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance?: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance?: number;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
interface LoanFeeEventFeeBalancesWithNonScheduled {
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesDue: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesPaid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  scheduledFeesBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeeBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledFeePaidBalance: number;
}
/**
 * The installments that changed, whole, and those that are gone: taking all events of a loan together gives its schedule.
 */
interface LoanScheduleChanged {
  /**
   * As every published event has it.
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
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  reason: 'DISBURSED' | 'REPAID' | 'PREPAYMENT_RECALCULATED' | 'FEE_APPLIED' | 'PENALTY_APPLIED' | 'ADJUSTED';
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
    totalDue: number;
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
  lastPaidDate: string | null;
  repaidDate: string | null;
  lastPenaltyAppliedDate: string | null;
  principal: {
    amount: LoanScheduleChangedPortion;
  };
  interest: LoanScheduleChangedTaxedPortion;
  fee: {
    amount: {
      /**
       * Exact, with the digits of the loan's currency.
       */
      expected: number;
      /**
       * Exact, with the digits of the loan's currency.
       */
      paid: number;
      /**
       * Exact, with the digits of the loan's currency.
       */
      due: number;
      /**
       * Exact, with the digits of the loan's currency.
       */
      expectedUnapplied: number;
    };
    tax: LoanScheduleChangedPortion;
  };
  penalty: LoanScheduleChangedTaxedPortion;
  /**
   * Only under the toggle PRINCIPAL_OVERPAYMENT.
   */
  nonScheduledPrincipalBalanceOverpayment?: number;
}
/**
 * expected = paid + due
 */
interface LoanScheduleChangedPortion {
  /**
   * Exact, with the digits of the loan's currency.
   */
  expected: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  paid: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  due: number;
}
/**
 * The amount contains the tax.
 */
interface LoanScheduleChangedTaxedPortion {
  amount: LoanScheduleChangedPortion;
  tax: LoanScheduleChangedPortion;
}
/**
 * The account went from one state to another.
 */
interface LoanStateChanged {
  /**
   * As every published event has it.
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
    | null;
  valueDate: string | null;
  bookingDate: string | null;
  creationDate: string;
  toggles: Toggles;
  name:
    | 'loan_created'
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
    | 'loan_reopened';
  accountState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED';
  accountSubState: 'REPAID' | 'REJECTED' | 'WITHDRAWN' | null;
  previousAccountState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED' | null;
  previousAccountSubState: 'REPAID' | 'REJECTED' | 'WITHDRAWN' | null;
}
/**
 * A loan product: the rules and bounds of the accounts opened under it.
 */
interface LoanProduct {
  encodedKey: string;
  /**
   * Id of a loan account or a product.
   */
  id: string;
  name: string;
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN';
  state: 'ACTIVE' | 'INACTIVE';
  notes?: string;
  currency: {
    code: string;
    digits: number;
  };
  loanAmountSettings: {
    loanAmount: NumberBounds;
  };
  interestSettings: {
    interestRate: NumberBounds;
    interestChargeFrequency:
      'ANNUALIZED' | 'EVERY_MONTH' | 'EVERY_FOUR_WEEKS' | 'EVERY_WEEK' | 'EVERY_DAY' | 'EVERY_X_DAYS';
    interestChargeFrequencyCount: number;
    interestType: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST';
    interestCalculationMethod: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED';
    daysInYear: 'ACTUAL_365_FIXED' | 'ACTUAL_364' | 'ACTUAL_360' | 'ACTUAL_ACTUAL_ISDA' | 'E30_360' | 'E30_42_365';
    scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT';
    accrueLateInterest: boolean;
  };
  adjustInterestForFirstInstallment: boolean;
  scheduleSettings: {
    scheduleDueDatesMethod: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
    repaymentPeriodUnit: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
    defaultRepaymentPeriodCount: number;
    fixedDaysOfMonth: number[];
    shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH';
    numInstallments: CountBounds;
    firstRepaymentDueDateOffset: CountBounds;
    defaultPrincipalRepaymentInterval: number;
    roundingSettings: {
      roundingMode: 'HALF_UP' | 'HALF_EVEN';
      repaymentCurrencyRounding: 'NO_ROUNDING' | 'ROUND_TO_NEAREST_WHOLE_UNIT' | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT';
      repaymentElementsRoundingMethod: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE';
      roundingRepaymentScheduleMethod:
        | 'NO_ROUNDING'
        | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
        | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';
    };
  };
  gracePeriodSettings: {
    gracePeriodType: 'NONE' | 'PAY_INTEREST_ONLY';
    gracePeriod: CountBounds;
  };
  paymentSettings: {
    amortizationMethod: 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS';
    paymentMethod: 'HORIZONTAL';
    /**
     * @minItems 4
     * @maxItems 4
     */
    repaymentAllocationOrder: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[];
    prepaymentSettings: {
      prepaymentAcceptance: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS';
      prepaymentRecalculationMethod:
        | 'NO_RECALCULATION'
        | 'RESCHEDULE_REMAINING_REPAYMENTS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
        | 'REDUCE_AMOUNT_PER_INSTALLMENT'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
    };
  };
  feesSettings: {
    allowArbitraryFees: boolean;
    fees: {
      encodedKey: string;
      id: string;
      name: string;
      trigger:
        'MANUAL' | 'DISBURSEMENT' | 'CAPITALIZED_DISBURSEMENT' | 'UPFRONT_DISBURSEMENT' | 'PAYMENT_DUE' | 'ARBITRARY';
      amountCalculationMethod:
        | 'FLAT'
        | 'LOAN_AMOUNT_PERCENTAGE'
        | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
        | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
        | 'FLAT_NUMBER_OF_INSTALLMENTS';
      /**
       * Exact, with the digits of the loan's currency.
       */
      amount?: number;
      /**
       * Percent.
       */
      percentageAmount?: number;
      feeApplication: 'REQUIRED' | 'OPTIONAL';
      state: 'ACTIVE' | 'INACTIVE';
      allocation: 'INSTALLMENT' | 'NO_ALLOCATION';
    }[];
  };
  taxSettings: {
    /**
     * Percent.
     */
    taxRate: number;
    taxCalculationMethod: 'INCLUSIVE' | 'EXCLUSIVE';
    taxesOnInterestEnabled: boolean;
    taxesOnFeesEnabled: boolean;
    taxesOnPenaltyEnabled: boolean;
  };
  newAccountSettings: {
    accountInitialState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL';
  };
  allowCustomRepaymentAllocation: boolean;
}
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
interface NumberBounds {
  defaultValue?: number;
  minValue?: number;
  maxValue?: number;
}
/**
 * The installments of a loan; before its disbursement a preview.
 */
interface LoanSchedule {
  currency: {
    code: string;
    currencyCode: string;
  };
  installments: LoanScheduleChangedInstallment[];
}
/**
 * All metrics in the form of Dropwizard's library. Names carry their labels as Prometheus writes them.
 */
interface Metrics {
  /**
   * Of the form.
   */
  version: string;
  gauges: {
    [k: string]: {
      /**
       * null for what is no number.
       */
      value: number | null;
    };
  };
  counters: {
    [k: string]: {
      count: number;
    };
  };
  histograms: {
    [k: string]: {
      count: number;
      sum: number;
      /**
       * How many were at most this, in seconds.
       */
      buckets: {
        [k: string]: number;
      };
    };
  };
  /**
   * There are none.
   */
  meters: {
    [k: string]: unknown;
  };
  /**
   * There are none: durations are histograms.
   */
  timers: {
    [k: string]: unknown;
  };
}
/**
 * A partition of an event type and which of its events can be read.
 */
interface Partition {
  /**
   * The last event that was processed; `001-0001--1` before the first. To be treated as opaque.
   */
  oldest_available_offset: string;
  /**
   * Of the newest event there is, the one before the next to come.
   */
  newest_available_offset: string;
  partition: string;
  /**
   * Events after the offset asked about; negative for one beyond the end.
   */
  unconsumed_events?: number;
}
interface Position {
  partition: string;
  /**
   * The last event that was processed; `001-0001--1` before the first. To be treated as opaque.
   */
  offset: string;
}
interface PrincipalOverpaymentPayload {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  amount: number;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
}
/**
 * What the streaming API answers to a request it cannot serve (RFC 7807). The detail is for the person who has to act on it.
 */
interface Problem {
  /**
   * Only where several fields break rules, each told on a line of the detail.
   */
  type?: string;
  title: string;
  status: number;
  detail: string;
}
/**
 * Whether this process can serve, and if not, why.
 */
interface Readiness {
  ready: boolean;
  reasons: string[];
}
interface RepayPayload {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  valueDate?: string | null;
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  externalId?: string | null;
  notes?: string | null;
  transactionDetails?: LoanCommandTransactionDetails;
  amount: number;
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
          | 'PENALTY'
          | 'NON_SCHEDULED_FEE';
        amount: number;
        predefinedFeeKey?: string | null;
      }[]
    | null;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
}
/**
 * A schema to put in force, or to look for.
 */
interface SchemaDefinition {
  type: 'json_schema';
  /**
   * The JSON Schema as text.
   */
  schema: string;
}
/**
 * One line of a stream: the events of one partition that follow one another, and the cursor to commit once they are processed. A line without events says that the stream is alive.
 */
interface StreamBatch {
  cursor: SubscriptionCursor;
  /**
   * As their event type's schema has them; those of lending are among the schemas of this description.
   *
   * @minItems 1
   */
  events?: {
    [k: string]: unknown;
  }[];
  info?: {
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
      | 'handover_timeout'
      | 'no_partitions'
      | 'no_free_slots'
      | 'subscription_deleted'
      | 'session_lost'
      | 'server_shutdown'
      | 'log_error'
      | 'coordination_error';
  };
}
interface SubscriptionCursor {
  partition: string;
  /**
   * The last event that was processed; `001-0001--1` before the first. To be treated as opaque.
   */
  offset: string;
  event_type: string;
  cursor_token: string;
}
/**
 * What a consumer asks of its stream. Other fields are ignored.
 */
interface StreamParameters {
  /**
   * Most events of a batch.
   */
  batch_limit?: number | null;
  /**
   * Seconds after which a batch is sent that is not full, also an empty one.
   */
  batch_flush_timeout?: number | null;
  /**
   * Seconds of publishing time that a batch may span; 0 for any.
   */
  batch_timespan?: number | null;
  /**
   * Most events that may be out and not committed.
   */
  max_uncommitted_events?: number | null;
  /**
   * Events after which the stream ends; 0 for never.
   */
  stream_limit?: number | null;
  /**
   * Seconds after which the stream ends, from 1 to 4200; otherwise a time around an hour.
   */
  stream_timeout?: number | null;
  /**
   * Empty batches in a row on every partition after which the stream ends; 0 for never.
   */
  stream_keep_alive_limit?: number | null;
  /**
   * Seconds that events may be out without a commit; 0 for the longest.
   */
  commit_timeout?: number | null;
  /**
   * The partitions to take from others and read; without them the stream gets its share.
   */
  partitions?:
    | {
        event_type: string;
        partition: string | number;
      }[]
    | null;
}
/**
 * Who reads which event types together, with one set of committed cursors.
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
   * The same for the same owner, event types and consumer group.
   */
  id: string;
  created_at: string;
  updated_at: string;
  status?: EventTypeStatistics;
}
/**
 * The committed cursors of a subscription, by event type and partition; none before it was first streamed or reset.
 */
interface SubscriptionCursors {
  items: SubscriptionCursor[];
}
/**
 * What a client says of a subscription. Other fields are ignored; the letter case of fixed words does not matter.
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
        event_type: string | number;
        partition: string | number;
        offset: string | number;
      }[]
    | null;
  /**
   * Kept and shown; who may do what is not checked yet.
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
  annotations?: {
    [k: string]: string | null;
  } | null;
  labels?: {
    [k: string]: string | null;
  } | null;
}
/**
 * Who streams which partition of a subscription, and how far behind it is.
 */
interface SubscriptionStatistics {
  items: EventTypeStatistics;
}
/**
 * The streams of a subscription that are open, its last commits and the last streams that ended. On one machine these are remembered until the service stops, on a cluster for 30 days, a few seconds late.
 */
interface SubscriptionStreams {
  items: {
    stream_id: string;
    node_id: string;
    opened_at: string;
    assignment_type: 'auto' | 'direct';
    partitions: {
      event_type: string;
      partition: string;
      state: 'assigned' | 'reassigning';
    }[];
  }[];
  /**
   * Nothing from before is remembered.
   */
  observed_since: string;
  last_commits: {
    event_type: string;
    partition: string;
    offset: string;
    committed_at: string;
  }[];
  /**
   * Newest first.
   */
  ended: {
    stream_id: string;
    ended_at: string;
    reason: string;
  }[];
}
/**
 * A page of subscriptions, newest first.
 */
interface Subscriptions {
  items: Subscription[];
  _links: Links;
}
/**
 * A feature toggle and since when it has its value.
 */
interface Toggle {
  name: 'ALLOW_NON_SCHEDULED_FEES' | 'PRINCIPAL_OVERPAYMENT' | 'fixInstallmentTaxOnPenalty';
  enabled: boolean;
  /**
   * Null for one that was never switched, and off.
   */
  switchedAt: string | null;
}
/**
 * The value that a toggle is to have.
 */
interface ToggleSwitch {
  enabled: boolean;
}
/**
 * Undoes a transaction; the path says which.
 */
interface TransactionAdjustment {
  /**
   * A calendar day; of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  notes?: string | null;
  /**
   * Not needed: what the path says holds.
   */
  transactionId?: string;
}
/**
 * What of a product is changed; what is absent stays. Loans go on as they were opened.
 */
interface UpdateProductPayload {
  /**
   * Under an inactive product no account can be opened.
   */
  state?: 'ACTIVE' | 'INACTIVE';
  name?: string;
  notes?: string;
}
/**
 * The version of the service.
 */
interface Version {
  version: string;
}
