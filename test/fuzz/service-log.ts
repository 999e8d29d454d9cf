/** Forbidden lines in the log of the service, and its warnings. Pure. */

/** Levels of the log as numbers. */
const errorLevel = 50;

export interface LogFindings {
  readonly findings: readonly string[];
  /** How often each was logged. */
  readonly warnings: ReadonlyMap<string, number>;
}

export function findingsIn(lines: readonly string[]): LogFindings {
  const findings: string[] = [];
  const warnings = new Map<string, number>();
  for (const line of lines) {
    const { level, msg } = entryOf(line);
    if (level === undefined || level >= errorLevel) findings.push(`it logged ${line.slice(0, 2_000)}`);
    else warnings.set(msg, (warnings.get(msg) ?? 0) + 1);
  }
  return { findings, warnings };
}

/** A line that is no entry was printed by the engine, which is never good. */
function entryOf(line: string): { readonly level: number | undefined; readonly msg: string } {
  try {
    const { level, msg } = JSON.parse(line) as { level?: number; msg?: string };
    return { level, msg: String(msg) };
  } catch {
    return { level: undefined, msg: line };
  }
}
