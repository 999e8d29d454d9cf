import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import type { KeyKind } from './keys.ts';

/**
 * The keys of each script, in order. The file scripts/<name>.lua documents its other parameters and its result.
 * clear-dirty and committed-offsets take the offsets of any number of subscriptions after these keys, check-watched
 * meta, owners and sessions of each, topology, refill/merge, commit and remember those of {@link topologyKeys},
 * {@link mergedKeys}, {@link commitKeys} and {@link historyKeys}, renew-claim and release-claim the key of a claim,
 * nodes/report and nodes/list that of the reports, read-hashes any hashes. renew-lease and shard-state take these keys
 * once for each of any number of shards.
 */
export const scriptKeys = {
  topology: ['shard'],
  'committed-offsets': ['shard'],
  initialise: ['shard', 'dirty', 'meta', 'owners', 'offsets'],
  'open-session': ['shard', 'meta', 'owners', 'sessions', 'places', 'nodes'],
  'record-sent': ['shard', 'sessions'],
  'close-session': ['shard', 'meta', 'owners', 'sessions', 'places', 'offsets'],
  'reap-sessions': ['shard', 'nodes', 'meta', 'owners', 'sessions'],
  'apply-ownership': ['shard', 'meta', 'owners', 'sessions'],
  release: ['shard', 'meta', 'owners', 'sessions'],
  commit: ['shard', 'dirty'],
  heartbeats: ['shard', 'meta'],
  'reset/begin-reset': ['shard', 'meta'],
  'reset/finish-reset': ['shard', 'dirty', 'meta', 'owners', 'offsets', 'sessions'],
  remove: ['shard', 'dirty', 'meta', 'owners', 'offsets', 'sessions', 'removed', 'commits', 'ends', 'places'],
  remember: ['shard'],
  history: ['shard', 'commits', 'ends'],
  'refill/merge': ['shard', 'nodes', 'dirty'],
  'renew-lease': ['shard', 'nodes'],
  'shard-state': ['shard', 'nodes'],
  'check-watched': ['shard', 'nodes'],
  'refill/begin-refill': ['shard'],
  'refill/finish-refill': ['shard'],
  'clear-dirty': ['shard', 'dirty'],
  'renew-claim': [],
  'release-claim': [],
  'nodes/report': [],
  'read-hashes': [],
  'nodes/list': [],
  'published-ids/claim': ['shard', 'ids'],
  'published-ids/settle': ['shard', 'ids'],
  'published-ids/refill': ['shard', 'ids'],
} as const satisfies Record<string, readonly KeyKind[]>;

/** The keys of each subscription that refill/merge takes after its own. */
export const mergedKeys = ['meta', 'owners', 'offsets', 'sessions', 'removed'] as const satisfies readonly KeyKind[];

/** The keys of each subscription that topology takes after its own. */
export const topologyKeys = ['meta', 'owners', 'sessions', 'offsets'] as const satisfies readonly KeyKind[];

/** The keys of each subscription that commit takes after its own. */
export const commitKeys = ['meta', 'owners', 'offsets', 'sessions'] as const satisfies readonly KeyKind[];

/** The keys of each subscription that remember takes after its own. */
export const historyKeys = ['commits', 'ends'] as const satisfies readonly KeyKind[];

export type ScriptName = keyof typeof scriptKeys;

export interface Script {
  readonly sha: string;
  readonly text: string;
}

/** Reads the text of a script file, or of `common`, which goes in front of each. */
export type ScriptSource = (name: ScriptName | 'common') => string;

const scriptsFolder = join(packageRoot, 'src/redis/scripts');

/** Reads a script file. Lua is not compiled with the rest, so it is read from the package. */
export function readScriptSource(name: ScriptName | 'common'): string {
  return readFileSync(join(scriptsFolder, `${name}.lua`), 'utf8');
}

/** Reads all scripts, each with `common` in front and with the SHA-1 by which Redis knows it. */
export function loadScripts(source: ScriptSource = readScriptSource): ReadonlyMap<ScriptName, Script> {
  const common = source('common');
  const names = Object.keys(scriptKeys) as ScriptName[];
  return new Map(
    names.map((name) => {
      const text = `${common}\n${source(name)}`;
      return [name, { text, sha: createHash('sha1').update(text).digest('hex') }];
    }),
  );
}
