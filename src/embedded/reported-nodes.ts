import {
  nodeRetentionMilliseconds,
  reportedNodesMaximum,
  type NodeReport,
  type ReportedNode,
} from '../ports/node-reports.ts';

/** What nodes said of themselves last, in memory. Times are monotonic milliseconds. */
export class ReportedNodes {
  /** By node; the one that has been silent for longest first. */
  readonly #reports = new Map<string, { readonly report: NodeReport; readonly heardAt: number }>();

  add(report: NodeReport, now: number): void {
    this.#reports.delete(report.nodeId);
    for (const [nodeId, { heardAt }] of this.#reports) {
      if (this.#reports.size < reportedNodesMaximum && now - heardAt < nodeRetentionMilliseconds) break;
      this.#reports.delete(nodeId);
    }
    this.#reports.set(report.nodeId, { report, heardAt: now });
  }

  delete(nodeId: string): void {
    this.#reports.delete(nodeId);
  }

  list(now: number): ReportedNode[] {
    return [...this.#reports.values()]
      .map(({ report, heardAt }) => ({ report, silentMilliseconds: now - heardAt }))
      .filter(({ silentMilliseconds }) => silentMilliseconds < nodeRetentionMilliseconds);
  }
}
