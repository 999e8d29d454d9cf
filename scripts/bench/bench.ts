import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  WrongUsage,
  flag,
  numberAboveZero,
  oneOf,
  optionsOf,
  orEnd,
  someOf,
  text,
  wholeNumber,
} from '../command-line.ts';
import { clusterParts, embeddedParts, type BenchOptions } from './bench-options.ts';
import { describeProfiles } from './profile.ts';
import { createReport } from './report.ts';
import { figure } from './statistics.ts';

/**
 * Speed as ratios: the service and its baseline run in turns, in one run, on one machine. Absolute figures only show
 * the scale.
 */
const { backend, rounds, only, scale, profile } = optionsOf('bench', {
  backend: oneOf(['embedded', 'cluster'], 'embedded'),
  rounds: wholeNumber(1, 5),
  only: text(undefined),
  scale: numberAboveZero(1),
  profile: flag,
});

/** The requested parts of the backend. */
function partsOf(): readonly string[] {
  const { needs, read, initial } = someOf<string>(backend === 'cluster' ? clusterParts : embeddedParts);
  if (only === undefined) return initial;
  const parts = read(only);
  if (parts === undefined) throw new WrongUsage(`--only needs ${needs} on this backend, not "${only}"`);
  return parts;
}

function describeMachine(): string {
  const [cpu] = cpus();
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, Node ${process.version}, load ${figure(loadavg()[0] ?? 0)}, ${revision}`;
}

const parts = orEnd(partsOf);
const profileFolder = profile ? await mkdtemp(join(tmpdir(), 'lendstream-bench-profiles-')) : undefined;
const report = createReport(rounds, describeMachine(), profile);
const options: BenchOptions = {
  report,
  scale,
  profileFolder,
  wanted: (...names) => names.some((name) => parts.includes(name)),
};
// Loaded now, so that a wrong command line or --help is answered at once.
if (backend === 'cluster') await (await import('./cluster-bench.ts')).measureCluster(options);
else await (await import('./embedded-bench.ts')).measureEmbedded(options);
if (profileFolder !== undefined) {
  for (const line of describeProfiles(profileFolder, report.measuredTimes)) report.print(line);
  report.print(`The whole profiles, for the developer tools of a browser, are in ${profileFolder}`);
}
const conclusion = report.conclusion();
console.log(`\n${report.lines.join('\n')}\n${conclusion.text}`);
process.exit(conclusion.exitCode);
