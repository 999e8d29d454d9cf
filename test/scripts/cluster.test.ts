import { expect } from 'chai';
import { Redis } from 'ioredis';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'mocha';
import type { ClusterNote } from '../../scripts/local-cluster/cluster-note.ts';
import { redisServer } from '../../scripts/local-cluster/prerequisites.ts';
import { conditionOf, identify } from '../../scripts/local-cluster/process-identity.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const compiled = (path: string): string => fileURLToPath(new URL(`../../scripts/${path}`, import.meta.url));

/** All of it with only Redis, which starts quickly; brokers are handled by the same code. */
describe('scripts/cluster', () => {
  let cache: string;

  before(async function () {
    if (!redisServer.isThere()) {
      process.stdout.write('    skipped: there is no redis-server\n');
      this.skip();
    }
    cache = await temporaryFolder();
  });

  afterEach(() => {
    for (const { name } of notes()) cluster('down', '--name', name);
  });

  after(async () => {
    if (cache !== undefined) await removeFolder(cache);
  });

  function cluster(...words: string[]) {
    return spawnSync(process.execPath, [compiled('local-cluster/cluster.js'), ...words], {
      encoding: 'utf8',
      env: { ...process.env, LENDSTREAM_CACHE_DIR: cache },
    });
  }

  function notes(): ClusterNote[] {
    const folder = join(cache, 'clusters');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as ClusterNote);
  }

  function note(name = 'default'): ClusterNote {
    const found = notes().find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no note of ${name}`);
    return found;
  }

  /** Starts a program with its own cluster, and returns once the cluster is up. */
  async function startOwner(last: string) {
    const program = `
      import { startCluster } from ${JSON.stringify(compiled('local-cluster/local-cluster.js'))};
      await startCluster({ name: 'owned', brokers: 0 });
      console.log('up');
      ${last}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, LENDSTREAM_CACHE_DIR: cache },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    return { child, exited };
  }

  async function ask<Answer>(url: string, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
    const redis = new Redis(url);
    try {
      return await question(redis);
    } finally {
      await redis.quit();
    }
  }

  it('prints only the settings to standard output on up and status, and down leaves nothing behind', () => {
    const up = cluster('up', '--brokers', '0', '--replica');
    expect(up.stdout).to.match(
      /^REDIS_URL=redis:\/\/127\.0\.0\.1:\d+\nREDIS_REPLICA_URL=redis:\/\/127\.0\.0\.1:\d+\n$/,
    );
    const { folder, redis, replica } = note();
    const status = cluster('status');
    expect(status.stdout).to.equal(up.stdout);
    expect(status.stderr).to.match(/redis: running, process \d+, port \d+.*\n.*replica: running/);
    expect(status.status).to.equal(0);

    expect(cluster('down').stderr).to.contain('Cluster default is down');
    expect([redis, replica].map((server) => conditionOf(server?.process))).to.deep.equal(['gone', 'gone']);
    expect(existsSync(folder)).to.equal(false);
    expect(notes()).to.deep.equal([]);
    expect(cluster('status').status).to.equal(1);
    expect(cluster('down').status).to.equal(0);
  });

  it('starts a killed server again, on the same port and with its data', async () => {
    const { stdout } = cluster('up', '--brokers', '0');
    const url = stdout.trim().replace('REDIS_URL=', '');
    await ask(url, (redis) => redis.set('colour', 'green'));
    const pid = note().redis.process?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    while (identify(pid) !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(cluster('status').status).to.equal(1);

    const again = cluster('up');
    expect(again.stderr).to.contain('Starting what does not run: redis');
    expect(again.stdout).to.equal(stdout);
    expect(await ask(url, (redis) => redis.get('colour'))).to.equal('green');
  });

  it('keeps clusters with different names apart', () => {
    const one = cluster('up', '--brokers', '0', '--name', 'one');
    const two = cluster('up', '--brokers', '0', '--name', 'two');
    expect(one.stdout).not.to.equal(two.stdout);
    cluster('down', '--name', 'one');
    expect(cluster('status', '--name', 'two').status).to.equal(0);
  });

  it('never stops a process that merely has the pid of one that it started', async () => {
    cluster('up', '--brokers', '0');
    const written = note();
    const redis = written.redis.process;
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const exited = once(bystander, 'exit');
    const identity = identify(bystander.pid ?? 0);
    const recycled = { ...written.redis, process: { pid: bystander.pid, startedAt: redis?.startedAt } };
    writeFileSync(join(cache, 'clusters/default.json'), JSON.stringify({ ...written, redis: recycled }));

    expect(cluster('down').status).to.equal(0);
    expect(conditionOf(identity)).to.equal('running');
    bystander.kill('SIGKILL');
    await exited;
    process.kill(redis?.pid ?? 0, 'SIGKILL');
  });

  it('takes down what a killed program left behind, and nothing that others still use', async () => {
    cluster('up', '--brokers', '0', '--name', 'other');
    const { child, exited } = await startOwner('setInterval(() => {}, 1000);');
    const left = note('owned');
    child.kill('SIGKILL');
    await exited;
    expect(conditionOf(left.redis.process)).to.equal('running');

    const { stderr } = cluster('down', '--name', 'none');
    expect(stderr).to.contain('Taking down cluster owned, which a program that crashed has left behind');
    expect(conditionOf(left.redis.process)).to.equal('gone');
    expect(existsSync(left.folder)).to.equal(false);
    expect(notes().map(({ name }) => name)).to.deep.equal(['other']);
  });

  const endings = [
    { ending: 'is interrupted', last: 'setInterval(() => {}, 1000);', signal: 'SIGINT', code: 130 },
    { ending: 'gets SIGTERM', last: 'setInterval(() => {}, 1000);', signal: 'SIGTERM', code: 143 },
    { ending: 'exits silently', last: 'process.exit(7);', signal: undefined, code: 7 },
    { ending: 'has finished', last: '', signal: undefined, code: 0 },
  ] as const;
  for (const { ending, last, signal, code } of endings) {
    it(`ends with the program that it belongs to when that ${ending}`, async () => {
      const { child, exited } = await startOwner(last);
      if (signal !== undefined) {
        const { redis, folder } = note('owned');
        child.kill(signal);
        await exited;
        expect(conditionOf(redis.process)).to.equal('gone');
        expect(existsSync(folder)).to.equal(false);
      }
      expect(await exited).to.deep.equal([code, null]);
      expect(notes()).to.deep.equal([]);
    });
  }

  it('rejects unknown arguments in one line', () => {
    const wrong: [words: string[], message: string][] = [
      [['sideways'], '"sideways" is not understood'],
      [['toString'], '"toString" is not understood'],
      [[], 'up or status or down is missing'],
      [['up', '--brokers', '2'], '--brokers needs 0 or 1 or 3, not "2"'],
      [['up', '--kafka', '0.8'], '--kafka needs 4.3.1 or 3.9.1, not "0.8"'],
      [['up', 'x'], '"x" is not understood'],
    ];
    for (const [words, message] of wrong) {
      const { status, stdout, stderr } = cluster(...words);
      expect({ status, stdout, stderr }).to.deep.equal({ status: 2, stdout: '', stderr: `lendstream: ${message}\n` });
    }
    expect(cluster('status', '--name', '../x').status).to.equal(1);
    expect(notes()).to.deep.equal([]);
  });

  it('does not turn an existing cluster into another one', () => {
    cluster('up', '--brokers', '0');
    const { status, stderr } = cluster('up', '--replica');
    expect(status).to.equal(1);
    expect(stderr).to.contain('take it down first');
  });
});
