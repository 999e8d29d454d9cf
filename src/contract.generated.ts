/* Generated from schemas/ by `npm run generate`. Do not edit. */

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
 * @maxItems 200
 */
type LoanCommandDays = (number | string)[] | null;
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
 * The number of events between two positions of a partition, in the order of the request.
 */
type CursorDistances = {
  initial_cursor: SentPosition;
  final_cursor: SentPosition;
  distance: number;
}[];
/**
 * The positions whose lag is requested.
 *
 * @maxItems 1000
 */
type CursorLagQueries = {
  /**
   * A partition of the event type.
   */
  partition: string;
  /**
   * As returned by the service, or a plain number of up to 15 digits, or BEGIN.
   */
  offset: string;
}[];
/**
 * Positions, and the number of events to shift each by.
 *
 * @maxItems 1000
 */
type CursorShiftQueries = {
  partition: string;
  /**
   * As returned by the service, or a plain number of up to 15 digits, or BEGIN.
   */
  offset: string;
  shift?: number;
}[];
type DeleteProductPayload = {} | null;
/**
 * Names the keys to delete, in the form of events. Other fields are needed only where they choose the partition.
 */
type DeletedEvents = {
  metadata: {
    partition_compaction_key: string;
    /**
     * Names the event in the response.
     */
    eid?: string;
    /**
     * For the partition strategy `user_defined`.
     */
    partition?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}[];
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
 * Events of one type that match its schema. Events of categories data and business need `metadata` with `eid` and `occurred_at`.
 */
type Events = {
  metadata?: {
    eid?: string;
    occurred_at?: string;
  };
  [k: string]: unknown;
}[];
/**
 * A JSON Patch (RFC 6902): all of its operations are done, or none. Names are in capitals or lower case, and a path may lack its first slash.
 *
 * @minItems 1
 * @maxItems 200
 */
type JsonPatch = {
  op: 'ADD' | 'REPLACE' | 'REMOVE' | 'MOVE' | 'add' | 'replace' | 'remove' | 'move';
  path: string;
  from?: string | null;
  value?: unknown;
}[];
/**
 * The balances of a loan. The toggles determine their names.
 */
type LoanBalances = LoanBalanceChangedBalances | LoanBalanceChangedBalancesWithNonScheduledFees;
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
/**
 * The default for an account, and the range that an account may choose from.
 */
type LoanCommandBoundedNumber = {
  /**
   * A number, or a text that is one.
   */
  defaultValue?: number | string | null;
  /**
   * A number, or a text that is one.
   */
  minValue?: number | string | null;
  /**
   * A number, or a text that is one.
   */
  maxValue?: number | string | null;
  /**
   * Accepted, not stored.
   */
  encodedKey?: {
    [k: string]: unknown;
  };
} | null;
/**
 * A custom field set: its fields, or a list of them for a grouped set. Values are kept as texts.
 *
 * @maxItems 200
 */
type LoanCommandFieldSet =
  | {
      [k: string]: string | number | boolean;
    }
  | {
      [k: string]: string | number | boolean;
    }[]
  | string
  | null;
/**
 * A JSON Patch of the account as GET shows it with all details.
 *
 * @minItems 1
 * @maxItems 200
 */
type LoanPatch = {
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
 * The shifted positions, in the order of the request.
 */
type ShiftedCursors = Position[];

/**
 * The JSON that the service and its clients exchange.
 */
export interface Contract {
  /**
   * Every schema of the API description by its name.
   */
  schemas: {
    Access: Access;
    Address: Address;
    AdjustTransactionPayload: AdjustTransactionPayload;
    ApiError: ApiError;
    ApiKey: ApiKey;
    ApiKeyRequest: ApiKeyRequest;
    ApiKeys: ApiKeys;
    ApplyFeePayload: ApplyFeePayload;
    ApplyInterestPayload: ApplyInterestPayload;
    ApplyPenaltyPayload: ApplyPenaltyPayload;
    Blacklist: Blacklist;
    Branch: Branch;
    BranchToSet: BranchToSet;
    BusinessDate: BusinessDate;
    BusinessDayClosed: BusinessDayClosed;
    Centre: Centre;
    CentreToSet: CentreToSet;
    ChangeStatePayload: ChangeStatePayload;
    CommandRejected: CommandRejected;
    CommandStatus: CommandStatus;
    Commit: Commit;
    CommitResults: CommitResults;
    ComparedSchema: ComparedSchema;
    Compatibility: Compatibility;
    CountBounds: CountBounds;
    CreateLoanPayload: CreateLoanPayload;
    CreatedApiKey: CreatedApiKey;
    Currency: Currency;
    CursorDistanceQueries: CursorDistanceQueries;
    CursorDistances: CursorDistances;
    CursorLagQueries: CursorLagQueries;
    CursorMove: CursorMove;
    CursorMoveRequest: CursorMoveRequest;
    CursorReset: CursorReset;
    CursorShiftQueries: CursorShiftQueries;
    CursorsAt: CursorsAt;
    CustomField: CustomField;
    CustomFieldSet: CustomFieldSet;
    CustomFieldSetToSet: CustomFieldSetToSet;
    CustomFieldToSet: CustomFieldToSet;
    DeadLetterMark: DeadLetterMark;
    DeadLetters: DeadLetters;
    DeleteLoanPayload: DeleteLoanPayload;
    DeleteProductPayload: DeleteProductPayload;
    DeletedEvents: DeletedEvents;
    DisbursePayload: DisbursePayload;
    EndOfDayPayload: EndOfDayPayload;
    EndOfDayProgress: EndOfDayProgress;
    EndOfDayRequest: EndOfDayRequest;
    EndOfDayResult: EndOfDayResult;
    ErasePersonalDataPayload: ErasePersonalDataPayload;
    EventType: EventType;
    EventTypeBatch: EventTypeBatch;
    EventTypeCheck: EventTypeCheck;
    EventTypeCheckRequest: EventTypeCheckRequest;
    EventTypeConsumers: EventTypeConsumers;
    EventTypeDefinition: EventTypeDefinition;
    EventTypeSchema: EventTypeSchema;
    EventTypeSchemas: EventTypeSchemas;
    EventTypeStatistic: EventTypeStatistic;
    EventTypeStatistics: EventTypeStatistics;
    Events: Events;
    FeatureSwitch: FeatureSwitch;
    Features: Features;
    GeneralSetup: GeneralSetup;
    Health: Health;
    HeldDeadLetter: HeldDeadLetter;
    Holidays: Holidays;
    HolidaysToSet: HolidaysToSet;
    JsonPatch: JsonPatch;
    KeyLimits: KeyLimits;
    KeyLimitsRequest: KeyLimitsRequest;
    LagHistory: LagHistory;
    LendingErrors: LendingErrors;
    Links: Links;
    LoanAccount: LoanAccount;
    LoanAccountChanged: LoanAccountChanged;
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
    LoanCommandFieldSet: LoanCommandFieldSet;
    LoanCommandTransactionDetails: LoanCommandTransactionDetails;
    LoanEvents: LoanEvents;
    LoanFeeEvent: LoanFeeEvent;
    LoanFeeEventFeeBalances: LoanFeeEventFeeBalances;
    LoanFeeEventFeeBalancesWithNonScheduled: LoanFeeEventFeeBalancesWithNonScheduled;
    LoanPatch: LoanPatch;
    LoanProduct: LoanProduct;
    LoanProductPayload: LoanProductPayload;
    LoanSchedule: LoanSchedule;
    LoanScheduleChanged: LoanScheduleChanged;
    LoanScheduleChangedInstallment: LoanScheduleChangedInstallment;
    LoanScheduleChangedPortion: LoanScheduleChangedPortion;
    LoanScheduleChangedTaxedPortion: LoanScheduleChangedTaxedPortion;
    LoanStateChanged: LoanStateChanged;
    LoanTransactionPosted: LoanTransactionPosted;
    LoanTransactionPostedTransaction: LoanTransactionPostedTransaction;
    LockPayload: LockPayload;
    LockTransactions: LockTransactions;
    MambuBatchV1: MambuBatchV1;
    MambuBatchV2: MambuBatchV2;
    MambuCommitResults: MambuCommitResults;
    MambuCommitV1: MambuCommitV1;
    MambuCommitV2: MambuCommitV2;
    MambuEvent: MambuEvent;
    MambuStatisticsV1: MambuStatisticsV1;
    MambuStatisticsV2: MambuStatisticsV2;
    MambuSubscriptionDefinitionV1: MambuSubscriptionDefinitionV1;
    MambuSubscriptionDefinitionV2: MambuSubscriptionDefinitionV2;
    MambuSubscriptionV1: MambuSubscriptionV1;
    MambuSubscriptionV2: MambuSubscriptionV2;
    Metrics: Metrics;
    NonWorkingDays: NonWorkingDays;
    NumberBounds: NumberBounds;
    OrganizationSettings: OrganizationSettings;
    OrganizationSetup: OrganizationSetup;
    Overview: Overview;
    Partition: Partition;
    PartitionCount: PartitionCount;
    PartitionMove: PartitionMove;
    PatchProductPayload: PatchProductPayload;
    PayOffAmounts: PayOffAmounts;
    PayOffPayload: PayOffPayload;
    PayOffPreview: PayOffPreview;
    Position: Position;
    PositionQuery: PositionQuery;
    PrincipalOverpaymentPayload: PrincipalOverpaymentPayload;
    Problem: Problem;
    PublishedItems: PublishedItems;
    Publishers: Publishers;
    Readiness: Readiness;
    RecalculateDueDatesPayload: RecalculateDueDatesPayload;
    Redelivery: Redelivery;
    ReduceFeesPayload: ReduceFeesPayload;
    ReduceInterestPayload: ReduceInterestPayload;
    ReducePenaltiesPayload: ReducePenaltiesPayload;
    RefinancePayload: RefinancePayload;
    RefundPayload: RefundPayload;
    RepayPayload: RepayPayload;
    ReschedulePayload: ReschedulePayload;
    RetainedEvent: RetainedEvent;
    RetainedEventLine: RetainedEventLine;
    RetainedEvents: RetainedEvents;
    RetainedEventsSummary: RetainedEventsSummary;
    SchemaChanges: SchemaChanges;
    SchemaDefinition: SchemaDefinition;
    SearchCriteria: SearchCriteria;
    SentPosition: SentPosition;
    ShiftedCursors: ShiftedCursors;
    StartBusinessDayPayload: StartBusinessDayPayload;
    StreamBatch: StreamBatch;
    StreamBatchInfo: StreamBatchInfo;
    StreamParameters: StreamParameters;
    StreamToken: StreamToken;
    StreamTokenRequest: StreamTokenRequest;
    Subscription: Subscription;
    SubscriptionCursor: SubscriptionCursor;
    SubscriptionCursors: SubscriptionCursors;
    SubscriptionDefinition: SubscriptionDefinition;
    SubscriptionStatistics: SubscriptionStatistics;
    SubscriptionStreams: SubscriptionStreams;
    Subscriptions: Subscriptions;
    TerminatePayload: TerminatePayload;
    Toggle: Toggle;
    ToggleSwitch: ToggleSwitch;
    Toggles: Toggles;
    TransactionAdjustment: TransactionAdjustment;
    TransactionChannel: TransactionChannel;
    TransactionChannelToSet: TransactionChannelToSet;
    UndoRefinancePayload: UndoRefinancePayload;
    UndoReschedulePayload: UndoReschedulePayload;
    UndoWriteOffPayload: UndoWriteOffPayload;
    UnlockPayload: UnlockPayload;
    UpdateLoanPayload: UpdateLoanPayload;
    User: User;
    Version: Version;
    WriteOffPayload: WriteOffPayload;
  };
  /**
   * The JSON of requests, by operationId.
   */
  requests: {
    createEventType: EventTypeDefinition;
    updateEventType: EventTypeDefinition;
    addSchema: SchemaDefinition;
    setPartitionCount: PartitionCount;
    checkCompatibility: ComparedSchema;
    checkEventType: EventTypeCheckRequest;
    publishEvents: Events;
    deleteEvents: DeletedEvents;
    measureCursorDistances: CursorDistanceQueries;
    shiftCursors: CursorShiftQueries;
    measureCursorLag: CursorLagQueries;
    findCursorsAt: CursorsAt;
    switchFeature: FeatureSwitch;
    createApiKey: ApiKeyRequest;
    createSubscription: SubscriptionDefinition;
    updateSubscription: SubscriptionDefinition;
    moveCursors: CursorMoveRequest;
    openStreamWithBody: StreamParameters;
    resetCursors: CursorReset;
    commitCursors: Commit;
    createStreamToken: StreamTokenRequest;
    createMambuSubscriptionV1: MambuSubscriptionDefinitionV1;
    commitMambuCursorsV1: MambuCommitV1;
    createMambuSubscriptionV2: MambuSubscriptionDefinitionV2;
    commitMambuCursorsV2: MambuCommitV2;
    switchToggle: ToggleSwitch;
    createLoanProduct: LoanProductPayload;
    /**
     * Changes (RFC 6902), made in this order, all or none.
     *
     * @minItems 1
     * @maxItems 200
     */
    patchLoanProduct: {
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
    updateLoanProduct: LoanProductPayload;
    createLoan: CreateLoanPayload;
    previewLoanSchedule: CreateLoanPayload;
    previewSchedule: CreateLoanPayload;
    replaceLoan: CreateLoanPayload;
    patchLoan: LoanPatch;
    changeLoanState: ChangeStatePayload;
    disburseLoan: DisbursePayload;
    applyFee: ApplyFeePayload;
    repayLoan: RepayPayload;
    applyPenalty: ApplyPenaltyPayload;
    overpayPrincipal: PrincipalOverpaymentPayload;
    adjustTransaction: TransactionAdjustment;
    applyInterest: ApplyInterestPayload;
    reduceInterest: ReduceInterestPayload;
    reduceFees: ReduceFeesPayload;
    reducePenalties: ReducePenaltiesPayload;
    previewPayOff: PayOffPreview;
    payOff: PayOffPayload;
    writeOff: WriteOffPayload;
    undoWriteOff: UndoWriteOffPayload;
    lockLoan: LockPayload;
    unlockLoan: UnlockPayload;
    refund: RefundPayload;
    terminate: TerminatePayload;
    recalculateDueDates: RecalculateDueDatesPayload;
    erasePersonalData: ErasePersonalDataPayload;
    reschedule: ReschedulePayload;
    refinance: RefinancePayload;
    undoReschedule: UndoReschedulePayload;
    undoRefinance: UndoRefinancePayload;
    searchLoans: SearchCriteria;
    searchTransactions: SearchCriteria;
    endOfDay: EndOfDayRequest;
    setOrganizationSetup: OrganizationSettings;
    patchOrganizationSetup: JsonPatch;
    setHolidays: HolidaysToSet;
    setNonWorkingDays: NonWorkingDays;
    createBranch: BranchToSet;
    setBranch: BranchToSet;
    createCentre: CentreToSet;
    setCentre: CentreToSet;
    createTransactionChannel: TransactionChannelToSet;
    setTransactionChannel: TransactionChannelToSet;
    createCustomFieldSet: CustomFieldSetToSet;
    setCustomFieldSet: CustomFieldSetToSet;
    patchCustomFieldSet: JsonPatch;
    createCustomField: CustomFieldToSet;
    setCustomField: CustomFieldToSet;
    patchCustomField: JsonPatch;
    /**
     * Not read.
     */
    createIndexRateSource: {
      [k: string]: unknown;
    };
    markDeadLetter: DeadLetterMark;
  };
  /**
   * The JSON of successful responses, by operationId; of a stream a line.
   */
  responses: {
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
    listSchemaChanges: SchemaChanges;
    listEventTypeConsumers: EventTypeConsumers;
    listPublishers: Publishers;
    publishEvents: PublishedItems;
    readEvents: EventTypeBatch;
    deleteEvents: PublishedItems;
    findRetainedEvents: RetainedEvents;
    findPartitionEvents: RetainedEvents;
    measureCursorDistances: CursorDistances;
    shiftCursors: ShiftedCursors;
    measureCursorLag: Partition[];
    findCursorsAt: ShiftedCursors;
    getBlacklist: Blacklist;
    listFeatures: Features;
    listApiKeys: ApiKeys;
    createApiKey: CreatedApiKey;
    getApiKey: ApiKey;
    getAccess: Access;
    createSubscription: Subscription;
    listSubscriptions: Subscriptions;
    getSubscription: Subscription;
    getSubscriptionStatistics: SubscriptionStatistics;
    listSubscriptionStreams: SubscriptionStreams;
    getLagHistory: LagHistory;
    moveCursors: CursorMove;
    openStream: StreamBatch;
    openStreamWithBody: StreamBatch;
    listCursors: SubscriptionCursors;
    commitCursors: CommitResults;
    createStreamToken: StreamToken;
    createMambuSubscriptionV1: MambuSubscriptionV1;
    openMambuStreamV1: MambuBatchV1;
    commitMambuCursorsV1: MambuCommitResults;
    getMambuStatisticsV1: MambuStatisticsV1;
    createMambuSubscriptionV2: MambuSubscriptionV2 | MambuSubscriptionV1;
    openMambuStreamV2: MambuBatchV2 | MambuBatchV1;
    commitMambuCursorsV2: MambuCommitResults;
    getMambuStatisticsV2: MambuStatisticsV2 | MambuStatisticsV1;
    listToggles: Toggle[];
    getToggle: Toggle;
    switchToggle: Toggle;
    createLoanProduct: LoanProduct | CommandStatus;
    listLoanProducts: LoanProduct[];
    getLoanProduct: LoanProduct;
    patchLoanProduct: CommandStatus;
    updateLoanProduct: LoanProduct | CommandStatus;
    deleteLoanProduct: CommandStatus;
    createLoan: LoanAccount | CommandStatus;
    listLoans: LoanAccount[];
    previewLoanSchedule: LoanSchedule;
    previewSchedule: LoanSchedule;
    getLoan: LoanAccount;
    replaceLoan: LoanAccount | CommandStatus;
    patchLoan: CommandStatus;
    deleteLoan: CommandStatus;
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
    applyInterest: CommandStatus;
    reduceInterest: LoanTransactionPostedTransaction | CommandStatus;
    reduceFees: LoanTransactionPostedTransaction | CommandStatus;
    reducePenalties: LoanTransactionPostedTransaction | CommandStatus;
    previewPayOff: PayOffAmounts;
    payOff: CommandStatus;
    writeOff: CommandStatus;
    undoWriteOff: CommandStatus;
    lockLoan: LockTransactions | CommandStatus;
    unlockLoan: LockTransactions | CommandStatus;
    refund: LoanTransactionPostedTransaction | CommandStatus;
    terminate: CommandStatus;
    recalculateDueDates: CommandStatus;
    erasePersonalData: CommandStatus;
    reschedule: LoanAccount | CommandStatus;
    refinance: LoanAccount | CommandStatus;
    undoReschedule: CommandStatus;
    undoRefinance: CommandStatus;
    searchLoans: LoanAccount[];
    searchTransactions: LoanTransactionPostedTransaction[];
    readTransaction: LoanTransactionPostedTransaction;
    listInstallments: LoanScheduleChangedInstallment[];
    getCommand: CommandStatus;
    getBusinessDate: BusinessDate;
    getEndOfDay: EndOfDayProgress;
    endOfDay: EndOfDayResult;
    getOrganizationSetup: OrganizationSetup;
    setOrganizationSetup: OrganizationSetup;
    getHolidays: Holidays;
    setHolidays: Holidays;
    getNonWorkingDays: NonWorkingDays;
    setNonWorkingDays: NonWorkingDays;
    listBranches: Branch[];
    createBranch: Branch;
    getBranch: Branch;
    setBranch: Branch;
    listCentres: Centre[];
    createCentre: Centre;
    getCentre: Centre;
    setCentre: Centre;
    listTransactionChannels: TransactionChannel[];
    createTransactionChannel: TransactionChannel;
    getTransactionChannel: TransactionChannel;
    setTransactionChannel: TransactionChannel;
    listCustomFieldSets: CustomFieldSet[];
    createCustomFieldSet: CustomFieldSet;
    getCustomFieldSet: CustomFieldSet;
    setCustomFieldSet: CustomFieldSet;
    listCustomFields: CustomField[];
    createCustomField: CustomField;
    getCustomField: CustomField;
    setCustomField: CustomField;
    listUsers: User[];
    getUser: User;
    listCurrencies: Currency[];
    getCurrency: Currency;
    /**
     * @maxItems 0
     */
    listIndexRateSources: unknown[];
    getGeneralSetup: GeneralSetup;
    getHealth: Health;
    getReadiness: Readiness;
    getMetrics: Metrics;
    getVersion: Version;
    getDescription: {
      [k: string]: unknown;
    };
    getOverview: Overview;
    listDeadLetters: DeadLetters;
    redeliverDeadLetter: Redelivery;
  };
}
/**
 * Who sent the request, and all roles and permissions.
 */
interface Access {
  /**
   * Whether requests without credentials pass.
   */
  open: boolean;
  principal: {
    name: string;
    application: string | null;
    scopes: string[];
    permissions: string[];
  };
  roles: {
    name: string;
    permissions: string[];
  }[];
  permissions: {
    name: string;
    /**
     * What it allows.
     */
    text: string;
  }[];
}
/**
 * Where an institution or one of its branches is.
 */
interface Address {
  line1?: string;
  line2?: string;
  city?: string;
  region?: string;
  postcode?: string;
  country?: string;
  latitude?: number;
  longitude?: number;
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
interface ApiError {
  errorCode: number;
  errorReason: string;
  errorSource: string;
  errorMessage?: string;
}
/**
 * An API key, without the key itself.
 */
interface ApiKey {
  /**
   * What `published_by` and the audit call the holder.
   */
  name: string;
  /**
   * The application that the holder acts for.
   */
  owning_application: string;
  /**
   * Roles and permissions, as GET /access lists them.
   *
   * @minItems 1
   * @maxItems 50
   */
  scopes: string[];
  /**
   * The subject of the certificate by which its holder is known in place of a key; null for a key.
   */
  certificate_subject: string | null;
  created_at: string;
  /**
   * The name of its creator.
   */
  created_by: string;
  /**
   * Null for a key that does not expire.
   */
  expires_at: string | null;
  /**
   * To the hour; null when it was not used.
   */
  last_used_at: string | null;
  limits: KeyLimits;
}
/**
 * The limits that a key has of its own. The settings of the service have the others.
 */
interface KeyLimits {
  /**
   * Requests to one process.
   */
  requests_per_second?: number;
  /**
   * Commits of cursors to one process.
   */
  commits_per_second?: number;
  /**
   * Bytes of the bodies of its requests in progress on one process.
   */
  body_bytes_in_flight?: number;
  /**
   * Streams open on one process.
   */
  open_streams?: number;
  /**
   * Subscriptions of its application.
   */
  subscriptions?: number;
  /**
   * Event types of its application.
   */
  event_types?: number;
}
/**
 * A key to be created.
 */
interface ApiKeyRequest {
  /**
   * Unique, and not a name that the service uses itself.
   */
  name: string;
  /**
   * The application that the holder acts for: it may use what belongs to this application.
   */
  owning_application: string;
  /**
   * Roles and permissions, as GET /access lists them.
   *
   * @minItems 1
   * @maxItems 50
   */
  scopes: string[];
  /**
   * In the future. Null, the default, for a key that does not expire.
   */
  expires_at?: string | null;
  /**
   * For a holder with a client certificate in place of a key: its subject as in RFC 4514, such as CN=payments,O=Bank.
   */
  certificate_subject?: string | null;
  limits?: KeyLimitsRequest;
}
/**
 * The limits that a key has of its own. The settings of the service have the others.
 */
interface KeyLimitsRequest {
  /**
   * Requests to one process.
   */
  requests_per_second?: number | null;
  /**
   * Commits of cursors to one process.
   */
  commits_per_second?: number | null;
  /**
   * Bytes of the bodies of its requests in progress on one process.
   */
  body_bytes_in_flight?: number | null;
  /**
   * Streams open on one process.
   */
  open_streams?: number | null;
  /**
   * Subscriptions of its application.
   */
  subscriptions?: number | null;
  /**
   * Event types of its application.
   */
  event_types?: number | null;
}
/**
 * All API keys, by name.
 */
interface ApiKeys {
  items: ApiKey[];
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
  amount?: number | string | null;
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
  amount: number | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
}
/**
 * The event types and applications that operators have blocked.
 */
interface Blacklist {
  /**
   * What cannot be streamed, nor committed.
   */
  consumers: {
    event_types: string[];
    apps: string[];
  };
  /**
   * What cannot be published.
   */
  producers: {
    event_types: string[];
    apps: string[];
  };
}
/**
 * A branch of the institution.
 */
interface Branch {
  /**
   * Id of a loan account or a product.
   */
  id: string;
  encodedKey: string;
  name: string;
  state: 'ACTIVE' | 'INACTIVE';
  notes?: string;
  /**
   * @maxItems 200
   */
  addresses?: Address[];
  emailAddress?: string;
  phoneNumber?: string;
  creationDate: string;
  lastModifiedDate: string;
}
/**
 * A branch. PUT replaces all of its fields; `state` is ACTIVE by default.
 */
interface BranchToSet {
  /**
   * Id of a loan account or a product.
   */
  id?: string;
  name: string;
  state?: 'ACTIVE' | 'INACTIVE';
  notes?: string;
  /**
   * @maxItems 200
   */
  addresses?: Address[];
  emailAddress?: string;
  phoneNumber?: string;
  /**
   * A branch has no holidays of its own.
   *
   * @maxItems 0
   */
  branchHolidays?: unknown[];
  /**
   * Accepted as GET gave it; means nothing.
   */
  encodedKey?: string;
  creationDate?: string;
  lastModifiedDate?: string;
}
/**
 * The business date of the organization.
 */
interface BusinessDate {
  /**
   * The business date.
   */
  businessDate: string;
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
 * A centre: a place of a branch where groups of clients meet.
 */
interface Centre {
  /**
   * Id of a loan account or a product.
   */
  id: string;
  encodedKey: string;
  name: string;
  state: 'ACTIVE' | 'INACTIVE';
  notes?: string;
  /**
   * @maxItems 200
   */
  addresses?: Address[];
  assignedBranchKey?: string;
  creationDate: string;
  lastModifiedDate: string;
}
/**
 * A centre. PUT replaces all of its fields; `state` is ACTIVE by default.
 */
interface CentreToSet {
  /**
   * Id of a loan account or a product.
   */
  id?: string;
  name: string;
  state?: 'ACTIVE' | 'INACTIVE';
  notes?: string;
  /**
   * @maxItems 200
   */
  addresses?: Address[];
  /**
   * The encodedKey of a branch.
   */
  assignedBranchKey?: string;
  /**
   * Accepted as GET gave it; means nothing.
   */
  encodedKey?: string;
  creationDate?: string;
  lastModifiedDate?: string;
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
/**
 * Cursors to commit, as the stream sent them with its batches.
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
 * The outcome for each cursor of a commit, in the order of the request. Returned when at least one cursor did not move its partition forward.
 */
interface CommitResults {
  items: {
    cursor: {
      event_type: string;
      partition: string;
      /**
       * As sent in the request.
       */
      offset: string;
      cursor_token: string;
    };
    result: 'committed' | 'outdated';
  }[];
}
/**
 * A schema to compare with another.
 */
interface ComparedSchema {
  /**
   * Optional.
   */
  type?: 'json_schema' | null;
  /**
   * The JSON Schema as text.
   */
  schema: string;
}
/**
 * Whether a schema is compatible with another.
 */
interface Compatibility {
  compatible: boolean;
  compatibility_mode: 'compatible' | 'forward' | 'none';
  /**
   * The version of the schema it was compared with.
   */
  version: string;
  error: string | null;
}
/**
 * The default for an account, and the range that an account may choose from.
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
  accountHolderType?: 'CLIENT' | 'GROUP' | '' | null;
  /**
   * encodedKey or id of the product.
   */
  productTypeKey: string;
  /**
   * A number, or a text that is one.
   */
  loanAmount: number | string;
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
  allowOffset?: string | null | number | boolean;
  /**
   * The same as of the product.
   */
  futurePaymentsAcceptance?: string | null | number | boolean;
  /**
   * The same as of the product.
   */
  latePaymentsRecalculationMethod?: string | null | number | boolean;
  /**
   * The same as of the product.
   */
  modifyInterestForFirstInstallment?: string | null | number | boolean;
  /**
   * The same as of the product.
   */
  paymentMethod?: string | null | number | boolean;
  /**
   * The same as of the product.
   */
  taxRate?: string | null | number | boolean;
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
    accrueInterestAfterMaturity?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    accrueLateInterest?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestApplicationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestBalanceCalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestCalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestChargeFrequency?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestRateSource?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    interestType?: string | null | number | boolean;
    /**
     * A number, or a text that is one.
     */
    interestRate?: number | string | null;
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
    gracePeriodType?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    repaymentScheduleMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    scheduleDueDatesMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    shortMonthHandlingMethod?: string | null | number | boolean;
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
          amount?: number | string | null;
          /**
           * Of a fee whose percentage the product leaves open.
           */
          percentage?: number | string | null;
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
    loanPenaltyCalculationMethod?: string | null | number | boolean;
    /**
     * A number, or a text that is one.
     */
    penaltyRate?: number | string | null;
  } | null;
  currency?: {
    /**
     * The same as of the product.
     */
    code?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    currencyCode?: string | null | number | boolean;
  } | null;
  prepaymentSettings?: {
    /**
     * The same as of the product.
     */
    applyInterestOnPrepaymentMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    elementsRecalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    prepaymentRecalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    principalPaidInstallmentStatus?: string | null | number | boolean;
  } | null;
  accountArrearsSettings?: {
    /**
     * The same as of the product.
     */
    dateCalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    monthlyToleranceDay?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    nonWorkingDaysMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    toleranceCalculationMethod?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    toleranceFloorAmount?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    tolerancePercentageOfOutstandingPrincipal?: string | null | number | boolean;
    /**
     * The same as of the product.
     */
    tolerancePeriod?: string | null | number | boolean;
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
        amount: number | string;
        /**
         * A number, or a text that is one.
         */
        originalAmount?: number | string | null;
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
        amount: number | string;
      }[]
    | null;
  notes?: string | null;
}
/**
 * A new API key, with the key itself.
 */
interface CreatedApiKey {
  /**
   * What `published_by` and the audit call the holder.
   */
  name: string;
  /**
   * The application that the holder acts for.
   */
  owning_application: string;
  /**
   * Roles and permissions, as GET /access lists them.
   *
   * @minItems 1
   * @maxItems 50
   */
  scopes: string[];
  /**
   * The subject of the certificate by which its holder is known in place of a key; null for a key.
   */
  certificate_subject: string | null;
  created_at: string;
  /**
   * The name of its creator.
   */
  created_by: string;
  /**
   * Null for a key that does not expire.
   */
  expires_at: string | null;
  /**
   * To the hour; null when it was not used.
   */
  last_used_at: string | null;
  limits: KeyLimits;
  /**
   * The key. It is not stored, and cannot be shown again. Null for a holder with a certificate.
   */
  key: string | null;
}
/**
 * The currency of the organization, or one of its products.
 */
interface Currency {
  code: string;
  name: string;
  symbol: string;
  digitsAfterDecimal: number;
  type: 'FIAT_CURRENCY' | 'CRYPTOCURRENCY';
  currencySymbolPosition: 'BEFORE_NUMBER';
  baseCurrency: boolean;
}
interface PositionQuery {
  partition: string;
  /**
   * As returned by the service, or a plain number of up to 15 digits, or BEGIN.
   */
  offset: string;
}
/**
 * As sent in the request.
 */
interface SentPosition {
  partition: string;
  offset: string;
}
/**
 * How far the cursors of a subscription move, or moved.
 */
interface CursorMove {
  applied: boolean;
  /**
   * Streams that are open before the move, which ends them.
   */
  open_streams: number;
  skipped: number;
  repeated: number;
  items: PartitionMove[];
}
interface PartitionMove {
  event_type: string;
  partition: string;
  /**
   * The last event that counts as processed now.
   */
  before: string;
  /**
   * The last event that counts as processed after the move.
   */
  after: string;
  /**
   * How many events will not be delivered.
   */
  skipped: number;
  /**
   * How many events will be delivered again.
   */
  repeated: number;
}
/**
 * Where cursors go, or the items of a dry run, which are applied.
 */
interface CursorMoveRequest {
  /**
   * Exactly one of its fields.
   */
  to?: {
    position?: 'begin' | 'end';
    /**
     * Before the first event of this time.
     */
    time?: string;
    /**
     * After this event, of one partition.
     */
    offset?: string;
    /**
     * By so many events, at most to the first and the last one.
     */
    shift?: number;
    /**
     * Where this other subscription is.
     */
    subscription_id?: string;
  };
  /**
   * Which partitions move; by default all.
   */
  only?: {
    event_type?: string;
    partition?: string;
  };
  /**
   * Says what would happen, and moves nothing.
   */
  dry_run?: boolean;
  /**
   * In place of `to`: those of a dry run.
   *
   * @maxItems 10000
   */
  items?: {
    event_type: string;
    partition: string;
    before: string;
    after: string;
  }[];
}
/**
 * The positions to resume from. An empty list only fixes where a subscription begins that was never streamed.
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
interface CursorsAt {
  /**
   * The moment, with its zone.
   */
  time: string;
}
/**
 * A custom field.
 */
interface CustomField {
  /**
   * No other field of any set has it.
   */
  id: string;
  encodedKey: string;
  availableFor: 'LOAN_ACCOUNT' | 'ASSET' | 'GUARANTOR' | 'TRANSACTION_TYPE' | 'TRANSACTION_CHANNEL';
  type:
    | 'FREE_TEXT'
    | 'SELECTION'
    | 'NUMBER'
    | 'CHECKBOX'
    | 'DATE'
    | 'DATE_TIME'
    | 'CLIENT_LINK'
    | 'GROUP_LINK'
    | 'USER_LINK';
  state: 'ACTIVE' | 'INACTIVE';
  displaySettings: {
    displayName: string;
    description?: string;
    fieldSize: 'SHORT' | 'LONG';
    position: number;
  };
  /**
   * @maxItems 200
   */
  usage: {
    objectKey?: string;
    required: boolean;
    default: boolean;
  }[];
  valueValidationSettings: {
    unique: false;
    /**
     * Of FREE_TEXT: each `@` is a letter, each `#` a digit, each `$` either; any other character stands for itself.
     */
    validationPattern?: string;
    minLength?: number;
    maxLength?: number;
    /**
     * An exact decimal.
     */
    minValue?: string;
    /**
     * An exact decimal.
     */
    maxValue?: string;
  };
  /**
   * @maxItems 200
   */
  selectionOptions: {
    forSelectionKey?: string;
    forValue?: string;
    /**
     * @minItems 1
     * @maxItems 200
     */
    availableOptions: {
      value: string;
      selectionKey?: string;
      score?: number;
    }[];
  }[];
  dependentFieldKey?: string;
  viewRights: {
    allUsers: true;
    /**
     * @maxItems 0
     */
    roles: unknown[];
  };
  editRights: {
    allUsers: true;
    /**
     * @maxItems 0
     */
    roles: unknown[];
  };
  creationDate: string;
  lastModifiedDate: string;
}
/**
 * A set of custom fields.
 */
interface CustomFieldSet {
  /**
   * Begins with an underscore. No other set has it.
   */
  id: string;
  encodedKey: string;
  availableFor: 'LOAN_ACCOUNT' | 'ASSET' | 'GUARANTOR' | 'TRANSACTION_TYPE' | 'TRANSACTION_CHANNEL';
  /**
   * A grouped set is a list of groups, each with the fields of the set.
   */
  fieldSetType: 'STANDARD' | 'GROUPED';
  description?: string;
  /**
   * The values say something of persons, and go when the personal data of their account is erased. Absent when they do not.
   */
  personalData?: true;
  displaySettings: {
    displayName: string;
    position: number;
    builtIn: false;
  };
  /**
   * The fields of the set.
   */
  customFields: {
    /**
     * No other field of any set has it.
     */
    id: string;
    encodedKey: string;
  }[];
  creationDate: string;
}
/**
 * A set of custom fields. PUT replaces all of it. Once the set has fields, `availableFor` and `fieldSetType` stay as they are.
 */
interface CustomFieldSetToSet {
  /**
   * Begins with an underscore. No other set has it.
   */
  id?: string;
  /**
   * What can have the set.
   */
  availableFor: 'LOAN_ACCOUNT' | 'ASSET' | 'GUARANTOR' | 'TRANSACTION_TYPE' | 'TRANSACTION_CHANNEL';
  /**
   * `STANDARD` by default. A grouped set is a list of groups, each with the fields of the set.
   */
  fieldSetType?: 'STANDARD' | 'GROUPED';
  description?: string;
  /**
   * Whether the values say something of persons. They then go when the personal data of their account is erased. `false` by default.
   */
  personalData?: true | false | 'true' | 'false';
  /**
   * How programs show the set to people.
   */
  displaySettings: {
    displayName: string;
    /**
     * A whole number, or a text that is one.
     */
    position?: number | string;
    /**
     * No set is built in.
     */
    builtIn?: false | 'false';
  };
  /**
   * Accepted as GET gave it; means nothing.
   */
  customFields?: unknown[];
  /**
   * Accepted as GET gave it; means nothing.
   */
  encodedKey?: string;
  creationDate?: string;
  lastModifiedDate?: string;
}
/**
 * A custom field. PUT replaces all of it; `type` stays as it is.
 */
interface CustomFieldToSet {
  /**
   * No other field of any set has it.
   */
  id?: string;
  /**
   * That of the set; may be left out.
   */
  availableFor?: 'LOAN_ACCOUNT' | 'ASSET' | 'GUARANTOR' | 'TRANSACTION_TYPE' | 'TRANSACTION_CHANNEL';
  /**
   * What a value may be. A link is the encodedKey of a client, a group or a user.
   */
  type:
    | 'FREE_TEXT'
    | 'SELECTION'
    | 'NUMBER'
    | 'CHECKBOX'
    | 'DATE'
    | 'DATE_TIME'
    | 'CLIENT_LINK'
    | 'GROUP_LINK'
    | 'USER_LINK';
  /**
   * `ACTIVE` by default. An inactive field takes no new value; the values that it has stay.
   */
  state?: 'ACTIVE' | 'INACTIVE';
  /**
   * How programs show the field to people.
   */
  displaySettings: {
    displayName: string;
    description?: string;
    fieldSize?: 'SHORT' | 'LONG';
    /**
     * A whole number, or a text that is one.
     */
    position?: number | string;
  };
  /**
   * Where the field may stand. Empty: on everything that can have the set, and never required.
   *
   * @maxItems 200
   */
  usage?: {
    /**
     * The id or encodedKey of a product, or of a transaction channel, or the type of a transaction; all of them when it is absent.
     */
    objectKey?: string;
    /**
     * Whether the field must have a value there.
     */
    required?: true | false | 'true' | 'false';
    /**
     * Whether programs show it there without being asked.
     */
    default?: true | false | 'true' | 'false';
  }[];
  /**
   * The limits of a value. Lengths and values are fields of this service.
   */
  valueValidationSettings?: {
    /**
     * No field is unique.
     */
    unique?: false | 'false';
    /**
     * Of FREE_TEXT: each `@` is a letter, each `#` a digit, each `$` either; any other character stands for itself.
     */
    validationPattern?: string;
    /**
     * Of FREE_TEXT. Characters.
     */
    minLength?: number | string;
    /**
     * Of FREE_TEXT. Characters.
     */
    maxLength?: number | string;
    /**
     * Of NUMBER.
     */
    minValue?: number | string;
    /**
     * Of NUMBER.
     */
    maxValue?: number | string;
  };
  /**
   * The values of a SELECTION: one list, or one for each value of the selection that it depends on.
   *
   * @maxItems 200
   */
  selectionOptions?: {
    forSelectionKey?: string;
    forValue?: string;
    /**
     * @minItems 1
     * @maxItems 200
     */
    availableOptions: {
      value: string;
      selectionKey?: string;
      /**
       * A number, or a text that is one.
       */
      score?: number | string;
    }[];
  }[];
  /**
   * The encodedKey or id of the selection of the same set on which this one depends.
   */
  dependentFieldKey?: string;
  /**
   * Any client with a key may see and change every field.
   */
  viewRights?: {
    allUsers?: true | 'true';
    /**
     * @maxItems 0
     */
    roles?: unknown[];
  };
  /**
   * Any client with a key may see and change every field.
   */
  editRights?: {
    allUsers?: true | 'true';
    /**
     * @maxItems 0
     */
    roles?: unknown[];
  };
  /**
   * Accepted as GET gave it; means nothing.
   */
  encodedKey?: string;
  creationDate?: string;
  lastModifiedDate?: string;
}
/**
 * Whether a person has dealt with a letter.
 */
interface DeadLetterMark {
  dealt_with?: boolean;
  /**
   * What was done, for people.
   */
  note?: string;
}
/**
 * A page of dead letters.
 */
interface DeadLetters {
  items: HeldDeadLetter[];
  /**
   * Why the page has no more events: it is full, nothing is left in this direction, or it has searched as much as one page may.
   */
  ended_by: 'limit' | 'end' | 'search_limit';
  /**
   * How many positions this page has passed, of those in `of`.
   */
  read: number;
  /**
   * How many positions lie between the beginning of this page and the end of its direction. On compacted event types there are fewer events.
   */
  of: number;
  /**
   * How many records of other producers were left out because they are no JSON.
   */
  unreadable: number;
  /**
   * The `token` of the next page. Absent when a backward page has reached the first event.
   */
  next?: string;
  /**
   * The `token` of the page in the other direction that begins where this one began.
   */
  previous: string;
}
interface HeldDeadLetter {
  /**
   * Its partition and position in the queue.
   */
  id: string;
  /**
   * What a person did about it; null for nothing yet.
   */
  dealt_with: {
    [k: string]: unknown;
  };
  partition: string;
  /**
   * The place of the event in its partition. A cursor with it continues after the event.
   */
  offset: string;
  /**
   * When the event was stored.
   */
  timestamp: string;
  /**
   * The key of its record: the values of the partition key fields, or the compaction key.
   */
  key?: string;
  /**
   * The letter: for a command its reason, id, place and bytes; for an event of a subscription, the dead letter of its event type.
   */
  event: {
    [k: string]: unknown;
  };
}
interface DeleteLoanPayload {}
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
        amount?: number | string | null;
        /**
         * A number, or a text that is one.
         */
        percentage?: number | string | null;
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
  amount?: number | string | null;
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
interface EndOfDayPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  businessDate: string;
}
/**
 * How far the end of a day is, for each partition of accounts, and when the next one begins.
 */
interface EndOfDayProgress {
  /**
   * The last day that is over. Once it is closed for every partition: the first day that is not.
   */
  businessDate: string;
  partitions: {
    /**
     * The partition of accounts.
     */
    partition: number;
    /**
     * The last day that was closed. Absent before the first end of a day.
     */
    closedDay?: string;
    /**
     * How many accounts the end of the `businessDate` still has to visit: nothing happens to the others by then. While the day is being closed, it counts down.
     */
    accountsDue: number;
    /**
     * How many accounts the last closed day has not reached: the end of the day failed on them, which the dead letters tell, or an entry was dated back since. The next end of a day visits them again.
     */
    accountsBehind: number;
  }[];
  /**
   * When the process that responds closes days by itself. Absent when it does not.
   */
  schedule?: {
    /**
     * The cron expression of `END_OF_DAY_SCHEDULE`, in the time zone of the organization.
     */
    expression: string;
    /**
     * Absent when the expression names no time to come.
     */
    nextRun?: string;
  };
}
/**
 * The day to close.
 */
interface EndOfDayRequest {
  /**
   * The day to close. It must be over. Default: yesterday, where the organization is.
   */
  businessDate?: string | null;
}
/**
 * How far the end of a day is.
 */
interface EndOfDayResult {
  /**
   * The day that is closed.
   */
  businessDate: string;
  status: 'CLOSED' | 'PENDING';
}
/**
 * No fields: all that is personal goes.
 */
interface ErasePersonalDataPayload {}
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
 * One line of a stream without a subscription: consecutive events of one partition.
 */
interface EventTypeBatch {
  cursor: {
    partition: string;
    /**
     * The last event that was processed; `001-0001--1` before the first. Treat it as opaque.
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
 * Whether a definition, and an event under it, would be accepted. Nothing is saved or published.
 */
interface EventTypeCheck {
  valid: boolean;
  /**
   * Why it would be rejected.
   */
  detail: string | null;
  violations: {
    field: string;
    message: string;
  }[];
  /**
   * The current version of the schema.
   */
  current_version: string | null;
  /**
   * The version that the schema would have.
   */
  version: string | null;
  /**
   * The differences from the current schema.
   */
  changes: {
    kind: 'breaking' | 'narrowing' | 'extending' | 'wording';
    pointer: string;
    message: string;
  }[];
  /**
   * Null when no event was sent, or the definition would be rejected.
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
 * A definition or the name of an event type, and optionally an event to validate against it.
 */
interface EventTypeCheckRequest {
  event_type:
    | EventTypeDefinition
    | string
    | {
        [k: string]: unknown;
      };
  /**
   * Any JSON value.
   */
  event?: {
    [k: string]: unknown;
  };
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
 * The subscriptions that name an event type.
 */
interface EventTypeConsumers {
  total: number;
  items: {
    subscription_id: string;
    owning_application: string;
    consumer_group: string;
    /**
     * Of this event type; null for a subscription that was created since lags were computed.
     */
    unconsumed_events: number | null;
  }[];
}
/**
 * The versions of an event type's schema, newest first.
 */
interface EventTypeSchemas {
  items: EventTypeSchema[];
  _links: Links;
}
/**
 * Links to the previous and the next page.
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
 * A feature, and whether it is to be on.
 */
interface FeatureSwitch {
  /**
   * In any letter case.
   */
  feature:
    | 'delete_event_type_with_subscriptions'
    | 'disable_db_write_operations'
    | 'disable_event_type_creation'
    | 'disable_event_type_deletion'
    | 'disable_subscription_creation'
    | 'force_event_type_authz'
    | 'force_subscription_authz';
  enabled: boolean;
}
/**
 * The features that operators can switch, by name.
 */
interface Features {
  items: {
    feature:
      | 'delete_event_type_with_subscriptions'
      | 'disable_db_write_operations'
      | 'disable_event_type_creation'
      | 'disable_event_type_deletion'
      | 'disable_subscription_creation'
      | 'force_event_type_authz'
      | 'force_subscription_authz';
    enabled: boolean;
  }[];
}
/**
 * Rules that hold for every loan, and how programs show days and numbers.
 */
interface GeneralSetup {
  decimalSeparator: 'POINT' | 'COMMA';
  dateFormats: {
    DATE_FORMAT: string;
    DATE_TIME_FORMAT: string;
  };
  approvalDisbursalTwoManRuleEnabled: false;
  /**
   * @maxItems 0
   */
  assignmentConstraints: unknown[];
  enabledComponents: ('LOANS' | 'BRANCHES' | 'CENTRES')[];
  exposureType: 'UNLIMITED';
  multipleLoans: 'UNLIMITED';
}
/**
 * The health of each part of this process.
 */
interface Health {
  /**
   * Whether every part is ready.
   */
  ready: boolean;
  parts: {
    /**
     * E.g. log-writer, disk, data-folder, definitions, accounts-copy, log, coordination.
     */
    name: string;
    ready: boolean;
    /**
     * Since when it has been ready, or not ready.
     */
    since: string;
    /**
     * Why it is not ready; null while it is.
     */
    reason: string | null;
    /**
     * How far it is, while it reads the records of the log that it needs before it is ready; null otherwise. Records are counted by their offsets, which have gaps, so the numbers are not exact.
     */
    progress: {
      records_read: number;
      /**
       * All that the log had when the reading began.
       */
      records: number;
      percent: number;
      partitions: {
        partition: string;
        records_read: number;
        records: number;
      }[];
    } | null;
  }[];
}
/**
 * The days on which the institution is closed, in their order.
 */
interface Holidays {
  holidays: {
    id: number;
    name: string;
    date: string;
    /**
     * Whether the same day of the same month is a holiday in every year.
     */
    isAnnuallyRecurring: boolean;
  }[];
}
/**
 * All holidays, at most 200. One without an id gets the next number.
 */
interface HolidaysToSet {
  /**
   * @maxItems 200
   */
  holidays: {
    id?: number;
    name: string;
    date: string;
    /**
     * Whether the same day of the same month is a holiday in every year.
     */
    isAnnuallyRecurring?: boolean;
  }[];
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
 * The response of the lending API to a rejected request: one or more errors.
 */
interface LendingErrors {
  /**
   * @minItems 1
   */
  errors: ApiError[];
}
/**
 * A loan account. The names of its fee balances do not depend on the toggles.
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
  /**
   * The name of the product where the account has none.
   */
  loanName: string;
  accountHolderKey?: string;
  accountHolderType?: 'CLIENT' | 'GROUP';
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  accountState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'ACTIVE_IN_ARREARS' | 'CLOSED';
  accountSubState?:
    | 'LOCKED'
    | 'LOCKED_CAPPING'
    | 'REPAID'
    | 'REJECTED'
    | 'WITHDRAWN'
    | 'WRITTEN_OFF'
    | 'RESCHEDULED'
    | 'REFINANCED'
    | 'TERMINATED';
  /**
   * Exact, with the digits of the loan's currency.
   */
  loanAmount: number;
  currency: {
    code: string;
    currencyCode?: string;
  };
  creationDate: string;
  lastModifiedDate: string;
  approvedDate?: string;
  closedDate?: string;
  /**
   * An encodedKey.
   */
  activationTransactionKey?: string;
  paymentMethod: 'HORIZONTAL' | 'VERTICAL';
  notes?: string;
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
      | 'ANNUALIZED'
      | 'EVERY_MONTH'
      | 'EVERY_FOUR_WEEKS'
      | 'EVERY_WEEK'
      | 'EVERY_DAY'
      | 'EVERY_X_DAYS';
    interestType: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST';
    interestCalculationMethod: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED';
    accrueLateInterest: boolean;
    interestApplicationMethod?: string;
    interestBalanceCalculationMethod?: string;
    interestRateSource?: string;
    accrueInterestAfterMaturity?: boolean;
    interestRateReviewCount?: number;
    interestSpread?: number;
    accountInterestRateSettings?:
      | unknown[]
      | {
          [k: string]: unknown;
        };
    pmtAdjustmentThreshold?:
      | unknown[]
      | {
          [k: string]: unknown;
        };
  };
  modifyInterestForFirstInstallment: boolean;
  scheduleSettings: {
    repaymentInstallments: number;
    repaymentPeriodCount?: number;
    repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
    gracePeriod: number;
    gracePeriodType: 'NONE' | 'PAY_INTEREST_ONLY';
    principalRepaymentInterval: number;
    scheduleDueDatesMethod: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
    fixedDaysOfMonth: number[];
    shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH';
    defaultFirstRepaymentDueDateOffset: number;
    hasCustomSchedule: boolean;
    repaymentScheduleMethod?: string;
    amortizationPeriod?: number;
    periodicPayment?: number;
    billingCycle?:
      | unknown[]
      | {
          [k: string]: unknown;
        };
    paymentPlan?:
      | unknown[]
      | {
          [k: string]: unknown;
        };
    previewSchedule?:
      | unknown[]
      | {
          [k: string]: unknown;
        };
  };
  prepaymentSettings: {
    prepaymentRecalculationMethod:
      | 'NO_RECALCULATION'
      | 'RESCHEDULE_REMAINING_REPAYMENTS'
      | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
      | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
      | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
      | 'REDUCE_AMOUNT_PER_INSTALLMENT'
      | 'REDUCE_NUMBER_OF_INSTALLMENTS'
      | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
    applyInterestOnPrepaymentMethod?: string;
    elementsRecalculationMethod?: string;
    principalPaidInstallmentStatus?: string;
  };
  penaltySettings: {
    /**
     * Percent.
     */
    penaltyRate?: number;
    loanPenaltyCalculationMethod?: string;
  };
  disbursementDetails: {
    expectedDisbursementDate?: string;
    disbursementDate?: string;
    firstRepaymentDate?: string;
    /**
     * Optional fees of the product that the disbursement charges.
     */
    fees?: {
      /**
       * An encodedKey.
       */
      encodedKey: string;
      predefinedFeeEncodedKey: string;
      /**
       * Exact, with the digits of the loan's currency.
       */
      amount?: number;
      /**
       * Percent.
       */
      percentage?: number;
    }[];
    transactionDetails?: {
      transactionChannelId?: string;
      transactionChannelKey?: string;
      internalTransfer?: boolean;
    };
  };
  lastAccountAppraisalDate: string;
  /**
   * Exact, with the digits of the loan's currency.
   */
  accruedPenalty: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestFromArrearsAccrued: number;
  /**
   * Days since the oldest late installment fell due.
   */
  daysLate: number;
  /**
   * Days in arrears, the first one included.
   */
  daysInArrears: number;
  /**
   * Repayments dated ahead that wait for their day, the next one first; absent when none waits.
   *
   * @minItems 1
   * @maxItems 100
   */
  futurePayments?: {
    /**
     * Of its transaction, which has all that its sender asked for. Adjusting that takes it back.
     */
    encodedKey: string;
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: number;
    /**
     * It is posted when this day is over.
     */
    valueDate: string;
  }[];
  /**
   * Only of an account in arrears: since when.
   */
  lastSetToArrearsDate?: string;
  /**
   * Only of a locked account: what does not happen to it.
   *
   * @minItems 1
   */
  lockedOperations?: ('APPLY_INTEREST' | 'APPLY_FEES' | 'APPLY_PENALTIES')[];
  /**
   * The value date of the last lock, also when it has ended since.
   */
  lastLockedDate?: string;
  allowOffset?: boolean;
  adjustTotalDueForInstallmentsWithDifferentInterval?: boolean;
  futurePaymentsAcceptance?: string;
  latePaymentsRecalculationMethod?: string;
  assignedBranchKey?: string;
  assignedCentreKey?: string;
  assignedUserKey?: string;
  migrationEventKey?: string;
  arrearsTolerancePeriod?: number;
  interestCommission?: number;
  /**
   * As sent: empty.
   */
  feesSettings?:
    | {
        [k: string]: unknown;
      }
    | unknown[];
  /**
   * As sent.
   */
  accountArrearsSettings?: {
    [k: string]: unknown;
  };
  /**
   * As sent.
   */
  redrawSettings?: {
    [k: string]: unknown;
  };
  /**
   * As sent.
   */
  principalPaymentSettings?: {
    [k: string]: unknown;
  };
  /**
   * @maxItems 0
   */
  fundingSources?: unknown[];
  /**
   * @maxItems 0
   */
  plannedInstallmentFees?: unknown[];
  /**
   * @maxItems 0
   */
  tranches?: unknown[];
  /**
   * Only with all details.
   */
  assets?: {
    [k: string]: unknown;
  }[];
  /**
   * Only with all details.
   */
  guarantors?: {
    [k: string]: unknown;
  }[];
  /**
   * The encodedKey of the account that this one replaces.
   */
  originalAccountKey?: string;
  /**
   * The encodedKey of the account that replaced this one.
   */
  rescheduledAccountKey?: string;
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
 * A name that the toggle has removed since the last event. The balance continues under another name.
 */
interface LoanBalanceChangedClosedBalance {
  balanceAfter?: 0;
}
/**
 * A command for a loan or, for CREATE_PRODUCT, UPDATE_PRODUCT, PATCH_PRODUCT and DELETE_PRODUCT, for a product. The payload has the fields of the REST body of the same request; that of PATCH_PRODUCT has the list as its `operations`. A number may have at most fifteen significant digits.
 */
interface LoanCommand {
  /**
   * The metadata of every published event.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * A command that is sent twice with one id changes the loan once. Default: the event's eid.
   */
  commandId?: string;
  type:
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
  /**
   * Only of END_OF_DAY: the partition of accounts whose day it closes.
   */
  partition?: number;
}
/**
 * The events of a loan that are still retained, in the loan's order, each as its consumers received it.
 */
interface LoanEvents {
  items: (
    | LoanTransactionPosted
    | LoanFeeEvent
    | LoanBalanceChanged
    | LoanScheduleChanged
    | LoanAccountChanged
    | LoanStateChanged
    | CommandRejected
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
    /**
     * Always 0.
     */
    interestFromArrearsAmount?: number;
    /**
     * Always 0.
     */
    deferredInterestAmount?: number;
    /**
     * Always 0.
     */
    paymentHolidaysInterestAmount?: number;
    /**
     * Always 0.
     */
    fundersInterestAmount?: number;
    /**
     * Always 0.
     */
    organizationCommissionAmount?: number;
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
    /**
     * Always 0.
     */
    taxOnInterestFromArrearsAmount?: number;
    /**
     * Always 0.
     */
    deferredTaxOnInterestAmount?: number;
    /**
     * Always 0.
     */
    taxOnPaymentHolidaysInterest?: number;
  };
  terms: {
    interestSettings: {
      /**
       * Percent.
       */
      interestRate: number;
    };
    periodicPayment?: number;
  };
  /**
   * What the account owed after the transaction.
   */
  accountBalances: {
    /**
     * Exact, with the digits of the loan's currency.
     */
    principalBalance: number;
    /**
     * Exact, with the digits of the loan's currency.
     */
    totalBalance: number;
    /**
     * What was paid of installments that were not due yet.
     */
    advancePosition?: number;
    /**
     * What installments that were late still owed.
     */
    arrearsPosition?: number;
    /**
     * Always 0.
     */
    expectedPrincipalRedraw?: number;
    /**
     * Always 0.
     */
    redrawBalance?: number;
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
      | 'LATE_REPAYMENT_FEE'
      | 'PENALTY'
      | 'NON_SCHEDULED_FEE';
    /**
     * Exact, with the digits of the loan's currency.
     */
    amount: number;
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
  principalOverpaymentAmount?: number;
  /**
   * Of a refund: the disbursement that it takes back.
   */
  parentLoanTransactionKey?: string;
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
 * With the toggle ALLOW_NON_SCHEDULED_FEES off. A loan with a fee outside the schedule still shows the amounts owed and paid for it.
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
   * Only with the toggle PRINCIPAL_OVERPAYMENT on.
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
    trancheSettings?: {
      maxNumberOfTranches?: 1;
    };
  };
  interestSettings: {
    indexRateSettings: {
      interestRate: NumberBounds;
      interestChargeFrequency:
        | 'ANNUALIZED'
        | 'EVERY_MONTH'
        | 'EVERY_FOUR_WEEKS'
        | 'EVERY_WEEK'
        | 'EVERY_DAY'
        | 'EVERY_X_DAYS';
      interestChargeFrequencyCount: number;
      interestRateSource: 'FIXED_INTEREST_RATE';
      interestRateTerms: 'FIXED';
      /**
       * @maxItems 0
       */
      interestRateTiers?: unknown[];
      accrueInterestAfterMaturity?: boolean;
      allowNegativeInterestRate?: false;
    };
    interestType: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST';
    interestCalculationMethod: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED';
    daysInYear: 'ACTUAL_365_FIXED' | 'ACTUAL_364' | 'ACTUAL_360' | 'ACTUAL_ACTUAL_ISDA' | 'E30_360' | 'E30_42_365';
    scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT';
    pmtAdjustmentThreshold?: {
      method: 'CALENDAR_DAYS';
      numberOfDays: number;
    };
    accrueLateInterest: boolean;
    /**
     * @maxItems 0
     */
    interestRateSettings?: unknown[];
    decoupleInterestFromArrears?: false;
    compoundingFrequency?: 'DAILY';
    interestBalanceCalculationMethod?: 'ONLY_PRINCIPAL';
    interestApplicationMethod?: 'AFTER_DISBURSEMENT' | 'REPAYMENT_DUE_DATE';
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
    roundingSettings: {
      roundingMode: 'HALF_UP' | 'HALF_EVEN';
      repaymentCurrencyRounding: 'NO_ROUNDING' | 'ROUND_TO_NEAREST_WHOLE_UNIT' | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT';
      repaymentElementsRoundingMethod: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE';
      roundingRepaymentScheduleMethod:
        | 'NO_ROUNDING'
        | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
        | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';
    };
    repaymentScheduleMethod: 'FIXED' | 'DYNAMIC';
    /**
     * Where a due date goes that falls on a non-working day or a holiday of the organization.
     */
    repaymentReschedulingMethod: 'NONE' | 'NEXT_WORKING_DAY' | 'PREVIOUS_WORKING_DAY' | 'EXTEND_SCHEDULE';
    repaymentMethod?: 'INSTALLMENTS';
    interestAccrualSince?: 'DISBURSEMENT';
    keepInstallmentsEqualIfLongFirstPeriod?: false;
    amortizationPeriod?: {};
    billingCycles?: {
      enabled?: false;
      /**
       * @maxItems 0
       */
      startDays?: unknown[];
    };
    previewSchedule?: {
      previewScheduleEnabled?: false;
      /**
       * Given back as it was sent.
       */
      numberOfPreviewedInstalments?: {
        [k: string]: unknown;
      };
    };
    repaymentScheduleEditOptions?: (
      | 'ADJUST_PAYMENT_DATES'
      | 'ADJUST_PRINCIPAL_PAYMENT_SCHEDULE'
      | 'ADJUST_INTEREST_PAYMENT_SCHEDULE'
      | 'ADJUST_FEE_PAYMENT_SCHEDULE'
      | 'ADJUST_PENALTY_PAYMENT_SCHEDULE'
      | 'ADJUST_NUMBER_OF_INSTALLMENTS'
      | 'ADJUST_PAYMENT_HOLIDAYS'
    )[];
    scheduleEditOptionDetails?: {
      paymentHolidaysSettings?: {
        paymentHolidaysLoanTermOption?: 'EXTEND_LOAN_TERM' | 'KEEP_THE_SAME_LOAN_TERM';
      };
    };
  };
  gracePeriodSettings: {
    gracePeriodType: 'NONE' | 'PAY_INTEREST_ONLY';
    gracePeriod: CountBounds;
  };
  paymentSettings: {
    amortizationMethod: 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS';
    paymentMethod: 'HORIZONTAL' | 'VERTICAL';
    /**
     * @minItems 4
     * @maxItems 4
     */
    repaymentAllocationOrder: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[];
    prepaymentSettings: {
      prepaymentAcceptance: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS';
      elementsRecalculationMethod?: 'PRINCIPAL_EXPECTED_FIXED' | 'TOTAL_EXPECTED_FIXED';
      applyInterestOnPrepaymentMethod?: 'AUTOMATIC' | 'MANUAL';
      principalPaidInstallmentStatus?: 'PARTIALLY_PAID' | 'PAID';
      prepaymentRecalculationMethod:
        | 'NO_RECALCULATION'
        | 'RESCHEDULE_REMAINING_REPAYMENTS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
        | 'REDUCE_AMOUNT_PER_INSTALLMENT'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
      futurePaymentsAcceptance: 'NO_FUTURE_PAYMENTS' | 'ACCEPT_FUTURE_PAYMENTS' | 'ACCEPT_OVERPAYMENTS';
      ercFreeAllowance?: 0;
    };
    principalPaymentSettings: {
      defaultPrincipalRepaymentInterval: number;
      amount?: {};
      percentage?: {};
      includeFeesInFloorAmount?: false;
      includeInterestInFloorAmount?: false;
    };
    latePaymentsRecalculationMethod: 'OVERDUE_INSTALLMENTS_INCREASE' | 'LAST_INSTALLMENT_INCREASE' | 'NO_RECALCULATION';
  };
  feesSettings: {
    allowArbitraryFees: boolean;
    fees: {
      encodedKey: string;
      id: string;
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
      interestBearing?: false;
      /**
       * @maxItems 0
       */
      accountingRules?: unknown[];
      amortizationSettings?: {
        amortizationProfile?: 'NONE';
      };
      taxSettings?: {
        taxableCalculationMethod?: 'DEFAULT' | 'NON_TAXABLE' | 'CUSTOM_TAX';
      };
      scheduleAllocationMethod: 'ON_INSTALLMENT' | 'NO_ALLOCATION';
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
    taxSourceKey?: string;
  };
  newAccountSettings: {
    accountInitialState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL';
    idGeneratorType: 'INCREMENTAL_NUMBER' | 'RANDOM_PATTERN';
    /**
     * The form of ids that the service chooses: @ is a letter, # a digit, $ either, and any other character itself.
     */
    idPattern: string;
  };
  allowCustomRepaymentAllocation: boolean;
  /**
   * 1 for a new product; each change makes the next one. Accounts keep the version that they were opened under.
   */
  version: number;
  creationDate: string;
  lastModifiedDate: string;
  category?:
    | 'PERSONAL_LENDING'
    | 'PURCHASE_FINANCING'
    | 'RETAIL_MORTGAGES'
    | 'SME_LENDING'
    | 'COMMERCIAL'
    | 'UNCATEGORIZED';
  /**
   * Given back as they were sent.
   */
  templates?: {
    [k: string]: unknown;
  };
  adjustTotalDueForInstallmentsWithDifferentInterval?: false;
  useFeeIncludedInPMT?: false;
  accountingSettings?: {
    accountingMethod: 'NONE';
    /**
     * @maxItems 0
     */
    accountingRules?: unknown[];
    interestAccrualCalculation?: 'NONE';
    interestAccruedAccountingMethod?: 'NONE';
  };
  accountLinkSettings?: {
    enabled: false;
    linkableDepositProductKey?: string;
    linkedAccountOptions?: ('AUTO_LINK_ACCOUNTS' | 'AUTO_CREATE_LINKED_ACCOUNTS')[];
    settlementMethod?: 'FULL_DUE_AMOUNTS' | 'PARTIAL_DUE_AMOUNTS' | 'NO_AUTOMATED_TRANSFERS';
  };
  availabilitySettings?: {
    availableFor?: ('INDIVIDUALS' | 'PURE_GROUPS' | 'SOLIDARITY_GROUPS')[];
    branchSettings?: {
      forAllBranches?: boolean;
      availableProductBranches?: string[];
    };
  };
  creditArrangementSettings: {
    creditArrangementRequirement: 'OPTIONAL' | 'NOT_REQUIRED';
  };
  fundingSettings?: {
    enabled?: false;
    funderInterestCommission?: {};
    funderInterestCommissionAllocationType?: 'PERCENTAGE_OF_LOAN_FUNDING' | 'FIXED_INTEREST_COMMISSIONS';
    lockFundsAtApproval?: boolean;
    organizationInterestCommission?: {};
    requiredFunds?: 0;
  };
  internalControls?: {
    dormancyPeriodDays?: number;
    fourEyesPrinciple?: {
      activeForLoanApproval?: false;
    };
    lockSettings?: {
      cappingConstraintType?: 'SOFT_CAP' | 'HARD_CAP';
      cappingMethod?: 'OUTSTANDING_PRINCIPAL_PERCENTAGE' | 'ORIGINAL_PRINCIPAL_PERCENTAGE';
      cappingPercentage?: number;
      lockPeriodDays?: number;
    };
  };
  offsetSettings?: {
    allowOffset?: false;
  };
  redrawSettings?: {
    allowRedraw: false;
  };
  securitySettings?: {
    isCollateralEnabled?: false;
    isGuarantorsEnabled?: false;
    requiredGuaranties?: 0;
  };
  arrearsSettings?: {
    toleranceCalculationMethod?: 'ARREARS_TOLERANCE_PERIOD' | 'MONTHLY_ARREARS_TOLERANCE_DAY';
    tolerancePeriod?: CountBounds;
    monthlyToleranceDay?: number;
    tolerancePercentageOfOutstandingPrincipal?: NumberBounds;
    toleranceFloorAmount?: number;
    /**
     * Whether non-working days and holidays of the organization count as tolerated days and as days in arrears.
     */
    nonWorkingDaysMethod?: 'INCLUDED' | 'EXCLUDED';
    dateCalculationMethod?:
      | 'ACCOUNT_FIRST_WENT_TO_ARREARS'
      | 'LAST_LATE_REPAYMENT'
      | 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD';
  };
  penaltySettings?: {
    loanPenaltyCalculationMethod:
      | 'NONE'
      | 'OVERDUE_BALANCE'
      | 'OVERDUE_BALANCE_AND_INTEREST'
      | 'OVERDUE_BALANCE_INTEREST_AND_FEE'
      | 'OUTSTANDING_PRINCIPAL';
    loanPenaltyGracePeriod?: number;
    penaltyRate?: NumberBounds;
  };
}
/**
 * The default for an account, and the range that an account may choose from.
 */
interface NumberBounds {
  defaultValue?: number;
  minValue?: number;
  maxValue?: number;
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
          amount?: number | string | null;
          /**
           * A number, or a text that is one.
           */
          percentageAmount?: number | string | null;
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
    taxRate?: number | string | null;
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
  version?: number | null;
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
      cappingPercentage?: number | string | null;
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
    toleranceFloorAmount?: number | string | null;
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
/**
 * The installments of a loan; a preview before its disbursement.
 */
interface LoanSchedule {
  currency: {
    code: string;
    currencyCode: string;
  };
  installments: LoanScheduleChangedInstallment[];
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
/**
 * The transactions of a lock or of its end, one for each operation.
 */
interface LockTransactions {
  /**
   * @minItems 1
   * @maxItems 3
   */
  loanTransactions: LoanTransactionPostedTransaction[];
}
/**
 * One line of a stream: consecutive events of one partition, and the cursor to commit once they are processed. A line without events shows that the stream is alive.
 */
interface MambuBatchV1 {
  cursor: {
    partition: string;
    offset: string;
    event_type: string;
    cursor_token: string;
  };
  /**
   * @minItems 1
   */
  events?: MambuEvent[];
  info?: {
    /**
     * Text for people; on the last line why the stream ends.
     */
    debug: string;
  };
}
/**
 * An event in the form of Mambu's streaming API.
 */
interface MambuEvent {
  metadata: {
    /**
     * That of the event; of an event without one, an id made from its position.
     */
    eid: string;
    /**
     * That of the event; of an event without one, when it was stored.
     */
    occurred_at: string;
    content_type: 'application/json';
    category: 'DATA';
    event_type: string;
  };
  /**
   * The JSON of the event without its metadata.
   */
  body: string;
  /**
   * The event type.
   */
  template_name: string;
}
/**
 * One line of a stream: consecutive events of one partition, and the cursor to commit once they are processed. A line without events shows that the stream is alive.
 */
interface MambuBatchV2 {
  cursor: {
    partition: string;
    offset: string;
    event_type: 'MIXED';
    cursor_token: string;
  };
  /**
   * @minItems 1
   */
  events?: MambuEvent[];
  info?: {
    /**
     * Text for people; on the last line why the stream ends.
     */
    debug: string;
  };
}
/**
 * The outcome for each cursor of a commit, in the order of the request. Returned when at least one cursor did not move its partition forward.
 */
interface MambuCommitResults {
  items: {
    /**
     * As it was sent.
     */
    cursor: {
      partition: string;
      offset: string;
      event_type?: string;
      cursor_token?: string;
    };
    result: 'committed' | 'outdated';
  }[];
}
/**
 * Cursors to commit, as the stream sent them with its batches.
 */
interface MambuCommitV1 {
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
 * Cursors to commit, as the stream sent them with its batches. The event type may be that of the events.
 */
interface MambuCommitV2 {
  /**
   * @minItems 1
   * @maxItems 10000
   */
  items: {
    event_type?: string;
    partition: string;
    offset: string;
    cursor_token?: string;
  }[];
}
/**
 * The stream and the lag of each partition.
 */
interface MambuStatisticsV1 {
  items: {
    event_type: string;
    partitions: {
      partition: string;
      state: 'unassigned' | 'reassigning' | 'assigned';
      /**
       * Absent before the first stream of the subscription.
       */
      unconsumed_events?: number;
      /**
       * How long ago the first unconsumed event was stored.
       */
      consumer_lag_seconds?: number;
      /**
       * Empty when the partition is not assigned.
       */
      stream_id: string;
    }[];
  }[];
}
/**
 * The state and the lag of each shard.
 */
interface MambuStatisticsV2 {
  items: {
    partitions: {
      partition: string;
      state: 'unassigned' | 'reassigning' | 'assigned';
      /**
       * Absent before the first stream of the subscription.
       */
      consumer_lag_seconds?: number;
    }[];
  }[];
}
/**
 * A subscription as a client defines it. Other fields are ignored; constants may have any letter case.
 */
interface MambuSubscriptionDefinitionV1 {
  owning_application: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types: string[];
  consumer_group?: string;
  read_from?: 'begin' | 'end' | 'cursors';
  /**
   * One for each partition, when read_from is cursors. An offset may be the word begin or end.
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
}
/**
 * A subscription as a client defines it. Other fields are ignored; constants may have any letter case.
 */
interface MambuSubscriptionDefinitionV2 {
  owning_application: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types: string[];
  consumer_group?: string;
  read_from?: 'begin' | 'end';
}
/**
 * A subscription. The published client of version 1 accepts no other field.
 */
interface MambuSubscriptionV1 {
  owning_application: string;
  /**
   * Sorted.
   *
   * @minItems 1
   */
  event_types: string[];
  consumer_group: string;
  read_from: 'begin' | 'end' | 'cursors';
  id: string;
  created_at: string;
}
/**
 * A subscription as version 2 shows it.
 */
interface MambuSubscriptionV2 {
  owning_application: string;
  /**
   * Sorted.
   *
   * @minItems 1
   */
  event_types: string[];
  consumer_group: string;
  /**
   * `cursors` only of a subscription that was created over another API.
   */
  read_from: 'begin' | 'end' | 'cursors';
  id: string;
  created_at: string;
  updated_at: string;
}
/**
 * All metrics in the format of Dropwizard Metrics. Names include their labels as Prometheus writes them.
 */
interface Metrics {
  /**
   * The version of the format.
   */
  version: string;
  gauges: {
    [k: string]: {
      /**
       * null for a value that is not a number.
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
       * How many were at most this long, in seconds.
       */
      buckets: {
        [k: string]: number;
      };
    };
  };
  /**
   * Always empty.
   */
  meters: {
    [k: string]: unknown;
  };
  /**
   * Always empty: durations are histograms.
   */
  timers: {
    [k: string]: unknown;
  };
}
/**
 * The days of every week on which the institution is closed, from Monday.
 */
interface NonWorkingDays {
  /**
   * @maxItems 6
   */
  nonWorkingDays: ('MONDAY' | 'TUESDAY' | 'WEDNESDAY' | 'THURSDAY' | 'FRIDAY' | 'SATURDAY' | 'SUNDAY')[];
}
/**
 * The whole setup of the institution. An absent zone or currency stays as it is; every other absent field is removed.
 */
interface OrganizationSettings {
  institutionName: string;
  /**
   * The name of a time zone, such as Europe/Berlin. A business day begins and ends at its midnight.
   */
  timeZoneID?: string;
  currency?: string;
  /**
   * How programs should show a day. The service does not use it.
   */
  dateFormat: string;
  dateTimeFormat: string;
  decimalSeparator: 'POINT' | 'COMMA';
  address?: Address;
  emailAddress?: string;
  phoneNumber?: string;
  /**
   * Accepted as GET gave it; means nothing.
   */
  creationDate?: string;
  /**
   * Accepted as GET gave it; means nothing.
   */
  lastModifiedDate?: string;
}
/**
 * The institution that lends. Dates are absent until it is set for the first time.
 */
interface OrganizationSetup {
  institutionName: string;
  /**
   * The name of a time zone, such as Europe/Berlin. A business day begins and ends at its midnight.
   */
  timeZoneID: string;
  currency: string;
  /**
   * How programs should show a day. The service does not use it.
   */
  dateFormat: string;
  dateTimeFormat: string;
  decimalSeparator: 'POINT' | 'COMMA';
  address?: Address;
  emailAddress?: string;
  phoneNumber?: string;
  creationDate?: string;
  lastModifiedDate?: string;
}
/**
 * What a process does and did, and what waits on all processes.
 */
interface Overview {
  at: string;
  /**
   * The process that answers.
   */
  process: {
    node_id: string;
    version: string;
    roles: ('serve' | 'work')[];
    started_at: string;
    ready: boolean;
    parts: {
      name: string;
      ready: boolean;
      reason: string | null;
    }[];
    /**
     * Of the folder that the process keeps its files in.
     */
    disk: {
      free_bytes: number;
      total_bytes: number;
    } | null;
  };
  /**
   * The processes of the installation, by host and address; null while the coordination store is unavailable. A process that stops in order is not among them.
   *
   * @maxItems 500
   */
  nodes:
    | {
        node_id: string;
        /**
         * The name of its machine or container.
         */
        host: string;
        /**
         * That it listens on.
         */
        address: string;
        version: string;
        roles: ('serve' | 'work')[];
        started_at: string;
        /**
         * lost: it has been silent for 10 seconds or more, and others take over what it held. It is listed for an hour, or until a process starts at its address.
         */
        state: 'ready' | 'not_ready' | 'lost';
        last_heard_at: string;
        /**
         * Partitions of loan commands that it decides; of a lost process, when it was last heard, as the numbers below.
         */
        loan_partitions: number;
        /**
         * Open streams of subscriptions: its sessions.
         */
        subscription_streams: number;
        /**
         * Partitions that these streams deliver.
         */
        stream_partitions: number;
        /**
         * Open streams without a subscription.
         */
        event_type_streams: number;
      }[]
    | null;
  /**
   * Of the process that answers, for up to an hour; the oldest first.
   */
  history: {
    interval_seconds: number;
    /**
     * When the last interval ended; null before the first.
     */
    last_at: string | null;
    /**
     * Events that were stored.
     *
     * @maxItems 360
     */
    published_per_second: number[];
    /**
     * Events that subscriptions were sent.
     *
     * @maxItems 360
     */
    delivered_per_second: number[];
    /**
     * Loan commands, with every outcome.
     *
     * @maxItems 360
     */
    commands_decided_per_second: number[];
    /**
     * 99 of 100 publish requests took at most so long; null when there was none.
     *
     * @maxItems 360
     */
    publish_p99_seconds: (number | null)[];
    /**
     * The same of commits.
     *
     * @maxItems 360
     */
    commit_p99_seconds: (number | null)[];
    /**
     * At the end of the interval.
     *
     * @maxItems 360
     */
    open_streams: number[];
    /**
     * Loan commands in the partitions that this process works on, at the end of the interval.
     *
     * @maxItems 360
     */
    commands_waiting: number[];
    /**
     * What all subscriptions lack, on all processes, at the end of the interval; null when it was not known.
     *
     * @maxItems 360
     */
    unconsumed_events: (number | null)[];
    /**
     * What is not free of `process.disk`, at the end of the interval; null when it was not known.
     *
     * @maxItems 360
     */
    disk_used_bytes: (number | null)[];
  };
  /**
   * Of all processes; null while it cannot be read.
   */
  lags: {
    unconsumed_events: number;
    subscriptions: number;
    /**
     * @maxItems 5
     */
    largest: {
      subscription_id: string;
      owning_application: string;
      consumer_group: string;
      unconsumed_events: number;
    }[];
  } | null;
  /**
   * How many are held, of all processes; null while it cannot be read.
   */
  dead_letters: {
    commands: number | null;
    subscriptions: number | null;
  };
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
 * How many partitions an event type is to have.
 */
interface PartitionCount {
  /**
   * At least as many as it has now.
   */
  partition_count: number;
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
/**
 * What a loan has to pay to be paid off, of each kind and in all. What loans here never owe is zero.
 */
interface PayOffAmounts {
  /**
   * Exact, with the digits of the loan's currency.
   */
  principalBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBalance: number;
  /**
   * With the fees outside the schedule.
   */
  feeBalance: number;
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
  interestBearingFeeBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  interestBearingFeeInterestBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  carriedForwardPrincipalInArrears: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  carriedForwardInterestBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  carriedForwardInterestFromArrearsBalance: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  earlyRepaymentCharge: number;
  /**
   * Exact, with the digits of the loan's currency.
   */
  totalBalance: number;
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
    interestPaid?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    feesPaid?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    penaltyPaid?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    nonScheduledFeeAmount?: number | string | null;
    interestFromArrearsPaid?: 0 | null;
    interestBearingFeeAmount?: 0 | null;
    interestBearingFeeInterestAmount?: 0 | null;
    carriedForwardPrincipalInArrearsAmount?: 0 | null;
    carriedForwardInterestAmount?: 0 | null;
    carriedForwardInterestFromArrearsAmount?: 0 | null;
  } | null;
}
/**
 * The day, today or later, of a pay-off.
 */
interface PayOffPreview {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  valueDate: string;
}
interface Position {
  partition: string;
  /**
   * The last event that was processed; `001-0001--1` before the first. Treat it as opaque.
   */
  offset: string;
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
  amount: number | string;
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
/**
 * The response of the streaming API to a request that it cannot serve (RFC 7807). The detail is for the person who has to act on it.
 */
interface Problem {
  /**
   * Only when several fields break rules. The detail has a line for each.
   */
  type?: string;
  title: string;
  status: number;
  detail: string;
  /**
   * For programs: tells apart what the status leaves open. docs/errors.md lists the codes; later versions may have more.
   */
  code: string;
  /**
   * When an event type cannot be deleted: the subscriptions that name it and that the sender may see, at most 20, by id.
   *
   * @maxItems 20
   */
  subscriptions?: {
    subscription_id: string;
    owning_application: string;
    consumer_group: string;
  }[];
  /**
   * How many subscriptions name the event type that cannot be deleted, of those that the sender may see.
   */
  subscriptions_total?: number;
  /**
   * True when subscriptions that the sender may not see name it as well; otherwise absent.
   */
  other_subscriptions?: boolean;
}
/**
 * Who published the latest events of an event type.
 */
interface Publishers {
  items: {
    /**
     * As in the metadata of its events; null for events that do not say.
     */
    published_by: string | null;
    /**
     * How many of the events are its own.
     */
    events: number;
    last_published_at: string;
    /**
     * The `X-Flow-Id` of its latest request.
     */
    last_flow_id: string | null;
  }[];
  /**
   * How many of the latest events were looked at.
   */
  events: number;
  /**
   * Why no more were: there are more, there are no more, or reading took too long.
   */
  ended_by: 'limit' | 'end' | 'search_limit';
}
/**
 * Whether this process can serve, and if not, why.
 */
interface Readiness {
  ready: boolean;
  reasons: string[];
}
interface RecalculateDueDatesPayload {
  notes?: string | null;
}
/**
 * Where a command was stored again.
 */
interface Redelivery {
  event_type: string;
  partition: string;
  offset: string;
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
  amount: number | string;
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
  amount: number | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
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
  amount: number | string;
  /**
   * A whole number, or a text that is one.
   */
  installmentNumber?: number | string | null;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
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
      interestRate?: number | string | null;
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
      penaltyRate?: number | string | null;
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
      fixedDaysOfMonth?: (number | string)[] | null;
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
    interest?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    fee?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    penalty?: number | string | null;
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
  topUpAmount: number | string;
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
  amount: number | string;
  /**
   * The currency of the account, if given.
   */
  originalCurrencyCode?: string | null;
  /**
   * The encodedKey of the disbursement that is refunded. The transaction gives it back as its parentLoanTransactionKey.
   */
  linkedDisbursementKey: string;
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
  amount: number | string;
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
        amount: number | string;
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
      interestRate?: number | string | null;
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
      penaltyRate?: number | string | null;
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
      fixedDaysOfMonth?: (number | string)[] | null;
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
    principal?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    interest?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    fee?: number | string | null;
    /**
     * A number, or a text that is one.
     */
    penalty?: number | string | null;
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
interface RetainedEvent {
  partition: string;
  /**
   * The place of the event in its partition. A cursor with it continues after the event.
   */
  offset: string;
  /**
   * When the event was stored.
   */
  timestamp: string;
  /**
   * The key of its record: the values of the partition key fields, or the compaction key.
   */
  key?: string;
  /**
   * The event, byte for byte as it is stored.
   */
  event: {
    [k: string]: unknown;
  };
}
/**
 * An event, or on the last line what else the page says.
 */
interface RetainedEventLine {
  [k: string]: unknown;
}
/**
 * A page of the events that the log holds.
 */
interface RetainedEvents {
  items: RetainedEvent[];
  /**
   * Why the page has no more events: it is full, nothing is left in this direction, or it has searched as much as one page may.
   */
  ended_by: 'limit' | 'end' | 'search_limit';
  /**
   * How many positions this page has passed, of those in `of`.
   */
  read: number;
  /**
   * How many positions lie between the beginning of this page and the end of its direction. On compacted event types there are fewer events.
   */
  of: number;
  /**
   * How many records of other producers were left out because they are no JSON.
   */
  unreadable: number;
  /**
   * The `token` of the next page. Absent when a backward page has reached the first event.
   */
  next?: string;
  /**
   * The `token` of the page in the other direction that begins where this one began.
   */
  previous: string;
}
interface RetainedEventsSummary {
  /**
   * Why the page has no more events: it is full, nothing is left in this direction, or it has searched as much as one page may.
   */
  ended_by: 'limit' | 'end' | 'search_limit';
  /**
   * How many positions this page has passed, of those in `of`.
   */
  read: number;
  /**
   * How many positions lie between the beginning of this page and the end of its direction. On compacted event types there are fewer events.
   */
  of: number;
  /**
   * How many records of other producers were left out because they are no JSON.
   */
  unreadable: number;
  /**
   * The `token` of the next page. Absent when a backward page has reached the first event.
   */
  next?: string;
  /**
   * The `token` of the page in the other direction that begins where this one began.
   */
  previous: string;
}
/**
 * What differs between two versions of a schema.
 */
interface SchemaChanges {
  from: string;
  to: string;
  changes: {
    kind: 'breaking' | 'narrowing' | 'extending' | 'wording';
    /**
     * Where, in the later schema.
     */
    pointer: string;
    message: string;
  }[];
}
/**
 * A schema to add as a new version, or to find.
 */
interface SchemaDefinition {
  type: 'json_schema';
  /**
   * The JSON Schema as text.
   */
  schema: string;
}
/**
 * What to search for, and the order.
 */
interface SearchCriteria {
  /**
   * An item must meet all of them.
   *
   * @maxItems 50
   */
  filterCriteria?:
    | {
        /**
         * A field of the resource, or a custom field: `_set.field`.
         */
        field: string;
        /**
         * EQUALS, EQUALS_CASE_SENSITIVE, DIFFERENT_THAN, MORE_THAN, LESS_THAN, BETWEEN, ON, AFTER, AFTER_INCLUSIVE, BEFORE, BEFORE_INCLUSIVE, STARTS_WITH, STARTS_WITH_CASE_SENSITIVE, IN, TODAY, THIS_WEEK, THIS_MONTH, THIS_YEAR, LAST_DAYS, EMPTY or NOT_EMPTY, also in lower case.
         */
        operator: string;
        /**
         * A number may be a text.
         */
        value?: string | number | boolean | null;
        /**
         * Of BETWEEN: the upper bound.
         */
        secondValue?: string | number | boolean | null;
        /**
         * Of IN.
         *
         * @maxItems 1000
         */
        values?: (string | number | boolean)[] | null;
      }[]
    | null;
  sortingCriteria?: {
    field: string;
    /**
     * ASC or DESC, by default DESC.
     */
    order?: string | null;
  } | null;
}
interface StartBusinessDayPayload {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  businessDate: string;
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
        partition: string | number;
      }[]
    | null;
}
/**
 * A token that opens one stream, once.
 */
interface StreamToken {
  /**
   * For the query parameter `stream_token`.
   */
  token: string;
  /**
   * A minute after the request.
   */
  expires_at: string;
}
/**
 * What the token opens: exactly one of the two.
 */
interface StreamTokenRequest {
  /**
   * A stream of this subscription.
   */
  subscription_id?: string;
  /**
   * A stream of this event type, without a subscription.
   */
  event_type?: string;
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
 * The committed cursors of a subscription, by event type and partition. Empty before its first stream or reset.
 */
interface SubscriptionCursors {
  items: SubscriptionCursor[];
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
        event_type: string | number;
        partition: string | number;
        offset: string | number;
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
 * The assigned stream and the lag of each partition of a subscription.
 */
interface SubscriptionStatistics {
  items: EventTypeStatistics;
}
/**
 * The open streams of a subscription, its last commits and the last streams that ended. On one machine these are kept until the service stops; on a cluster for 30 days, and a few seconds late.
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
   * Nothing before this time is recorded.
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
interface TerminatePayload {
  /**
   * The day on which all that is outstanding becomes due.
   */
  valueDate: string;
  notes?: string | null;
}
/**
 * A feature toggle, and since when it has its value.
 */
interface Toggle {
  name: 'ALLOW_NON_SCHEDULED_FEES' | 'PRINCIPAL_OVERPAYMENT' | 'fixInstallmentTaxOnPenalty';
  enabled: boolean;
  /**
   * Null for a toggle that was never switched. It is off.
   */
  switchedAt: string | null;
}
/**
 * The new value of a toggle.
 */
interface ToggleSwitch {
  enabled: boolean;
}
/**
 * Undoes the transaction that the path names.
 */
interface TransactionAdjustment {
  /**
   * A calendar day. Of an instant, the day as its sender wrote it.
   */
  bookingDate?: string | null;
  notes?: string | null;
  /**
   * Optional: the path determines the transaction.
   */
  transactionId?: string;
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
/**
 * Where money comes in or goes out. Nothing limits which transactions may name it.
 */
interface TransactionChannel {
  /**
   * Id of a loan account or a product.
   */
  id: string;
  encodedKey: string;
  name: string;
  state: 'ACTIVE' | 'INACTIVE';
  isDefault: false;
  availableForAll: true;
  /**
   * @maxItems 0
   */
  usageRights: unknown[];
  attributes: {
    overdraftAllowed?: false;
  };
  loanConstraints: {
    usage: 'UNCONSTRAINED';
    matchFiltersOption: 'ALL' | 'ANY';
    /**
     * @maxItems 0
     */
    constraints: unknown[];
  };
  depositConstraints: {
    usage: 'UNCONSTRAINED';
    matchFiltersOption: 'ALL' | 'ANY';
    /**
     * @maxItems 0
     */
    constraints: unknown[];
  };
}
/**
 * A transaction channel. Whatever would limit its use, make it the default or post to a ledger is rejected.
 */
interface TransactionChannelToSet {
  /**
   * Id of a loan account or a product.
   */
  id?: string;
  name: string;
  state?: 'ACTIVE' | 'INACTIVE';
  isDefault?: false;
  availableForAll?: true;
  /**
   * @maxItems 0
   */
  usageRights?: unknown[];
  attributes?: {
    overdraftAllowed?: false;
  };
  loanConstraints: {
    usage?: 'UNCONSTRAINED';
    matchFiltersOption?: 'ALL' | 'ANY';
    /**
     * @maxItems 0
     */
    constraints?: unknown[];
  };
  depositConstraints: {
    usage?: 'UNCONSTRAINED';
    matchFiltersOption?: 'ALL' | 'ANY';
    /**
     * @maxItems 0
     */
    constraints?: unknown[];
  };
  /**
   * @maxItems 0
   */
  customFields?: unknown[];
  /**
   * Accepted as GET gave it; means nothing.
   */
  encodedKey?: string;
  creationDate?: string;
  lastModifiedDate?: string;
}
interface UndoRefinancePayload {
  notes?: string | null;
}
interface UndoReschedulePayload {
  notes?: string | null;
}
interface UndoWriteOffPayload {
  notes?: string | null;
}
interface UnlockPayload {
  notes?: string | null;
}
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
/**
 * A user. Every client with a key is the administrator.
 */
interface User {
  encodedKey: string;
  id: string;
  username: string;
  firstName: string;
  userState: 'ACTIVE' | 'INACTIVE';
  access: {
    administratorAccess?: boolean;
    apiAccess?: boolean;
    canManageAllBranches: boolean;
    canManageEntitiesAssignedToOtherOfficers: boolean;
  };
}
/**
 * The version of the service, and the release whose behaviour it has.
 */
interface Version {
  /**
   * The version of this service.
   */
  version: string;
  /**
   * The release of the core banking service whose lending behaviour this service has.
   */
  release: string;
}
interface WriteOffPayload {
  notes?: string | null;
}
