/** What a soak is asked for, and what follows from it. */

export interface SoakSettings {
  readonly backend: 'embedded' | 'cluster';
  /** Of the load, with the warm-up. */
  readonly minutes: number;
  readonly warmUpMinutes: number;
  readonly secondsPerLine: number;
  readonly eventsPerSecond: number;
  /** That receive these events. */
  readonly streams: number;
  readonly loansPerMinute: number;
  readonly transactionsPerLoan: number;
  /** All commands, with those of the new loans. */
  readonly commandsPerMinute: number;
  /** Where heap snapshots are written; undefined when none are wanted. */
  readonly heapFolder: string | undefined;
}

/** A loan is opened, approved and disbursed by a command each. */
const openingCommands = 3;

/** Commands that the new loans leave for earlier ones; below 0 when the new loans need more. */
export function earlierCommandsPerMinute(settings: SoakSettings): number {
  const { loansPerMinute, transactionsPerLoan, commandsPerMinute } = settings;
  return commandsPerMinute - loansPerMinute * (openingCommands + transactionsPerLoan);
}

/** How many lines follow the warm-up. */
export function judgedLines(settings: SoakSettings): number {
  return linesUntil(settings.minutes, settings) - linesUntil(settings.warmUpMinutes, settings);
}

/** How many lines are printed up to a minute, this one included. */
export function linesUntil(minute: number, { secondsPerLine }: SoakSettings): number {
  // The product may be a little below the whole number that is meant.
  return Math.floor((minute * 60) / secondsPerLine + 1e-9);
}
