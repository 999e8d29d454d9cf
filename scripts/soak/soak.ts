import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';
import { WrongUsage, numberAboveZero, oneOf, optionsOf, orEnd, text, wholeNumber } from '../command-line.ts';
import { judge, judgedIntervalsMinimum } from './judge.ts';
import { headLine, lineOf, loadText, machine, reportOf, verdictLines } from './report.ts';
import { earlierCommandsPerMinute, judgedLines, type SoakSettings } from './settings.ts';

/** The command line of the soak. */

const values = optionsOf('soak', {
  backend: oneOf(['embedded', 'cluster'], 'embedded'),
  minutes: numberAboveZero(60),
  'warm-up': { ...numberAboveZero(10), initial: undefined as number | undefined },
  every: numberAboveZero(60),
  events: wholeNumber(0, 4_000),
  streams: wholeNumber(1, 3),
  loans: wholeNumber(0, 120),
  transactions: wholeNumber(0, 30),
  commands: wholeNumber(0, 6_000),
  'memory-growth': numberAboveZero(1.1),
  'latency-growth': numberAboveZero(1.5),
  'carried-share': numberAboveZero(0.9),
  heap: text(undefined),
  report: text<string>(resolve(packageRoot, 'coverage/soak.md')),
});

/** The warm-up of a run of at least three times as long. Minutes. */
const warmUpMinutesMaximum = 10;

const settings: SoakSettings = {
  backend: values.backend,
  minutes: values.minutes,
  warmUpMinutes: values['warm-up'] ?? Math.min(warmUpMinutesMaximum, values.minutes / 3),
  secondsPerLine: values.every,
  eventsPerSecond: values.events,
  streams: values.streams,
  loansPerMinute: values.loans,
  transactionsPerLoan: values.transactions,
  commandsPerMinute: values.commands,
  heapFolder: values.heap === undefined ? undefined : resolve(values.heap),
};
orEnd(() => {
  if (earlierCommandsPerMinute(settings) < 0) {
    throw new WrongUsage('--commands must be enough for --loans, each with --transactions and the three that open it');
  }
  const lines = judgedLines(settings);
  if (lines < judgedIntervalsMinimum) {
    throw new WrongUsage(`${lines} lines would follow the warm-up, which are too few: --minutes, --warm-up, --every`);
  }
});

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

// Loaded now, so that a wrong command line or --help is answered at once.
const { runSoak } = await import('./run.ts');
const begun = new Date();
const folder = mkdtempSync(join(tmpdir(), 'lendstream-soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const { backend, streams, minutes } = settings;
const asked = { eventsPerSecond: values.events, loansPerMinute: values.loans, commandsPerMinute: values.commands };
printLine(`${minutes} minutes on ${backend}: ${loadText(asked, streams)}`);
printLine(`${machine()}; times are p50 / p99 / longest`);
printLine(headLine);
const series = await runSoak(settings, join(folder, 'data'), (interval) => printLine(lineOf(interval)));
const verdicts = judge(series, {
  memoryGrowth: values['memory-growth'],
  latencyGrowth: values['latency-growth'],
  carriedShare: values['carried-share'],
});
for (const line of verdictLines(verdicts)) printLine(line);
mkdirSync(dirname(resolve(values.report)), { recursive: true });
writeFileSync(values.report, reportOf({ backend, streams, begun }, series, verdicts));
const broken = verdicts.filter(({ isGood }) => !isGood).map(({ name }) => name);
const summary = broken.length === 0 ? 'Everything stayed as it was' : `Broken: ${broken.join(', ')}`;
printLine(`${summary}. The report is in ${values.report}`);
process.exit(broken.length === 0 ? 0 : 1);
