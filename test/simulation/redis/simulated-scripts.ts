import {
  loadScripts,
  readScriptSource,
  type ScriptName,
  type ScriptSource,
} from '../../../src/redis/script-loading.ts';

/** The scripts of the product in simulated time, and one that reads what they have stored. */

/** The key that has the simulated time, in microseconds since the epoch. */
export const timeKey = 'simulated-time';

/**
 * In front of every script: commands that look at the clock of the server. Nothing expires by it: the scripts compare
 * the time themselves wherever a decision depends on it.
 */
const simulatedTime = `
local redis = setmetatable({
  call = function(command, ...)
    if command == 'TIME' then
      local time = redis.call('GET', '${timeKey}')
      return {string.sub(time, 1, -7), string.sub(time, -6)}
    elseif command == 'PEXPIRE' then
      return 1
    end
    return redis.call(command, ...)
  end,
}, {__index = redis})
`;

export const simulatedSource: ScriptSource = (name) =>
  name === 'common' ? simulatedTime + readScriptSource(name) : readScriptSource(name);

const scripts = loadScripts(simulatedSource);
const names = new Map<string, ScriptName>(Array.from(scripts, ([name, { sha }]) => [sha, name]));

/** The name of a script by its SHA-1. */
export function scriptNameOf(sha: string): ScriptName {
  const name = names.get(sha);
  if (name === undefined) throw new Error('No script has this text.');
  return name;
}

/**
 * Reads subscriptions as they are, without a decision.
 * KEYS  per subscription: shard, meta, owners, sessions, offsets, nodes
 */
export const snapshotScript = `
local reply = {}
for index = 1, #KEYS, 6 do
  local shard, meta = KEYS[index], KEYS[index + 1]
  reply[#reply + 1] = {
    redis.call('HMGET', shard, 'incarnation', 'recoverUntil', 'returnUntil'),
    redis.call('HMGET', meta, 'generation', 'resetUntil', 'refilled'),
    redis.call('HGETALL', KEYS[index + 3]),
    redis.call('HGETALL', KEYS[index + 2]),
    redis.call('HGETALL', KEYS[index + 4]),
    redis.call('HGETALL', KEYS[index + 5]),
  }
end
return reply`;
