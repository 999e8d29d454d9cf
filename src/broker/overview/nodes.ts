import type { NodeReport, ReportedNode } from '../../ports/node-reports.ts';

/** A node as people see it. */
export interface SeenNode {
  readonly report: NodeReport;
  /** lost: silent for as long as its lease, so that others take over what it held. */
  readonly state: 'ready' | 'not_ready' | 'lost';
  readonly silentMilliseconds: number;
}

/**
 * The nodes of an installation, by host and address. A lost node is left out once a later one listens at its address:
 * that is the same process, started again.
 */
export function seenNodes(nodes: readonly ReportedNode[], leaseMilliseconds: number): SeenNode[] {
  const placeOf = ({ host, address }: NodeReport): string => `${host} ${address}`;
  const latestStarts = new Map<string, number>();
  for (const { report } of nodes) {
    const place = placeOf(report);
    latestStarts.set(place, Math.max(report.startedAt, latestStarts.get(place) ?? 0));
  }
  return nodes
    .map(({ report, silentMilliseconds }) => ({
      report,
      silentMilliseconds,
      state: stateOf(report, silentMilliseconds),
    }))
    .filter(({ report, state }) => state !== 'lost' || latestStarts.get(placeOf(report)) === report.startedAt)
    .toSorted((left, right) => {
      const [first, second] = [placeOf(left.report), placeOf(right.report)];
      return first < second ? -1 : first > second ? 1 : left.report.startedAt - right.report.startedAt;
    });

  function stateOf({ isReady }: NodeReport, silentMilliseconds: number): SeenNode['state'] {
    if (silentMilliseconds >= leaseMilliseconds) return 'lost';
    return isReady ? 'ready' : 'not_ready';
  }
}
