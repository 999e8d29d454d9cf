import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { endIfHelpIsAsked, readUsage } from '../read-usage.ts';
import type { BenchOptions } from './bench-options.ts';
import { clusterParts, measureCluster } from './cluster-bench.ts';
import { embeddedParts, measureEmbedded } from './embedded-bench.ts';
import { createReport } from './report.ts';
import { figure } from './statistics.ts';

/**
 * Speed as ratios: the service and its baseline run in turns, in one run, on one machine. Absolute figures only show
 * the scale.
 */
const usage = readUsage('bench');
endIfHelpIsAsked('bench');

interface Settings extends Omit<BenchOptions, 'report'> {
  readonly backend: string;
  readonly rounds: number;
}

function settingsOf(words: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...words],
    options: {
      backend: { type: 'string', default: 'embedded' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      scale: { type: 'string', default: '1' },
      profile: { type: 'string' },
    },
  });
  const { backend, profile } = values;
  const parts: readonly string[] = backend === 'cluster' ? clusterParts : embeddedParts;
  const only = values.only?.split(',') ?? parts;
  const unknown = only.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Error(`Not a part of ${backend}: ${unknown.join(', ')}`);
  if (backend !== 'embedded' && backend !== 'cluster') throw new Error(`There is no backend ${backend}`);
  const [rounds, scale] = [Number(values.rounds), Number(values.scale)];
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a whole number from 1');
  if (!(scale > 0)) throw new Error('--scale is above 0');
  return {
    backend,
    rounds,
    scale,
    profileFolder: profile,
    wanted: (...names) => names.some((name) => only.includes(name)),
  };
}

function describeMachine(): string {
  const [cpu] = cpus();
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, Node ${process.version}, load ${figure(loadavg()[0] ?? 0)}, ${revision}`;
}

function refuse(error: unknown): never {
  process.stderr.write(`${(error as Error).message}\n${usage}\n`);
  process.exit(2);
}

function readSettings(): Settings {
  try {
    return settingsOf(process.argv.slice(2));
  } catch (error) {
    return refuse(error);
  }
}

const settings = readSettings();
const report = createReport(settings.rounds, describeMachine());
await (settings.backend === 'cluster' ? measureCluster : measureEmbedded)({ ...settings, report });
console.log(`\n${report.lines.join('\n')}`);
console.log(report.missed === 0 ? 'Every target was reached.' : `${report.missed} targets were missed.`);
process.exit(report.missed === 0 ? 0 : 1);
