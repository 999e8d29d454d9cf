import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs, { type AclEntry } from 'kafkajs';
import { fencedBlocks, tableRows } from '../../scripts/docs/markdown.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { packageRoot } from '../../src/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { call, openStream, type HttpResponse } from '../support/http/client.ts';
import { allowing, startSecuredBroker, type SecuredBroker } from '../support/kafka/secured-broker.ts';
import { isRedisWithTls, startSecuredRedis, type SecuredRedis } from '../support/processes/secured-redis.ts';
import { serviceProgram } from '../support/processes/service-program.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { removeFolder, spawnService, temporaryFolder } from '../support/processes/service.ts';
import { Authority, writeCertificates } from '../support/tls/certificates.ts';

// A module of CommonJS whose names Node.js does not see.
const { AclOperationTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const document = readFileSync(join(packageRoot, 'docs/cluster.md'), 'utf8');

/** The text of the block of docs/cluster.md that is marked with a word. */
const documented = (word: string): string =>
  fencedBlocks(document)
    .find(({ words }) => words[0] === word)
    ?.text.trim() ?? '';

const resourceTypes = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
} as const;

const operations: Record<string, AclEntry['operation']> = {
  Create: AclOperationTypes.CREATE,
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Delete: AclOperationTypes.DELETE,
  Alter: AclOperationTypes.ALTER,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
};

interface Right {
  /** As in the table of the document, such as `Topic Create`. */
  readonly name: string;
  readonly rule: AclEntry;
}

/** The rights that the commands of the document give. */
const rights: readonly Right[] = documented('kafka-rights')
  .split('\n')
  .flatMap((line) => {
    const [, type = '', resourceName = ''] = /--(topic|group|transactional-id) '?([^\s']+)'?/.exec(line) ?? [];
    const resourceType = resourceTypes[type as keyof typeof resourceTypes];
    const resourcePatternType = line.includes('prefixed')
      ? ResourcePatternTypes.PREFIXED
      : ResourcePatternTypes.LITERAL;
    const typeName = { topic: 'Topic', group: 'Group', 'transactional-id': 'TransactionalId' }[type];
    return [...line.matchAll(/--operation (\w+)/g)].map(([, operation = '']) => ({
      name: `${typeName} ${operation}`,
      rule: allowing({
        principal: 'User:lendstream',
        resourceType,
        resourceName,
        resourcePatternType,
        operation: operations[operation] ?? AclOperationTypes.UNKNOWN,
      }),
    }));
  });

const password = 'the-password-of-the-service';

/** The user of Redis as the document writes it. */
const redisUser = documented('redis-rights').replace('PASSWORD', password);

/** The user's words after its name, as ACL SETUSER takes them; without some of them. */
const redisUserWords = (...left: string[]): string[] => [
  'reset',
  ...redisUser
    .split(' ')
    .slice(2)
    .filter((word) => !left.includes(word)),
];

describe('a service with the rights of docs/cluster.md, over TLS', function () {
  this.timeout(180_000);
  let folder: string;
  let broker: SecuredBroker;
  let redis: SecuredRedis;
  let environment: Record<string, string>;
  let child: ChildProcess | undefined;
  let url: string;
  /** What the service has written to its log. */
  let log = '';
  let names = 0;

  before(async function () {
    folder = await temporaryFolder();
    if (!isRedisWithTls()) {
      process.stdout.write('    skipped: redis-server was built without TLS\n');
      this.skip();
    }
    const authority = await Authority.create();
    const certified = await authority.sign({ purpose: 'both' });
    const files = writeCertificates(join(folder, 'tls'), certified, authority.certificate);
    [broker, redis] = await Promise.all([
      startSecuredBroker(join(folder, 'kafka'), certified, { lendstream: password, other: password }),
      startSecuredRedis(join(folder, 'redis'), certified, authority.certificate, [redisUser]),
    ]);
    await broker.admin.createAcls({ acl: rights.map(({ rule }) => rule) });
    environment = {
      KAFKA_BROKERS: broker.address,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA: files.ca,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'lendstream',
      KAFKA_SASL_PASSWORD: password,
      REDIS_URL: `rediss://lendstream:${password}@127.0.0.1:${redis.port}`,
      REDIS_TLS_CA: files.ca,
      LENDING_PARTITIONS: '1',
    };
    await start();
  });

  after(async () => {
    await stop();
    await Promise.all([broker?.stop(), redis?.stop()]);
    await removeFolder(folder);
  });

  async function start(changed: Record<string, string> = {}): Promise<void> {
    child = spawnService(join(folder, 'data'), { ...environment, ...changed }, 'pipe');
    child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    url = (await readyAddress(child, { withinMilliseconds: 50_000 })) ?? '';
  }

  async function stop(): Promise<void> {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${url}${path}`, method, body);

  const definition = (name: string) => ({
    name,
    owning_application: 'tests',
    category: 'undefined',
    schema: { type: 'json_schema', schema: '{}' },
    default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 1, write_parallelism: 1 },
  });

  function newName(): string {
    names += 1;
    return `secured.events-${names}`;
  }

  async function define(): Promise<string> {
    const name = newName();
    const { status, text } = await send('POST', '/event-types', definition(name));
    expect(status, text).to.equal(201);
    return name;
  }

  async function subscribe(eventType: string): Promise<string> {
    const request = { owning_application: 'tests', event_types: [eventType], read_from: 'begin' };
    const { status, body, text } = await send('POST', '/subscriptions', request);
    expect(status, text).to.equal(201);
    return String(body['id']);
  }

  async function openLoan(): Promise<HttpResponse> {
    const id = newName().replace('.', '-');
    const product = await send('POST', '/loanproducts', annuityProduct(id));
    if (product.status !== 201) return product;
    return send('POST', '/loans', { id: `loan-${id}`, productTypeKey: id, loanAmount: 1000 });
  }

  /** Everything that the service does with Kafka and Redis. */
  async function useEverything(): Promise<void> {
    const name = await define();
    const subscription = await subscribe(name);
    expect((await send('POST', `/event-types/${name}/events`, [{ number: 1 }])).status).to.equal(200);
    const stream = await openStream(url, subscription, '?batch_flush_timeout=1');
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
    const cursors = stream.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor);
    expect((await stream.commit(cursors)).status).to.equal(204);
    stream.close();
    // Positions are exported every five seconds. The coordinator of the group may still be loading.
    const groups = () => broker.admin.listGroups().catch(() => ({ groups: [] }));
    const isExported = async (): Promise<boolean> =>
      (await groups()).groups.some(({ groupId }) => groupId === subscription);
    await eventually(isExported, 20_000, 500);
    expect((await openLoan()).status).to.equal(201);
    const kept = { ...definition(name), options: { retention_time: 86_400_000 } };
    expect((await send('PUT', `/event-types/${name}`, kept)).status).to.equal(200);
    expect((await send('GET', `/subscriptions/${subscription}/stats`)).status).to.equal(200);
    expect((await send('DELETE', `/subscriptions/${subscription}`)).status).to.equal(204);
    expect((await send('DELETE', `/event-types/${name}`)).status).to.equal(200);
  }

  for (const mechanism of ['scram-sha-512', 'scram-sha-256', 'plain']) {
    it(`works as a user of ${mechanism} with exactly these rights`, async () => {
      if (mechanism !== environment['KAFKA_SASL_MECHANISM']) {
        await stop();
        await start({ KAFKA_SASL_MECHANISM: mechanism });
      }
      await useEverything();
    });
  }

  async function without({ rule }: Right, run: () => Promise<void>): Promise<void> {
    const { principal, host, operation, permissionType, resourceType, resourceName, resourcePatternType } = rule;
    const filter = { principal, host, operation, permissionType, resourceType, resourceName, resourcePatternType };
    const { filterResponses } = await broker.admin.deleteAcls({ filters: [filter] });
    expect(filterResponses[0]?.matchingAcls).to.have.length(1);
    try {
      await run();
    } finally {
      await broker.admin.createAcls({ acl: [rule] });
    }
  }

  const lacks = (what: string): RegExp =>
    new RegExp(
      `Kafka responded with \\d+ \\(\\w+AuthorizationFailed\\)\\. The user of the service lacks a right to ${what}`,
    );

  /** What shows that a right is missing: the response to a request, or a start that ends. */
  const uses: Record<string, (name: string) => Promise<void>> = {
    'Topic Create': async () => {
      const { status, text } = await send('POST', '/event-types', definition(newName()));
      expect(status, text).to.equal(503);
      expect(text, text).to.match(lacks('topics'));
    },
    'Topic Read': async (name) => {
      const { status, text } = await send('GET', `/event-types/${name}/retained-events`);
      expect(status, text).to.equal(503);
      expect(text, text).to.match(lacks('topics'));
    },
    'Topic Write': async (name) => {
      const { text } = await send('POST', `/event-types/${name}/events`, [{ number: 2 }]);
      expect(text, text).to.match(lacks('topics'));
    },
    'Topic Delete': async (name) => {
      const { status, text } = await send('DELETE', `/event-types/${name}`);
      expect(status, text).to.equal(503);
      expect(text, text).to.match(lacks('topics'));
    },
    'Topic Alter': async (name) => {
      const { status, text } = await send('PUT', `/event-types/${name}/partition-count`, { partition_count: 2 });
      expect(status, text).to.equal(503);
      expect(text, text).to.match(lacks('topics'));
    },
    'Topic AlterConfigs': async (name) => {
      const longer = { ...definition(name), options: { retention_time: 90_000_000 } };
      const { status, text } = await send('PUT', `/event-types/${name}`, longer);
      expect(status, text).to.equal(503);
      expect(text, text).to.match(lacks('topics'));
    },
    'Group Read': async (name) => {
      const stream = await openStream(url, await subscribe(name), '?batch_flush_timeout=1');
      await stream.until((batches) => batches.some(({ events }) => events !== undefined));
      const cursors = stream.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor);
      expect((await stream.commit(cursors)).status).to.equal(204);
      stream.close();
      await eventually(() => lacks('groups').test(log));
    },
    'TransactionalId Write': async () => {
      const opening = openLoan();
      await eventually(() => lacks('transactional ids').test(log));
      await opening;
    },
  };

  /** What another process writes to standard error until it ends. */
  async function startedWith(changed: Record<string, string>): Promise<string> {
    names += 1;
    const other = spawn(process.execPath, [serviceProgram], {
      env: { ...process.env, ...environment, PORT: '0', DATA_DIR: join(folder, `other-${names}`), ...changed },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const timer = setTimeout(() => other.kill('SIGKILL'), 40_000);
    let text = '';
    other.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(other, 'close');
    clearTimeout(timer);
    return text;
  }

  for (const right of rights) {
    it(`says what is missing without ${right.name}`, async () => {
      const name = await define();
      expect((await send('POST', `/event-types/${name}/events`, [{ number: 1 }])).status).to.equal(200);
      await without(right, () => uses[right.name]?.(name) ?? Promise.reject(new Error('There is no test of it')));
    });
  }

  it('works again when the rights are back', async () => {
    await eventually(async () => (await openLoan()).status === 201);
    await useEverything();
  });

  it('has a row of the document for each of the rights', () => {
    const rows = tableRows(document).map(
      ([first = '']) => /^`((?:Topic|Group|TransactionalId) \w+)`$/.exec(first)?.[1],
    );
    expect(rows.filter((row) => row !== undefined)).to.deep.equal([...new Set(rights.map(({ name }) => name))]);
  });

  const refusedStarts: [title: string, changed: () => Record<string, string>, line: RegExp][] = [
    [
      'a wrong password of Kafka',
      () => ({ KAFKA_SASL_PASSWORD: 'wrong' }),
      /^lendstream: No Kafka broker responds [^\n]*SASL SCRAM SHA512 authentication failed[^\n]*\n$/,
    ],
    [
      'a wrong password of Kafka with PLAIN',
      () => ({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: 'wrong' }),
      /^lendstream: No Kafka broker responds [^\n]*SASL PLAIN authentication failed[^\n]*\n$/,
    ],
    [
      'a broker of an unknown authority',
      () => ({ KAFKA_TLS_CA: '' }),
      /^lendstream: No Kafka broker responds [^\n]*certificate[^\n]*\n$/,
    ],
    [
      'a wrong password of Redis',
      () => ({ REDIS_URL: `rediss://lendstream:wrong@127.0.0.1:${redis.port}` }),
      /lendstream: Redis at rediss:\/\/127\.0\.0\.1:\d+ refuses the user of the service \(WRONGPASS [^\n]*\)\. docs\/cluster\.md lists the rights that it needs\.\n$/,
    ],
    [
      'a Redis of an unknown authority',
      () => ({ REDIS_TLS_CA: '' }),
      /lendstream: Redis at rediss:\/\/127\.0\.0\.1:\d+ has a certificate that is not trusted \([^\n]*\)[^\n]*\n$/,
    ],
  ];
  for (const [title, changed, line] of refusedStarts) {
    it(`ends a start at once with ${title}`, async () => {
      const beganAt = performance.now();
      const text = await startedWith({ LOG_LEVEL: 'fatal', ...changed() });
      expect(text, text).to.match(line);
      expect(text).not.to.contain(password);
      // It would try for ten seconds, or for thirty, if another attempt could succeed.
      expect(performance.now() - beganAt).to.be.lessThan(9_500);
    });
  }

  for (const word of ['~{lendstream:*', '&lendstream:*', '+evalsha', '+hset', '+publish', '+time']) {
    it(`says what is missing without ${word} in Redis`, async () => {
      const name = await define();
      const subscription = await subscribe(name);
      await send('POST', `/event-types/${name}/events`, [{ number: 1 }]);
      await redis.admin.call('ACL', 'SETUSER', 'lendstream', ...redisUserWords(word));
      try {
        const refused = await openStream(url, subscription, '?batch_flush_timeout=1').then(
          async (stream) => {
            await stream.until((batches) => batches.some(({ events }) => events !== undefined));
            const cursors = stream.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor);
            const { text } = await stream.commit(cursors);
            stream.close();
            return text;
          },
          (error: unknown) => String(error),
        );
        expect(refused, refused).to.match(/Redis at rediss:\/\/127\.0\.0\.1:\d+ refuses the user of the service/);
        expect(refused).to.contain('docs/cluster.md lists the rights that it needs.');
      } finally {
        await redis.admin.call('ACL', 'SETUSER', 'lendstream', ...redisUserWords());
      }
    });
  }

  it('needs every command that the document gives to the user of Redis, and no other', () => {
    const scripts = join(packageRoot, 'src/redis/scripts');
    const inScripts = readdirSync(scripts, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.lua'))
      .flatMap((file) => [...readFileSync(join(scripts, file), 'utf8').matchAll(/redis\.p?call\('([A-Z]+)'/g)])
      .map(([, command = '']) => command.toLowerCase());
    const ofConnection = ['info', 'ping', 'eval', 'evalsha', 'subscribe', 'unsubscribe', 'set', 'hget', 'hgetall'];
    const given = [...redisUser.matchAll(/ \+(\S+)/g)].map(([, command = '']) => command);
    expect(given.toSorted()).to.deep.equal([...new Set([...inScripts, ...ofConnection])].toSorted());
  });

  it('works again when the user of Redis has its rights back', useEverything);
});
