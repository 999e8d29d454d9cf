/** What the checks ask the simulation. All times are simulated. */
export interface InvariantsOptions {
  readonly nowMilliseconds: () => number;
  readonly leaseMilliseconds: number;
  /** When a call of this node to the store last failed. */
  readonly storeFailedAtMilliseconds: (nodeName: string) => number;
  /** When this node last heard that its lease was renewed. */
  readonly renewedAtMilliseconds: (nodeName: string) => number;
  /** Why a stream has ended, in the words of its last line; undefined when that is not known. */
  readonly closeReason: (streamId: string) => string | undefined;
  /**
   * Whether the store acknowledges commits before the log has them, so that it may lose the latest with its data, and
   * gets them back from the nodes. Its fences grow all the same.
   */
  readonly mayLoseCommits: boolean;
}
