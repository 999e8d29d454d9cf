/** A subscription as stored and as the API shows it (snake_case is the API's). */
export interface Subscription {
  readonly owning_application: string;
  /** Sorted, without repeats. */
  readonly event_types: readonly string[];
  readonly consumer_group: string;
  readonly read_from: 'begin' | 'end' | 'cursors';
  readonly initial_cursors: readonly InitialCursor[];
  readonly authorization: Readonly<Record<string, unknown>> | null;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface InitialCursor {
  readonly event_type: string;
  readonly partition: string;
  readonly offset: string;
}
