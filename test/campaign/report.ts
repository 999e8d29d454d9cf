import type { CampaignSettings, Step } from './steps.ts';

/** The result of a part. */
export interface StepOutcome {
  readonly step: Step;
  /** The command, for another run. */
  readonly command: string;
  readonly isGood: boolean;
  readonly milliseconds: number;
  /** All that the program printed. */
  readonly output: readonly string[];
}

/** The lines of a part's output for the report: a program ends with its counts and findings. */
const shownLines = 120;

/** The report of a campaign in Markdown. */
export function reportOf(settings: CampaignSettings, begun: Date, outcomes: readonly StepOutcome[]): string {
  const rows = outcomes.map(({ step, command, isGood, milliseconds }) =>
    tableRow(step.title, `\`${command}\``, duration(milliseconds), isGood ? 'nothing found' : '**FAILED**'),
  );
  return [
    '# Campaign',
    '',
    `Begun ${begun.toISOString()}, seed ${settings.seed}, Node.js ${process.version}, ${process.platform} ${process.arch}.`,
    '',
    tableRow('part', 'command', 'took', 'result'),
    tableRow('---', '---', '---', '---'),
    ...rows,
    ...outcomes.flatMap(({ step, output }) => ['', `## ${step.title}`, '', '```', ...output.slice(-shownLines), '```']),
    '',
  ].join('\n');
}

function tableRow(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
