/** What the processes of one installation say of themselves, for people who look at all of them. */

/** A node (process) as it describes itself. No decision depends on it. */
export interface NodeReport {
  readonly nodeId: string;
  /** The name of the machine, or of the container, that it runs on. */
  readonly host: string;
  /** The address it listens on. */
  readonly address: string;
  readonly version: string;
  readonly roles: readonly ('serve' | 'work')[];
  /** Milliseconds since the epoch, on the node's own clock. */
  readonly startedAt: number;
  readonly isReady: boolean;
  /** How many partitions of loan commands it decides. */
  readonly loanPartitions: number;
  /** How many streams of subscriptions it serves, which are its sessions. */
  readonly subscriptionStreams: number;
  /** How many partitions these streams deliver. */
  readonly streamPartitions: number;
  /** How many streams without a subscription it serves. */
  readonly eventTypeStreams: number;
}

/** The last report of a node. */
export interface ReportedNode {
  readonly report: NodeReport;
  /** How long ago the store got it, by the clock of the store. Milliseconds. */
  readonly silentMilliseconds: number;
}

/** How long a node that falls silent is remembered. Milliseconds. */
export const nodeRetentionMilliseconds = 3_600_000;

/** The most nodes that are remembered. Beyond it, the one that has been silent for longest is forgotten. */
export const reportedNodesMaximum = 500;
