/**
 * Whether the id is not a subscription's, but one under which the service shares partitions among its own processes.
 * Commits under it mean nothing and are never shown.
 */
export function isReservedId(subscriptionId: string): boolean {
  return subscriptionId.startsWith('lendstream.');
}
