import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { KeySpace } from '../../src/redis/keys.ts';
import { readScriptSource, type ScriptName, type ScriptSource } from '../../src/redis/scripts.ts';
import { describeError } from '../../src/errors.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openRedisHarness } from './harness.ts';
import { disturbingScenarios, scenarios, type ScenarioWorld } from './script-scenarios.ts';

interface Mutant {
  readonly title: string;
  readonly script: ScriptName | 'common';
  /** Stands once in the script. */
  readonly replace: string;
  readonly by: string;
}

const mutants: readonly Mutant[] = [
  { title: 'commit: no fence check', script: 'commit', replace: "if fence ~= '' and", by: 'if false and' },
  { title: 'commit: no owner check', script: 'commit', replace: 'if owner ~= stream then', by: 'if not owner then' },
  {
    title: 'commit: a dead session may commit',
    script: 'commit',
    replace: "local is_open = redis.call('HEXISTS', sessions, stream) == 1",
    by: 'local is_open = true',
  },
  {
    title: 'commit: a stream that was closed may not',
    script: 'commit',
    replace: "elseif owner ~= '' or late_commit_fence(meta, place, stream) ~= present then",
    by: 'else',
  },
  {
    title: 'commit: a stream that was closed may under any fence',
    script: 'commit',
    replace: 'late_commit_fence(meta, place, stream) ~= present',
    by: 'not late_commit_fence(meta, place, stream)',
  },
  {
    title: 'commit: a stranger commits nothing with success',
    script: 'commit',
    replace: "if not is_open and #ARGV < 6 then return refuse({'SESSION_NOT_FOUND'}) end",
    by: '',
  },
  {
    title: 'late commits: of anybody',
    script: 'common',
    replace: 'closed_stream == stream and milliseconds()',
    by: 'closed_stream and milliseconds()',
  },
  {
    title: 'late commits: for ever',
    script: 'common',
    replace: ' and milliseconds() < tonumber(commits_until)',
    by: '',
  },
  {
    title: 'late commits: longer than the commit timeout',
    script: 'common',
    replace: 'text(milliseconds() + commit_timeout)',
    by: 'text(milliseconds() + 60000)',
  },
  {
    title: 'late commits: also where they came too late',
    script: 'common',
    replace: 'accepts_late_commits and cjson.decode(session).commitTimeoutMilliseconds or 0',
    by: 'cjson.decode(session).commitTimeoutMilliseconds',
  },
  {
    title: 'late commits: not after a reaping',
    script: 'reap-sessions',
    replace: 'close_session(meta, owners, sessions, all[index], true)',
    by: 'close_session(meta, owners, sessions, all[index], false)',
  },
  {
    title: 'late commits: not after a check',
    script: 'check-watched',
    replace: 'close_session(meta, owners, sessions, all[index], true)',
    by: 'close_session(meta, owners, sessions, all[index], false)',
  },
  {
    title: 'late commits: for sessions that a loss brought back',
    script: 'merge',
    replace: 'close_session(meta, owners, sessions, all[session], false)',
    by: 'close_session(meta, owners, sessions, all[session], true)',
  },
  { title: 'commit: no monotonic check', script: 'commit', replace: 'offset > cursor.offset', by: 'true' },
  {
    title: 'commit: equal counts as newer',
    script: 'commit',
    replace: 'offset > cursor.offset',
    by: 'offset >= cursor.offset',
  },
  { title: 'commit: no running maximum', script: 'commit', replace: '    cursor.offset = offset\n', by: '' },
  {
    title: 'commit: partitions before a foreign one are committed',
    script: 'commit',
    replace: 'if owner ~= stream then return refuse_place(place) end',
    by: "if owner ~= stream then redis.call('HSET', offsets, ARGV[6], ARGV[8] .. '@1') return {'NOT_OWNER', place} end",
  },
  {
    title: 'commit: not marked dirty',
    script: 'commit',
    replace: "    redis.call('HSET', dirty, ARGV[4] .. '/' .. place, written)\n",
    by: '',
  },
  {
    title: 'commit: not stored',
    script: 'commit',
    replace: "    redis.call('HSET', offsets, place, written)\n",
    by: '',
  },
  { title: 'commit: nobody is told', script: 'commit', replace: "if moved then tell('offsets') end", by: '' },
  { title: 'commit: no incarnation check', script: 'commit', replace: 'if wrong then return wrong end', by: '' },
  {
    title: 'commit: refused for good while others may come back',
    script: 'commit',
    replace: "if is_recovering(meta) then return {'RECOVERING'} end",
    by: '',
  },
  {
    title: 'numbers as Lua writes them',
    script: 'common',
    replace: "string.format('%.0f', number)",
    by: 'tostring(number)',
  },
  {
    title: 'apply: no compare-and-set',
    script: 'apply-ownership',
    replace: "~= ARGV[4] then return {'CONFLICT'} end",
    by: "~= ARGV[4] and false then return {'CONFLICT'} end",
  },
  {
    title: 'apply: steals from a live owner',
    script: 'apply-ownership',
    replace: "    if is_open(owner.stream) then return {'CONFLICT'} end\n",
    by: '',
  },
  {
    title: 'apply: no session check of the owner',
    script: 'apply-ownership',
    replace: 'if not written or not is_open(stream) then',
    by: 'if not written then',
  },
  {
    title: 'apply: no session check of the next stream',
    script: 'apply-ownership',
    replace: 'if not is_owner or not is_open(next_stream) then',
    by: 'if not is_owner then',
  },
  {
    title: 'apply: anybody reassigns',
    script: 'apply-ownership',
    replace: 'if not is_owner or not is_open(next_stream) then',
    by: 'if not is_open(next_stream) then',
  },
  {
    title: 'apply: a new owner under the old fence',
    script: 'apply-ownership',
    replace: 'owner.fence + 1',
    by: 'owner.fence',
  },
  {
    title: 'apply: a new fence for who stays',
    script: 'apply-ownership',
    replace: 'is_owner and owner.fence or owner.fence + 1',
    by: 'owner.fence + 1',
  },
  {
    title: 'apply: takes partitions whose owner may come back',
    script: 'apply-ownership',
    replace: "    if recovering then return {'CONFLICT'} end\n",
    by: '',
  },
  {
    title: 'hand-over without a new fence',
    script: 'common',
    replace: "owner = {state = 'A', stream = next_stream, next_stream = '', fence = owner.fence + 1}",
    by: "owner = {state = 'A', stream = next_stream, next_stream = '', fence = owner.fence}",
  },
  {
    title: 'hand-over to a closed stream',
    script: 'common',
    replace: "if next_stream ~= '' and redis.call('HEXISTS', sessions, next_stream) == 1 then",
    by: "if next_stream ~= '' then",
  },
  {
    title: 'release: no owner check',
    script: 'release',
    replace: 'if owner.stream ~= stream then',
    by: 'if false then',
  },
  { title: 'release: no fence check', script: 'release', replace: 'if owner.fence ~= fence then', by: 'if false then' },
  {
    title: 'close: partitions stay with the dead',
    script: 'common',
    replace: 'if owner.stream == stream then',
    by: 'if false then',
  },
  { title: 'reap: no lease check', script: 'reap-sessions', replace: 'lease_until <= now and', by: '' },
  { title: 'reap: nobody dies', script: 'reap-sessions', replace: 'lease_until <= now and', by: 'false and' },
  { title: 'reap: during a recovery', script: 'reap-sessions', replace: 'is_recovering(meta) or', by: '' },
  {
    title: 'reap: right after an outage',
    script: 'reap-sessions',
    replace: "tonumber(redis.call('HGET', shard, 'returnUntil') or '0') > now",
    by: 'false',
  },
  { title: 'check: nobody dies', script: 'check-watched', replace: 'if not is_alive and', by: 'if false and' },
  { title: 'check: the living die', script: 'check-watched', replace: 'if not is_alive and', by: 'if' },
  { title: 'check: no lease check', script: 'check-watched', replace: 'tonumber(leases[index + 1]) > now', by: 'true' },
  { title: 'check: its own die', script: 'check-watched', replace: 'alive[ARGV[index]] = true', by: '' },
  { title: 'check: closes what it must not', script: 'check-watched', replace: "ARGV[4] == '1' and", by: '' },
  { title: 'check: during a recovery', script: 'check-watched', replace: 'not is_recovering(meta) and', by: '' },
  {
    title: 'check: right after an outage',
    script: 'check-watched',
    replace: "tonumber(redis.call('HGET', shard, 'returnUntil') or '0') <= now",
    by: 'true',
  },
  { title: 'check: the same generation', script: 'check-watched', replace: '    new_generation(meta)\n', by: '' },
  {
    title: 'check: nobody is told',
    script: 'check-watched',
    replace: "    redis.call('PUBLISH', ARGV[2] .. ARGV[first_id + number], ARGV[3] .. ' topology')\n",
    by: '',
  },
  {
    title: 'check: no incarnation check',
    script: 'check-watched',
    replace: 'if wrong then return wrong end',
    by: '',
  },
  {
    title: 'lease: outages go unnoticed',
    script: 'renew-lease',
    replace: 'now - heard_at > tonumber(ARGV[6])',
    by: 'false',
  },
  { title: 'lease: not renewed', script: 'renew-lease', replace: 'text(now + tonumber(ARGV[5]))', by: 'text(now + 1)' },
  { title: 'generation: stays', script: 'common', replace: 'tonumber(generation) + 1', by: 'tonumber(generation)' },
  {
    title: 'open: no slots',
    script: 'open-session',
    replace: 'if auto_streams >= slots - requested_count then',
    by: 'if false then',
  },
  {
    title: 'open: requested partitions take no slot',
    script: 'open-session',
    replace: 'slots - requested_count',
    by: 'slots',
  },
  {
    title: 'open: a partition is requested twice',
    script: 'open-session',
    replace: 'if #answer > 1 then',
    by: 'if false then',
  },
  {
    title: 'open: during a reset',
    script: 'open-session',
    replace: "if is_resetting(meta) then return {'RESETTING'} end",
    by: '',
  },
  {
    title: 'initialise: offsets of known partitions are overwritten',
    script: 'initialise',
    replace: "if redis.call('HEXISTS', owners, place) == 0 then",
    by: 'do',
  },
  {
    title: 'reset: begins twice',
    script: 'begin-reset',
    replace: "if is_resetting(KEYS[2]) then return {'OK', '0'} end",
    by: '',
  },
  {
    title: 'reset: fences stay',
    script: 'finish-reset',
    replace: 'read_owner(all[index + 1]).fence + 1',
    by: 'read_owner(all[index + 1]).fence',
  },
  {
    title: 'reset: owners stay',
    script: 'finish-reset',
    replace: "    write_owner(owners, all[index], {state = 'U', stream = '', next_stream = '', fence = fence})\n",
    by: '',
  },
  {
    title: 'reset: streams open meanwhile',
    script: 'finish-reset',
    replace: 'not is_resetting(meta)',
    by: 'false',
  },
  { title: 'reset: no end', script: 'finish-reset', replace: "redis.call('HDEL', meta, 'resetUntil')\n", by: '' },
  {
    title: 'reset: the old epoch goes on',
    script: 'finish-reset',
    replace: 'epoch = math.max(epoch, present + 1)',
    by: 'epoch = present',
  },
  { title: 'remove: no floor', script: 'remove', replace: "redis.call('HSET', shard, 'floor', text(floor))\n", by: '' },
  {
    title: 'remove: sessions stay',
    script: 'remove',
    replace: "redis.call('DEL', meta, owners, offsets, sessions, ",
    by: "redis.call('DEL', meta, owners, offsets, ",
  },
  {
    title: 'claim: anybody gives it back',
    script: 'release-claim',
    replace: "if redis.call('GET', KEYS[1]) == ARGV[1] then",
    by: 'do',
  },
  {
    title: 'mirror: clean although it has changed',
    script: 'settle-mirror',
    replace: 'if present == written then',
    by: 'do',
  },
  { title: 'mirror: dirty for ever', script: 'settle-mirror', replace: "redis.call('HDEL', dirty, member)", by: '' },
  {
    title: 'mirror: a late writer has the last word',
    script: 'settle-mirror',
    replace: 'if is_behind then',
    by: 'if false then',
  },
  {
    title: 'mirror: what Redis has lost stays lost',
    script: 'settle-mirror',
    replace: "if not is_behind then redis.call('HSET', offsets, place, written) end",
    by: '',
  },
  {
    title: 'merge: the older offset wins',
    script: 'merge',
    replace: 'if not is_newer(given_offset',
    by: 'if is_newer(given_offset',
  },
  {
    title: 'merge: an older fence is kept',
    script: 'merge',
    replace: 'if not owner or known > owner.fence then',
    by: 'if not owner then',
  },
  { title: 'merge: fences begin anew', script: 'merge', replace: 'math.max(fresh(), known + 1)', by: '1' },
  {
    title: 'merge: no sessions',
    script: 'merge',
    replace: "redis.call('HSETNX', sessions, ARGV[index], ARGV[index + 1]) == 1",
    by: 'false',
  },
  {
    title: 'merge: closed sessions come back',
    script: 'merge',
    replace: '    close_session(meta, owners, sessions, all[session], false)\n',
    by: '',
  },
  {
    title: 'merge: what was removed comes back',
    script: 'merge',
    replace: 'if given_epoch < removed_below then return present end',
    by: '',
  },
  {
    title: 'merge: no leases',
    script: 'merge',
    replace: "    redis.call('HSET', nodes, ARGV[index], text(lease_until))\n",
    by: '',
  },
  {
    title: 'merge: owners of other processes do not come back',
    script: 'merge',
    replace: "elseif stream ~= '' and owner.stream == '' and",
    by: 'elseif false and',
  },
  {
    title: 'merge: the second to come back takes what the first has',
    script: 'merge',
    replace: "stream ~= '' and owner.stream == '' and recovering",
    by: "stream ~= '' and stream ~= owner.stream and recovering",
  },
  {
    title: 'merge: a late node takes what has no owner',
    script: 'merge',
    replace: "owner.stream == '' and recovering",
    by: "owner.stream == ''",
  },
  {
    title: 'refill: no token',
    script: 'finish-refill',
    replace: "~= ARGV[1] then return {'LOST'} end",
    by: "== '' then return {'LOST'} end",
  },
  {
    title: 'refill: incarnations repeat',
    script: 'finish-refill',
    replace: 'math.max(fresh(), tonumber(ARGV[2]) + 1)',
    by: '7',
  },
  {
    title: 'refill: another incarnation is withdrawn',
    script: 'begin-refill',
    replace: 'if found and found ~= ARGV[1] then',
    by: 'if false then',
  },
];

describe('the scripts, each with one planted fault', function () {
  this.timeout(60_000);
  let server: RedisServer;

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  /** What fails first, and how; undefined when everything is as it must be. */
  const firstFailure = async (scriptSource: ScriptSource): Promise<string | undefined> => {
    const harness = await openRedisHarness(server.url);
    try {
      const world: ScenarioWorld = {
        first: await harness.open({ scriptSource }),
        second: await harness.open({ scriptSource }),
        client: harness.client,
        keys: new KeySpace(harness.keyPrefix),
        log: harness.log,
        scriptSource,
        elapse: (milliseconds: number) => harness.elapse(milliseconds),
      };
      await Promise.all(Object.entries(scenarios).map(([title, scenario]) => named(title, scenario(world))));
      for (const [title, scenario] of Object.entries(disturbingScenarios)) await named(title, scenario(world));
      return undefined;
    } catch (error) {
      return describeError(error);
    } finally {
      await harness.close();
    }
  };

  const named = async (title: string, running: Promise<void>): Promise<void> => {
    try {
      await running;
    } catch (error) {
      throw new Error(`${title}: ${describeError(error)}`, { cause: error });
    }
  };

  it('pass every scenario unchanged', async () => {
    expect(await firstFailure(readScriptSource)).to.equal(undefined);
  });

  for (const { title, script, replace, by } of mutants) {
    it(`fail with ${title}`, async () => {
      const right = readScriptSource(script);
      expect(right.split(replace), 'what is replaced stands once').to.have.length(2);
      const wrong = right.replace(replace, () => by);
      expect(await firstFailure((name) => (name === script ? wrong : readScriptSource(name)))).not.to.equal(undefined);
    });
  }
});
